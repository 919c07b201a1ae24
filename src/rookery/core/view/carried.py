"""Blocks that began before the opened part of a long turn, and are shown all the same: a call that
still runs, a message that goes on, an open ask.

Such a block is made from the event that began it, which its id names, and from the header. What
came between is missing until more is loaded; `join` puts it in."""

from collections.abc import Iterable

from rookery.core.agent import children
from rookery.core.ask import asks_of
from rookery.core.blocks import Block, Document
from rookery.core.blocks.tools import STATUS
from rookery.core.header import Header
from rookery.core.json import Event, Json, kind_of
from rookery.core.tools.calls import in_turn, key_of, unfinished
from rookery.core.view.reduce import fold

DEEPEST = 8
"""Parents of parents that are looked for."""


def wanted(document: Document) -> dict[str, int]:
    """Return the blocks of this turn that are to be shown but began before the opened part, each
    with the number of the event that began it; oldest first."""
    header = document.header
    names = {*document.late, header.plan_block, *header.open_message[:1]}
    names |= {*header.compaction[1:], *(header.plans).values()}
    names |= {ask.block for ask in asks_of(header).values()}
    names |= {*unfinished(header), *(each["block"] for each in header.children.values())}
    names |= {name for name, state, _ in header.terminals.values() if state == "running"}
    names |= {block["parent"] for block in document.blocks.values()}
    missing = (name for name in names if name and name not in document.blocks)
    seqs = {name: began(name) for name in missing if in_turn(header, name)}
    return dict(sorted((each for each in seqs.items() if each[1]), key=lambda each: each[1]))


def began(name: str) -> int:
    """Return the number of the event that made a block; 0 if its id does not say."""
    digits = name.partition(".")[2].rstrip(f"?${children.SUFFIX}")
    return int(digits) if digits.isdigit() and len(digits) < 19 else 0


def carry(document: Document, before: Header, events: Iterable[Event]) -> None:
    """Put the blocks that these events began above all others. `before`: the header where the
    document begins."""
    there = {event.seq: event for event in events}
    names = [(name, there[seq]) for name, seq in wanted(document).items() if seq in there]
    made = {name: _made(before, name, event) for name, event in names}
    blocks = {name: block for name, block in made.items() if block is not None}
    document.blocks = blocks | document.blocks
    for name, block in blocks.items():
        document.carried[name] = {}
        if block["role"] == "terminal":
            document.terminals = {name: None} | document.terminals
        document.apply(document.late.pop(name, []))


def _made(before: Header, name: str, event: Event) -> Block | None:
    """Return the block as it looked when it began, updated with what the header knows."""
    tools = dict(before.tools)
    if kind_of(event.update).startswith("tool_call"):
        tools.pop(key_of(event.update), None)
    others = {key: each for key, each in before.children.items() if each["block"] != name}
    empty: Json = {key: {} for key in ("_terminals", "_plans", "_messages")}
    empty |= dict.fromkeys(("_open", "_plan", "_compaction"))
    fresh = before.with_(**empty, _tools=tools, _children=others)
    fresh = fresh.with_(**children.turn_begins(fresh))
    if name == before.plan_block:
        entries = [{"content": each["text"], "status": each["status"]} for each in before.plan]
        event = event._replace(update={**event.update, "entries": entries})
    block = fold(fresh, [event]).blocks.get(name)
    if block is None:
        return None
    for known, status, _ in before.tools.values():
        if known == name:
            block["status"] = STATUS.get(status, status[:40])
    for child in before.children.values():
        if child["block"] == name:
            block |= {"status": child["status"], "calls": child["calls"]}
    for known, _, call in before.terminals.values():
        if known == name:
            block["parent"] = call
    if (thinking := before.thinking)[0] == name and thinking[2]:
        block["seconds"] = thinking[2]
    return {**block, "text": "" if block["role"] != "ask" else block["text"], "above": True}


def clip(document: Document, room: int) -> bool:
    """Cut texts that no face could open at once down to their end; return whether there were
    any."""
    long = [block for block in document.blocks.values() if len(block["text"]) > room]
    for block in long:
        block["text"], block["above"] = block["text"][-room:], True
    return bool(long)
