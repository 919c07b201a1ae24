"""An agent's report that it is retrying a model request: shown as a state while it lasts, instead
of silence.

A vendor reports it by a notification of its own; it is over once the agent goes on."""

from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of, lenient

KIND = "_retry"

METHODS = frozenset({"_session/retrying", "session/retrying"})
"""The notifications of vibe: {sessionId, category, detail}."""

CATEGORIES = {
    "rate_limited": "its model is rate limited",
    "connection": "its model is unreachable",
    "timeout": "its model did not answer in time",
    "overloaded": "its model is overloaded",
    "server_error": "its model returned an error",
}

GOES_ON = frozenset(
    {
        *("agent_message_chunk", "agent_thought_chunk", "tool_call", "plan", "plan_update"),
        *("_turn", "_agent", "_ask", "_prompt", "_context"),
    }
)
"""The updates that end a retry. Updates of a call that was begun before do not."""

MAX_LENGTH = 300


def parse_notification(method: str, params: object, session: str) -> Json | None:
    """Return the update for a vendor's notification; None if it is another kind, or another
    session's."""
    if method not in METHODS or not isinstance(params, dict):
        return None
    if session and params.get("sessionId") not in (session, None):
        return None
    update: Json = {"sessionUpdate": KIND}
    for key in ("category", "detail", "message"):
        if text := lenient.first_line(lenient.text(params, key), MAX_LENGTH):
            update[key] = text
    for key in ("attempt", "maxAttempts"):
        if (number := lenient.integer(params, key)) is not None:
            update[key] = number
    return update


def is_own(update: Json) -> bool:
    """Return whether our own agent reports a retry in text, meant for clients that do not know the
    state; we show the state instead of a thought or notice."""
    about = lenient.mapping(lenient.mapping(update, "_meta"), "rookery")
    return bool(lenient.mapping(about, "retry"))


def after(header: Header, event: Event) -> Json:
    """Return the header's `retrying`, as text ("" while nothing is retried), and its `retry`, as
    fields."""
    kind = kind_of(event.update)
    if kind == KIND or is_own(event.update):
        changes = {"retrying": describe(event.update), "retry": _counted(event)}
        return changes if header.state != "idle" else {}
    return {"retrying": "", "retry": {}} if header.retrying and kind in GOES_ON else {}


def _counted(event: Event) -> Json:
    """Return `attempt`, `of`, `until` (milliseconds since the epoch) and `kind`, as far as
    known."""
    meta = lenient.mapping(lenient.mapping(event.update, "_meta"), "rookery")
    own = lenient.mapping(meta, "retry")
    fields: Json = {}
    for key, theirs in (("attempt", "attempt"), ("of", "maxAttempts")):
        number = lenient.integer(own, key) if own else lenient.integer(event.update, theirs)
        fields |= {key: number} if number is not None else {}
    if (wait := lenient.number(own, "in")) is not None:
        fields["until"] = event.at + round(max(0.0, wait) * 1000)
    category = lenient.text(event.update, "category")
    kind = lenient.text(own, "kind") or ("network" if category == "connection" else category)
    return fields | ({"kind": kind[:40]} if kind else {})


def is_unreachable(header: Header) -> bool:
    """Return whether the agent retries because its model cannot be reached."""
    retry = header.retry  # the header of an earlier build has none
    return bool(header.retrying) and lenient.text(retry, "kind") == "network"


def describe(update: Json) -> str:
    if is_own(update):
        text = lenient.text(lenient.mapping(update, "content"), "text")
        text = text or f"{lenient.text(update, 'title')} {lenient.text(update, 'description')}"
        return lenient.first_line(" ".join(text.split()), MAX_LENGTH) or "it did not say why"
    category, detail = lenient.text(update, "category"), lenient.text(update, "detail")
    why = CATEGORIES.get(category, category.replace("_", " "))
    parts = [why, detail or lenient.text(update, "message")]
    attempt, most = lenient.integer(update, "attempt"), lenient.integer(update, "maxAttempts")
    if attempt is not None:
        parts.append(f"attempt {attempt}" + (f" of {most}" if most else ""))
    return " · ".join(filter(None, parts)) or "no reason given"
