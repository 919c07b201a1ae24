"""How a turn's end answers the prompt that began it: with a stop reason, or with an error that says
what helps."""

from collections.abc import Callable

from rookery.core.json import lenient
from rookery.core.json.events import Json
from rookery.core.stop_reasons import STOP_REASONS
from rookery.core.turn.remedies import remedy_for
from rookery.wire.jsonrpc import INTERNAL_ERROR, Incoming

LEAST, GREATEST = -32700, -32001
"""Codes of an agent that mean the same from us. -32000 would call for a login, and we have none."""

DETAILS_ONLY = frozenset(["toad"])
"""Clients, by `clientInfo`, that show an error's `data.details` and never its message."""

WORDS = {
    "agent_exited": "The agent ended in the middle of the turn",
    "interrupted": "The turn was interrupted",
    "unresponsive": "The agent did not react and was ended",
    "orphaned": "The agent stopped responding and was ended",
    "forced": "The turn was ended by force",
}


type ErrorData = Callable[[str, object], object]
"""The data that goes with an error, by its message."""


def answer(
    request: Incoming, update: Json, agent: str, error_data: ErrorData, *, cancelled: bool
) -> None:
    """`update` is the turn's end; `cancelled`: this editor wanted it cancelled."""
    reason = lenient.text(update, "reason")
    if reason in STOP_REASONS:
        request.reply({"stopReason": reason})
    elif reason == "waiting" and not cancelled:  # its dialog stays open: the answer goes on with it
        request.reply({"stopReason": "end_turn", "_meta": {"rookery": {"reason": reason}}})
    elif cancelled:  # however it ended: to its client it is a cancelled turn
        request.reply({"stopReason": "cancelled"})
    else:
        code, message, data = _error(reason, update, agent)
        request.fail(code, message, error_data(message, data))


def _error(reason: str, update: Json, agent: str) -> tuple[int, str, Json]:
    error = lenient.mapping(update, "error")
    said = lenient.text(error, "message") or WORDS.get(reason, "The turn failed")
    detail = lenient.text(update, "detail")
    if detail and not lenient.text(error, "message"):
        said = f"{said}: {detail}"
    data = error.get("data")
    told: Json = dict(data) if isinstance(data, dict) else {}
    if data is not None and not isinstance(data, dict):
        told["details"] = data
    if reason == "rate_limited":
        told["errorKind"] = "rate_limit"
    code = lenient.integer(error, "code") or INTERNAL_ERROR
    if not LEAST <= code <= GREATEST:
        code = INTERNAL_ERROR
    remedy = remedy_for(reason, error, agent)
    return code, f"{sentence(said)} {remedy}".strip(), told | {"reason": reason}


def sentence(said: str) -> str:
    return said if said.rstrip().endswith((".", "!", "?", "…")) else f"{said}."


def error_data(info: Json, message: str, data: object) -> object:
    """The data of an error: with the message for clients that show nothing else."""
    if lenient.text(info, "name").lower() not in DETAILS_ONLY:
        return data
    given: Json = data if isinstance(data, dict) else {}
    return {**given, "details": message.replace("[", r"\[")}  # it reads markup in it
