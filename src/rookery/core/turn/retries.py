"""An agent's word that it tries its model again: a state that is shown while it lasts, not silence.

A vendor tells it by a notification of its own; it is over once the agent goes on.
"""

from rookery.core.json import Event, Json, kind_of, lenient

KIND = "_retry"

METHODS = frozenset({"_session/retrying", "session/retrying"})
"""Of vibe: {sessionId, category, detail}."""

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
"""What ends it. News of a call that was begun before do not."""

LONGEST = 300


def told(method: str, params: object, session: str) -> Json | None:
    """The update for a vendor's notification; None: it is no such word, or another session's."""
    if method not in METHODS or not isinstance(params, dict):
        return None
    if session and params.get("sessionId") not in (session, None):
        return None
    found: Json = {"sessionUpdate": KIND}
    for key in ("category", "detail", "message"):
        if said := lenient.first_line(lenient.text(params, key), LONGEST):
            found[key] = said
    for key in ("attempt", "maxAttempts"):
        if (number := lenient.integer(params, key)) is not None:
            found[key] = number
    return found


def is_own(update: Json) -> bool:
    """Whether our own agent says so, in words for clients that know no better: it is this state,
    and no thought or notice."""
    about = lenient.mapping(lenient.mapping(update, "_meta"), "rookery")
    return bool(lenient.mapping(about, "retry"))


def after(header: Json, event: Event) -> Json:
    """The header's `retrying`: in words, "" while nothing is tried again; and its `retry`: as
    numbers."""
    kind = kind_of(event.update)
    if kind == KIND or is_own(event.update):
        found = {"retrying": words(event.update), "retry": _counted(event)}
        return found if header["state"] != "idle" else {}
    return {"retrying": "", "retry": {}} if header["retrying"] and kind in GOES_ON else {}


def _counted(event: Event) -> Json:
    """`attempt`, `of`, `until` (milliseconds of the epoch) and `kind`, as far as they are known."""
    meta = lenient.mapping(lenient.mapping(event.update, "_meta"), "rookery")
    own = lenient.mapping(meta, "retry")
    found: Json = {}
    for key, theirs in (("attempt", "attempt"), ("of", "maxAttempts")):
        number = lenient.integer(own, key) if own else lenient.integer(event.update, theirs)
        found |= {key: number} if number is not None else {}
    if (wait := lenient.number(own, "in")) is not None:
        found["until"] = event.at + round(max(0.0, wait) * 1000)
    category = lenient.text(event.update, "category")
    kind = lenient.text(own, "kind") or ("network" if category == "connection" else category)
    return found | ({"kind": kind[:40]} if kind else {})


def is_unreachable(header: Json) -> bool:
    """Whether the agent tries again because its model cannot be reached."""
    retry = lenient.mapping(header, "retry")  # the header of an earlier build has none
    return bool(header["retrying"]) and lenient.text(retry, "kind") == "network"


def words(update: Json) -> str:
    if is_own(update):
        told = lenient.text(lenient.mapping(update, "content"), "text")
        told = told or f"{lenient.text(update, 'title')} {lenient.text(update, 'description')}"
        return lenient.first_line(" ".join(told.split()), LONGEST) or "it did not say why"
    category, detail = lenient.text(update, "category"), lenient.text(update, "detail")
    why = CATEGORIES.get(category, category.replace("_", " "))
    said = [why, detail or lenient.text(update, "message")]
    attempt, most = lenient.integer(update, "attempt"), lenient.integer(update, "maxAttempts")
    if attempt is not None:
        said.append(f"attempt {attempt}" + (f" of {most}" if most else ""))
    return " · ".join(filter(None, said)) or "no reason given"
