"""Converting what an agent sends into updates: unchanged if it is ACP, else wrapped as `_raw`.

Nothing is dropped, and nothing that an agent sends can pass for one of our own kinds."""

from collections.abc import Container

from rookery.core.agent.chunks import CHILD, CHUNK_KINDS
from rookery.core.json import Json, kind_of, lenient
from rookery.core.turn.watchdogs import PROGRESS

BESIDE = "beside an update"

OF_ACP = ("session/", "elicitation/", "mcp/", "$/")
"""Prefixes of the protocol's own methods: a method with one that is not known yet is shown."""


def from_notification(
    method: str, params: object, session: str | None, children: Container[str] = ()
) -> list[Json]:
    """Return the updates in one notification. `session`: the agent's id of our session, once known;
    `children`: the ids of the sub-agents that it has announced."""
    if method != "session/update":
        return [raw("notification", {"method": method, "params": params}, method)]
    if not isinstance(params, dict) or not isinstance(params.get("update"), dict):
        return [raw("notification", params, "a session/update without an update")]
    update = params["update"]
    if session is not None and params.get("sessionId") not in (session, None):
        if isinstance(name := params["sessionId"], str) and name in children:
            return [{"sessionUpdate": CHILD, "session": name, "update": update}]
        return [raw("update", params, "an update for another session")]
    kind = kind_of(update)
    if kind in CHUNK_KINDS and (call := parent_call(update)):
        return [{"sessionUpdate": CHILD, "call": call, "update": update}]
    if not kind or kind.startswith("_"):
        return [raw("update", update, f"an update that calls itself {kind!r}"[:200])]
    # `_meta` belongs to the notification in ACP, and says nothing that is news by itself.
    known = ("sessionId", "update", "_meta")
    extra = {key: value for key, value in params.items() if key not in known}
    return [update, raw("notification", extra, BESIDE)] if extra else [update]


def parent_call(update: Json) -> str:
    """Return the call that started the sub-agent that sent this update, under whatever name the
    vendor uses; "" if the update is the agent's own, or of a session of its own."""
    meta = lenient.mapping(update, "_meta")
    named = (lenient.text(each, "parentToolUseId") for each in meta.values())
    return next((each for each in named if each), "")


def announced(update: Json) -> str:
    """Return the session of the sub-agent that an update announces; "" if it announces none."""
    inner = inner_of(update)
    return lenient.text(inner, "sessionId") if kind_of(inner) == "subagent_update" else ""


def inner_of(update: Json) -> Json:
    """Return an update as its sender sent it, without the `_child` wrapper."""
    return lenient.mapping(update, "update") if kind_of(update) == CHILD else update


def raw(source: str, value: object, why: str) -> Json:
    return {"sessionUpdate": "_raw", "source": source, "value": value, "why": why}


def is_aside(update: Json) -> bool:
    """Whether an update is kept but not shown: a vendor's own, or extra fields beside one."""
    if kind_of(update) != "_raw" or update.get("source") != "notification":
        return False
    why = lenient.text(update, "why")
    if why == BESIDE or why.startswith("_"):
        return True
    method = lenient.text(update.get("value"), "method")
    return bool(why) and why == method and not why.startswith(OF_ACP)


def is_replay(update: Json) -> bool:
    """Whether an update is of a kind that a replay consists of: the log has those already."""
    return kind_of(update) in PROGRESS


def taken_back(update: Json) -> bool:
    """Whether an agent retracts the message that it was writing: our own does so when a model's
    answer breaks off and is requested again."""
    about = lenient.mapping(lenient.mapping(update, "_meta"), "rookery")
    return about.get("takenBack") is True
