"""A session's current activity, in a few words for a list: the call that runs, whether it thinks or
writes; otherwise what it wants of the user, or why it ended. Code is between backticks."""

from typing import NamedTuple

from rookery.core import budgets
from rookery.core.ask import Ask, asks_of
from rookery.core.blocks import asks, captions
from rookery.core.header import Header
from rookery.core.json import Json, kind_of, lenient
from rookery.core.json.secrets import masked
from rookery.core.tools.calls import key_of
from rookery.core.vendors.errors import exit_title
from rookery.core.view.states import ENDINGS

MAX_LENGTH = 200
MAX_CALLS = 20
"""How many calls that run at once are remembered."""
WORDS = {"agent_message_chunk": "writing", "agent_thought_chunk": "thinking"}
ENDED = frozenset({"completed", "failed", "cancelled"})
CODE = frozenset({"run", "edit", "read", "delete", "move", "fetch"})
"""Verbs whose object is code: a command, a path, an address."""
KINDS = {"network": "model unreachable", "auth": "not logged in", "context": "context is full"}
"""Why a turn failed, by the kind of its error."""


class Doing(NamedTuple):
    message: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Of each call that runs, its id and its words; the newest last."""

    @property
    def text(self) -> str:
        return self.calls[-1][1] if self.calls else self.message


def after(doing: Doing, update: Json, cwd: str) -> Doing:
    """Return the activity after an event."""
    match kind_of(update):
        case "agent_message_chunk" | "agent_thought_chunk" as kind:
            return doing if doing.message == WORDS[kind] else doing._replace(message=WORDS[kind])
        case "tool_call" | "tool_call_update":
            return doing._replace(calls=_calls(doing.calls, update, cwd))
        case "_child":
            return after(doing, _inner(update), cwd)
        case "subagent_update":
            works = lenient.text(lenient.mapping(update, "state"), "state") == "running"
            call = {"toolCallId": f"s:{lenient.text(update, 'sessionId')}"}
            call |= {"title": lenient.text(update, "title")}
            over = {} if works or "state" not in update else {"status": "completed"}
            return doing._replace(calls=_calls(doing.calls, call | over, cwd))
        case "_turn" | "_prompt" if update.get("state") in ("idle", None):
            return Doing()
    return doing


def _inner(update: Json) -> Json:
    """Return a sub-agent's call as one of the session's: its activity is the session's."""
    inner = lenient.mapping(update, "update")
    if kind_of(inner) not in ("tool_call", "tool_call_update"):
        return {}
    return {**inner, "toolCallId": f"{lenient.text(update, 'session')} {key_of(inner)}"}


def _calls(
    known: tuple[tuple[str, str], ...], update: Json, cwd: str
) -> tuple[tuple[str, str], ...]:
    key = key_of(update)
    others = tuple(each for each in known if each[0] != key)
    if lenient.text(update, "status") in ENDED:
        return others
    label = _label(update, cwd) or dict(known).get(key, "")
    if not label:
        return known
    if len(others) != len(known):  # it keeps its place
        return tuple((key, label) if each[0] == key else each for each in known)
    return (*others[1 - MAX_CALLS :], (key, label))


def _label(call: Json, cwd: str) -> str:
    """Return a label such as "run `pytest -q`"; "" if the call says nothing new."""
    if not any(call.get(name) for name in ("title", "kind", "rawInput")):
        return ""
    content = lenient.mappings(call, "content")
    block: Json = {
        "role": "tool",
        "title": lenient.text(call, "title")[:MAX_LENGTH],
        "kind": lenient.text(call, "kind"),
        "input": {"value": call.get("rawInput")},
        "parts": [part for part in content if lenient.text(part, "type") == "diff"][:3],
        "locations": [lenient.text(place, "path") for place in lenient.mappings(call, "locations")],
    }
    verb, thing = captions.call_words(block, cwd)
    return short(verb, thing)


def short(verb: str, thing: str) -> str:
    thing = masked(lenient.first_line(thing, 2 * MAX_LENGTH)).replace("`", "")[:MAX_LENGTH]
    return f"{verb} `{thing}`" if verb in CODE and thing else f"{verb} {thing}".strip()


def standing(header: Header) -> str:
    """Describe what the header alone tells: what the session wants, or why it ended."""
    for ask in asks_of(header).values():
        if ask.is_waiting:
            return wants(ask, header.cwd)
    if stopping := header.stopping:
        return f"stopping: {lenient.first_line(stopping, MAX_LENGTH)}"
    if header.state == "idle" and header.reason in ENDINGS:
        return _message(header) or why_ended(header)
    if header.process["state"] == "parked":
        return lenient.first_line(lenient.text(header.process, "remedy"), MAX_LENGTH)
    return ""


def _message(header: Header) -> str:
    return lenient.first_line(masked(lenient.text(header.error, "message")), MAX_LENGTH)


def why_ended(header: Header) -> str:
    """Return why the last turn did not end well, in a few words; "" if it did. The notice in the
    transcript says more."""
    reason = header.reason
    ending = ENDINGS.get(reason, "")
    if reason == "failed":
        kind = lenient.text(lenient.mapping(header.error, "data"), "errorKind")
        return KINDS.get(kind) or _message(header) or ending
    stderr = lenient.texts(header.process, "stderr")
    message = lenient.first_line(masked("\n".join(reversed(stderr))), MAX_LENGTH)
    if reason == "agent_exited" and not message and "status" in header.process:
        return exit_title("the agent", header.process["status"])
    return f"{ending}: {message}" if reason == "agent_exited" and message else ending


def wants(ask: Ask, cwd: str) -> str:
    """Describe an ask: "wants to run `pytest`", "asks: Which one?" or "budget reached: …", for
    example."""
    if ask.is_about_budget:
        return f"budget reached: {budgets.sentence(ask)}"
    text = asks.brief(ask)
    if asks.plan_in(ask):
        return f"wants to {short('', text)}"
    if wish := asks.wish(ask, cwd, short):
        return f"wants to {wish}"
    verb = captions.VERBS.get(lenient.text(ask.call, "kind"), "")
    if ask.is_question or not verb:
        return f"asks: {short('', text)}"
    return f"wants to {short(verb, captions.short_path(text, cwd))}"
