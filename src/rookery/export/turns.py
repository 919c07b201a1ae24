"""A session's turns, folded one after the other, with secrets removed."""

from collections.abc import Iterator
from typing import NamedTuple

from rookery.core.blocks.document import Block, Document
from rookery.core.header import Header
from rookery.core.json import Event
from rookery.core.json.redact import redact, redact_json
from rookery.core.turn.rewinding import Ranges, hides_block
from rookery.core.view.reduce import reduce
from rookery.log.history import History
from rookery.log.reader import Reader

BATCH = 100
"""Events read at a time."""


class Turn(NamedTuple):
    number: int
    at: int
    """When its first event was, in milliseconds; 0: it has none."""
    blocks: dict[str, Block]


def about(log: History) -> Header:
    """Return the session's header, without secrets in the fields that are shown."""
    header = log.header()
    title, agent, model = redact(header.title), redact(header.agent), redact(header.model)
    mode, cwd = redact(header.mode), redact(header.cwd)
    return header.with_(title=title, agent=agent, model=model, mode=mode, cwd=cwd)


def turns(log: Reader, first: int, last: int | None) -> Iterator[Turn]:
    """Yield the turns: page(k) = fold(events of turn k, header of k-1). Each turn is held until the
    next has been read, since that may end what it began: an ask that is answered later, a command
    that keeps running."""
    end = log.last_seq()
    final = log.turns() if last is None else min(last, log.turns())
    hidden = log.header().hidden
    waiting: tuple[int, int, Document] | None = None
    header = log.header_before(first) if first else None
    for number in range(first, final + 2):
        document, at = Document(header), 0
        if number <= final or waiting is not None:
            for event in events(log, number, number, end):
                at = at or event.at
                reduce(document, event)
        if waiting is not None:
            for name, ops in document.late.items():
                if name in waiting[2].blocks:
                    waiting[2].apply(ops)
            yield _finished(*waiting, hidden)
        if number > final:
            return
        waiting, header = (number, at, document), document.header


def _finished(number: int, at: int, document: Document, hidden: Ranges) -> Turn:
    """Return the turn without what a rewind hides."""
    shown = {k: block for k, block in document.blocks.items() if not hides_block(hidden, k)}
    blocks = {name: _redacted(block) for name, block in shown.items()}
    document.blocks.clear()
    return Turn(number, at, blocks)


def _redacted(block: Block) -> Block:
    """Redact a block, and drop its buttons, which hold commands."""
    rest = redact_json({key: block[key] for key in block if key not in ("id", "parent", "actions")})
    return {**block, **rest, "actions": []}


def events(log: Reader, first: int, last: int, end: int) -> Iterator[Event]:
    """Yield the events of these turns, up to event `end`, reading them lazily."""
    begin = log.first_seq(first)
    if not begin:
        return
    following = log.first_seq(last + 1)
    after, end = begin - 1, min(end, following - 1) if following else end
    while after < end:
        batch = log.read(after, BATCH, end)
        if not batch:
            return
        after = batch[-1].seq
        yield from batch
        del batch  # before the next are read
