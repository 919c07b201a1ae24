"""The document that shows a session: blocks in order, and the four operations that change them.

Every look (terminal, browser, export, the session list) applies the same ops. A Document is the one
mutable value of this package: it grows with each event, and copying it each time would be too
expensive."""

from typing import Any

from rookery.core.blocks.parts import outline
from rookery.core.header import EMPTY, Header
from rookery.core.json import Event, Json, dumps
from rookery.core.tools.calls import block_id

type Block = dict[str, Any]
type Op = list[Any]

HEADER = "header"
"""The id that a `set` carries when it changes the header and no block."""

OP_BYTES = 64 * 1024
"""No op is larger than this on a wire; storage has no such bound."""

PIECE = 5_000
"""Characters of text in one op: fits even as the widest escapes, 12 bytes each."""


MAX_LENGTHS = {"title": 500, "status": 40, "kind": 40, "note": 500, "danger": 8000, "ruled": 500}
"""Characters of a block's short fields."""


def make_block(name: str, role: str, **fields: Any) -> Block:
    block: Block = {"id": name, "role": role, "title": "", "text": "", "status": ""}
    block |= {"parts": [], "actions": [], "parent": None} | fields
    for field in MAX_LENGTHS.keys() & block.keys():
        block[field] = block[field][: MAX_LENGTHS[field]]
    return block


def block_of_event(header: Header, event: Event, role: str, **fields: Any) -> Block:
    return make_block(block_id(header, event), role, **fields)


def put(block: Block) -> list[Op]:
    """Return the ops that create a block. What one op cannot carry follows in further ops."""
    if len(block["text"]) <= OP_BYTES and size_of(["put", block]) <= OP_BYTES:
        return [["put", block]]
    rest = {key: value for key, value in block.items() if key not in ("id", "text")}
    large = {key: value for key, value in rest.items() if len(dumps(value)) > PIECE}
    bare = {**block, "text": "", **{key: type(value)() for key, value in large.items()}}
    name = block["id"]
    return [["put", bare], *(change(name, **large) if large else []), *append(name, block["text"])]


def append(name: str, text: str) -> list[Op]:
    return [["append", name, text[at : at + PIECE]] for at in range(0, len(text), PIECE)]


def change(name: str, **fields: Any) -> list[Op]:
    """Return one op that sets the fields, or one for each field if they do not fit into one."""
    if size_of(["set", name, fields]) <= OP_BYTES:
        return [["set", name, fields]]
    return [["set", name, {key: value}] for key, value in fields.items()]


def shown(header: Header) -> Json:
    """Return what clients are sent of a header: no state of the fold, nothing above an op."""
    return {key: outline(value) for key, value in header.raw.items() if not key.startswith("_")}


class Document:
    """Header and blocks of one stretch of a session: a page, several joined, or all of it.

    `late` holds ops for blocks of earlier pages that are not loaded here. `carried` are blocks that
    began before this stretch and are shown all the same, as far as they are known: it holds the
    fields of each that were set since, so that they find their place when more is loaded."""

    __slots__ = ("blocks", "carried", "header", "late", "terminals")

    def __init__(self, header: Header | None = None) -> None:
        self.header = EMPTY if header is None else header
        self.blocks: dict[str, Block] = {}
        self.late: dict[str, list[Op]] = {}
        self.carried: dict[str, Json] = {}
        self.terminals: dict[str, None] = {}
        """The blocks that are terminals, by id: each call looks for its own among them."""

    def apply(self, ops: list[Op]) -> None:
        for op in ops:
            match op:
                case ["put", block]:
                    self.blocks[block["id"]] = dict(block)
                    if block["role"] == "terminal":
                        self.terminals[block["id"]] = None
                case ["set", "header", fields]:
                    self.header = self.header.with_(**fields)
                case [_, name, *_] if name not in self.blocks:
                    self.late.setdefault(name, []).append(op)
                case ["set", name, fields]:
                    self.blocks[name].update(fields)
                    if name in self.carried:
                        self.carried[name].update(fields)
                case ["append", name, text]:
                    extend(self.blocks[name], text)
                case ["drop", name]:
                    del self.blocks[name]
                    self.carried.pop(name, None)
                    self.terminals.pop(name, None)

    def children(self, name: str | None) -> list[Block]:
        """Return the blocks nested under one (a sub-agent's calls, a call's terminal); None: the
        top level."""
        known = self.blocks
        if name is None:
            return [b for b in known.values() if b["parent"] is None or b["parent"] not in known]
        return [block for block in known.values() if block["parent"] == name]

    def to_json(self) -> Json:
        return {"header": shown(self.header), "blocks": list(self.blocks.values())}


def extend(block: Block, text: str) -> None:
    """Append text to a block in place: a string without another reference grows where it is, so a
    message of 40 MB that came in a million pieces costs a million steps and not a million copies.
    """
    whole = block["text"]
    block["text"] = ""
    whole += text
    block["text"] = whole


def join(older: Document, newer: Document) -> Document:
    """Return two neighbouring stretches as one. The newer's late ops are applied to the older's
    blocks, and its carried blocks are merged with their beginnings."""
    both = Document(newer.header)
    further = {name: fields for name, fields in newer.carried.items() if name not in older.blocks}
    both.blocks = {name: dict(newer.blocks[name]) for name in further}
    both.blocks.update((name, dict(block)) for name, block in older.blocks.items())
    both.carried = {name: dict(fields) for name, fields in (further | older.carried).items()}
    both.late = {name: list(ops) for name, ops in older.late.items()}
    both.terminals = {**older.terminals, **newer.terminals}
    for ops in newer.late.values():
        both.apply(ops)
    for name, fields in newer.carried.items():
        if name not in further:
            both.apply([["set", name, fields], ["append", name, newer.blocks[name]["text"]]])
    rest = (each for each in newer.blocks.items() if each[0] not in newer.carried)
    both.blocks.update((name, dict(block)) for name, block in rest)
    return both


def size_of(op: Op) -> int:
    return len(dumps(op))
