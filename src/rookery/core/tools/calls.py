"""Tracking tool calls in the fold: which block shows a call, and its state when its turn ends."""

from itertools import islice
from typing import TYPE_CHECKING, Any

from rookery.core.header import Header
from rookery.core.json import Event, Json, dumps, kind_of, lenient
from rookery.core.tools import terminals

if TYPE_CHECKING:
    from rookery.core.ask import Ask

TOOLS_KEPT = 1000
"""Tool calls remembered within a turn; a later update of a forgotten one starts a new block."""

LONGEST_KEY = 1000

ENDED = terminals.ENDED
LEFT = ("unfinished", "interrupted")
"""The states of a call that had not ended when its turn did; a later update may still revive it."""
CANCELLED = ("cancelled", "canceled", "aborted", "interrupted")
REJECTED = ("rejected", "denied", "declined", "refused")
"""How some agents say that a call did not run to its end: the protocol has only `failed`."""


def block_id(header: Header, event: Event) -> str:
    """Return the id of the block that an event makes: its turn, and the event's number."""
    return f"{header.turn}.{event.seq}"


def in_turn(header: Header, block: str) -> bool:
    return block.startswith(f"{header.turn}.")


def key_of(call: Json) -> str:
    """Return a tool call's id, cut to a limit, even if an agent sends a number or nothing."""
    value = call.get("toolCallId")
    return value[:LONGEST_KEY] if isinstance(value, str) else dumps(value)[:LONGEST_KEY]


def block_of(header: Header, key: str) -> str | None:
    """Return the block of the call with this id, as long as it is remembered."""
    return header.tools[key][0] if key in header.tools else None


def unfinished(header: Header) -> list[str]:
    """Return the blocks of calls that may still end."""
    tools = header.tools.values()
    return [block for block, status, _ in tools if status not in (*ENDED, *LEFT)]


def asked_of(header: Header, ask: "Ask") -> str:
    """Return the id of the call that an ask belongs to: its own, or that of the first call
    announced in this turn that the ask names."""
    own, tools = key_of(ask.call), header.tools
    keys = (key for key in (own, *ask.announced) if key in tools)
    return next((key for key in keys if in_turn(header, tools[key][0])), own)


def all_asked_of(header: Header, ask: "Ask") -> list[str]:
    """Return the same, and the turn's other announced calls: one ask may be about several."""
    tools, own = header.tools, asked_of(header, ask)
    announced = [key for key in ask.announced if key in tools]
    keys = dict.fromkeys([own, *(key for key in announced if in_turn(header, tools[key][0]))])
    return [key for key in keys if key in tools]


def steps(value: Json, key: str, most: int) -> list[Json]:
    """Return the steps of a plan or a to-do list, each with its text and status."""
    return [
        {"text": lenient.text(each, "content"), "status": lenient.text(each, "status", "pending")}
        for each in islice(lenient.mappings(value, key), most)
    ]


def left(tools: Json, status: str) -> Json:
    """Return the calls of a turn that ends, with those that did not end marked by `status`. Those
    marked before stay as they are."""
    open_ = {key: tool for key, tool in tools.items() if tool[1] not in (*ENDED, *LEFT)}
    return tools | {key: [block, status, at] for key, (block, _, at) in open_.items()}


def _with(tools: Json, key: str, known: list[Any], *, grows: bool = True) -> Json:
    """Return a copy with one entry changed: each of thousands of calls may cost only one."""
    changed = tools.copy()
    if grows and len(changed) >= TOOLS_KEPT:
        del changed[next(iter(changed))]
    changed[key] = known
    return changed


def upsert(header: Header, event: Event, call: Json) -> Json:
    """Return the header's changes after an update of a tool call. If the call is known in this
    turn, or still unfinished from an earlier one, it stays in its block.

    Anything else starts a block: an agent may count its calls from 1 again in each turn."""
    key, tools = key_of(call), header.tools
    status = lenient.text(call, "status")
    status = "failed" if status in (*CANCELLED, *REJECTED) else status
    known = tools.get(key)
    told_anew = kind_of(event.update) == "tool_call" or event.update.get("again") is True
    changes: Json = {}
    if known is None or (told_anew and not in_turn(header, known[0])):
        block = block_id(header, event)
        opened = [block, status or "pending", event.at]
        changes = {"_tools": _with(tools, key, opened), "_open": None}
    else:
        block, before, since = known
        if status and status != before:
            changes = {"_tools": _with(tools, key, [block, status, since], grows=False)}
    mine = terminals.named(header.terminals, call, block)
    mine = terminals.after(mine, call, block, block_id(header, event))
    return changes if mine is header.terminals else changes | {"_terminals": mine}


def after_answer(header: Header, ask: "Ask", at: int) -> Json:
    """Return the header's changes after an answer: while the user thinks, no time counts."""
    key, tools = asked_of(header, ask), header.tools
    if key not in tools:
        return {}
    name, status, since = tools[key]
    waited = max(0, at - max(since, ask.at or at))
    return {"_tools": _with(tools, key, [name, status, since + waited], grows=False)}


def after_ask(header: Header, event: Event, ask: "Ask") -> Json:
    """Return the header's changes after an ask, which describes its own call, unless it belongs to
    one announced before."""
    if not ask.call or asked_of(header, ask) != key_of(ask.call):
        return {}
    return upsert(header, event, ask.call)
