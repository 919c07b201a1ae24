"""What an agent sends becomes updates: as it came where it is ACP, wrapped as `_raw` where it is
not.

Nothing is dropped, and nothing that an agent sends can pass for one of our own kinds (row A9).
"""

from rookery.core import loose
from rookery.core.events import Json, kind_of

HISTORY = frozenset(
    [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
    ]
)
"""Kinds that a `session/load` replays: the log has them already (row A4)."""


def from_notification(method: str, params: object, session: str | None) -> list[Json]:
    """The updates in one notification. `session` is the agent's own id of our session, once
    known."""
    if method != "session/update":
        return [raw("notification", {"method": method, "params": params}, method)]
    if not isinstance(params, dict) or not isinstance(params.get("update"), dict):
        return [raw("notification", params, "a session/update without an update")]
    update = params["update"]
    if session is not None and params.get("sessionId") not in (session, None):
        return [raw("update", params, "an update for another session")]
    kind = kind_of(update)
    if not kind or kind.startswith("_"):
        return [raw("update", update, f"an update that calls itself {kind!r}"[:200])]
    extra = {key: value for key, value in params.items() if key not in ("sessionId", "update")}
    return [update, raw("notification", extra, "beside an update")] if extra else [update]


def raw(source: str, value: object, why: str) -> Json:
    return {"sessionUpdate": "_raw", "source": source, "value": value, "why": why}


def is_aside(update: Json) -> bool:
    """A notification of a vendor's own: kept, but nothing that a person reads."""
    return update.get("source") == "notification" and loose.text(update, "why").startswith("_")


def is_replay(update: Json) -> bool:
    return kind_of(update) in HISTORY


def taken_back(update: Json) -> bool:
    """Whether an agent takes back the message that it was writing: our own does where a model's
    answer breaks off and is asked for again."""
    about = loose.mapping(loose.mapping(update, "_meta"), "rookery")
    return about.get("takenBack") is True
