"""A session's page while it is looked at: what happens becomes the few changes that a browser
makes.

A change is a list: its name, and what it needs. Units are named by their ids.

    put    id, html, before, inside   a new unit, before another one or at the end (null); at the
                                      top, or inside another (null: at the top)
    set    id, html                   a unit's own look, which is its first child
    drop   id                         a unit, with all that is nested in it
    more   id, html, tail             pieces of a text that are finished, and its new tail (null:
                                      the text is over, and has none)
    tail   id, html                   the tail of a text
    text   id, text                   plain text at the end of the tail
    lines  id, lost, cut, html, kept  of a terminal's lines, the last `cut` go (-1: all), others
                                      come, `kept` stay; `lost` are left out above (-1: it is not
                                      known how many)
    any other name is a region of the screen, with its HTML

What a browser has after them is what it would get anew: each says how one look of a unit, which
depends on its block alone, becomes the next.
"""

from collections.abc import Callable, Iterable
from typing import Any

from rookery.core.blocks.document import HEADER, Document, Op
from rookery.core.json import Json
from rookery.daemon.pieces.growing import Output, Prose, Tail
from rookery.daemon.pieces.transcript import PROSE, TOP, Layout, Painter, is_row, nest, unit_of
from rookery.export.html.view import View

type Change = list[Any]
type Regions = Callable[[Json], dict[str, str]]

SHAPING = frozenset({"status", "kind", "parent", "parts", "proposed", "role"})
"""Fields that decide where a block stands."""

MOST, KEPT = 1200, 800
"""Blocks that are known; of more, the last are kept."""
FEWEST_BELOW = 50
"""Blocks that are kept of a call that goes on, whatever it is part of."""


class Live:
    """Begins with what a browser has."""

    def __init__(
        self, document: Document, view: Callable[[Json], View], regions: Regions | None = None
    ) -> None:
        """`view` and `regions` depend on the header alone."""
        self.document = document
        self._view = view
        self._about = _about(document.header)
        self._regions = regions or (lambda _header: {})
        self._told_regions = self._regions(document.header)
        self.painter = Painter(document.blocks, view(document.header))
        self.painter.opened = self._opened()
        self.painter.own_told = self._note
        self._own: dict[str, int] = {}
        """Hashes of looks that were sent."""
        self._texts: dict[str, tuple[int, Tail]] = {}
        """Of a text that goes on, what was sent: how many pieces, and the tail."""
        self._changed: dict[str, None] = {}
        self._grown: dict[str, list[str]] = {}
        self._shaped = False
        self._heard = False
        self.missed = False
        """Something was said of a block that is not known here."""
        self._inside = inside(self.painter.nest.layout)
        self._begin()

    def _begin(self) -> None:
        """Where the texts are that go on."""
        if name := self.painter.opened:
            prose = self.painter.prose[name] = Prose(self.document.blocks[name]["text"])
            self._texts[name] = len(prose.pieces), prose.tail()
        for name in self.document.terminals:
            block = self.document.blocks[name]
            if block["status"] == "running" and block["text"].strip():
                output = self.painter.outputs[name] = Output(block["text"])
                output.begin()

    def regions(self) -> dict[str, str]:
        return self._told_regions

    def html(self) -> str:
        """All of it, as it was at the last flush."""
        return "".join(self.painter.units())

    def _opened(self) -> str:
        """The text that is still being written, if there is one: nothing came after it."""
        last = next(reversed(self.document.blocks.values()), None)
        if last is None or last["role"] not in PROSE or self.document.header["state"] == "idle":
            return ""
        return str(last["id"])

    def _note(self, name: str, html: str) -> None:
        self._own[name] = hash(html)
        if name == self.painter.opened:
            prose = self.painter.prose[name]
            self._texts[name] = len(prose.pieces), prose.tail()

    # --- what happened ---------------------------------------------------------------------------

    def take(self, ops: Iterable[Op]) -> None:
        for op in ops:
            if self._look(op):
                self.document.apply([op])

    def _look(self, op: Op) -> bool:
        """Whether it is about something here."""
        blocks = self.document.blocks
        match op:
            case ["put", block]:
                self._shaped = True
                self._changed[block["id"]] = None
                self._grown.pop(block["id"], None)
            case ["set", name, _] if name == HEADER:
                self._heard = True
            case [verb, name, *_] if name not in blocks:
                self.missed = self.missed or verb != "drop"
                return False
            case ["set", name, fields]:
                self._changed[name] = None
                self._shaped = self._shaped or not SHAPING.isdisjoint(fields)
            case ["append", name, text]:
                if not blocks[name]["text"].strip():
                    self._changed[name] = None  # its look may begin with it
                self._grown.setdefault(name, []).append(text)
            case ["drop", name]:
                self._shaped = True
                self._grown.pop(name, None)
        return True

    def flush(self) -> list[Change]:
        """The changes since the last time."""
        found, put = list[Change](), set[str]()
        self._feed()
        if self._heard and self._about != _about(self.document.header):
            self._change_view()
        if (opened := self._opened()) != self.painter.opened:
            found += self._closed(self.painter.opened)
            self.painter.opened = opened
            self._changed[opened] = None
        if self._shaped:
            found += self._moved(put)
        found += self._redrawn(put)
        found += self._growth()
        self._changed, self._grown, self._shaped = {}, {}, False
        if self._heard:
            found += self._heard_of()
        self._trim()
        return found

    def _change_view(self) -> None:
        """An ask says who asks."""
        header = self.document.header
        self._about = _about(header)
        self.painter.use(self._view(header))
        blocks = self.document.blocks.values()
        self._changed |= {block["id"]: None for block in blocks if block["role"] == "ask"}

    def _feed(self) -> None:
        """What was appended, to the texts that go on; any other is rendered anew."""
        for name, texts in self._grown.items():
            known = self.painter.prose.get(name) or self.painter.outputs.get(name)
            if known is None:
                self._changed[name] = None
            else:
                known.feed("".join(texts))

    def _closed(self, name: str) -> list[Change]:
        """Nothing more comes of a text."""
        self._own.pop(name, None)
        prose, told = self.painter.prose.pop(name, None), self._texts.pop(name, None)
        block = self.document.blocks.get(name)
        if block is None or prose is None or told is None:
            return []
        if block["role"] != "answer" or prose.refers() or not block["text"].strip():
            self._changed[name] = None
        if name in self._changed:
            return []
        return [["more", name, prose.rendered(told[0]) + prose.last(), None]]

    def _growth(self) -> list[Change]:
        found: list[Change] = []
        for name in self._grown:
            if name in self._texts:
                found += self._written(name)
            elif (output := self.painter.outputs.get(name)) and (news := output.news()):
                found.append(["lines", name, news.lost, news.cut, "".join(news.more), news.kept])
        return found

    def _written(self, name: str) -> list[Change]:
        prose, (pieces, before) = self.painter.prose[name], self._texts[name]
        tail = prose.tail()
        self._texts[name] = len(prose.pieces), tail
        self._own.pop(name, None)
        if len(prose.pieces) > pieces:
            return [["more", name, prose.rendered(pieces), tail.html()]]
        if tail == before:
            return []
        same = tail.lines == before.lines and tail.fence == before.fence
        if same and tail.raw.startswith(before.raw):
            return [["text", name, tail.raw[len(before.raw) :]]]
        return [["tail", name, tail.html()]]

    def _redrawn(self, put: set[str]) -> list[Change]:
        found: list[Change] = []
        units = {
            unit_of(each, self.document.blocks): None
            for each in self._changed
            if each in self.document.blocks
        }
        for unit in [*units]:
            if is_row(self._inside.get(unit, TOP)):
                units[self._inside[unit]] = None
        units |= {each: None for each in self._changed if is_row(each)}
        for unit in units:
            if unit in put or unit not in self._inside:
                continue
            before, html = self._own.get(unit), self.painter.own(unit)
            if before != hash(html):
                found.append(["set", unit, html])
        return found

    # --- where units stand -----------------------------------------------------------------------

    def _moved(self, put: set[str]) -> list[Change]:
        """Drops first, so that what went elsewhere is not there twice."""
        old, before = self.painter.nest.layout, self._inside
        self.painter.nest = nest(self.document.blocks)
        new = self.painter.nest.layout
        if new == old:
            return []
        self._inside = inside(new)
        drops: list[Change] = []
        puts: list[Change] = []
        for container, units in new.items():
            if container in put or old.get(container) == units:
                put.update(units if container in put else ())
                continue
            if container != TOP and container not in before:
                continue  # its unit is new and comes later, or came with it
            was = old.get(container, [])
            stays = _staying(was, units)
            drops += [["drop", unit] for unit in was if unit not in stays]
            above = container or None
            following: str | None = None
            made: list[Change] = []
            for unit in reversed(units):
                if unit in stays:
                    following = unit
                else:
                    put.add(unit)
                    made.append(["put", unit, "", following, above])
            puts += reversed(made)
            if is_row(container):
                self._changed[container] = None
        for container in old.keys() - new.keys():
            if container in self._inside:
                drops += [["drop", unit] for unit in old[container]]
        for change in puts:
            change[2] = self.painter.unit(change[1])
        for unit in before.keys() - self._inside.keys():
            self._own.pop(unit, None)
        return [*drops, *puts]

    def _heard_of(self) -> list[Change]:
        self._heard = False
        before, self._told_regions = self._told_regions, self._regions(self.document.header)
        return [
            [name, html] for name, html in self._told_regions.items() if before.get(name) != html
        ]

    def _trim(self) -> None:
        """Browsers keep what they have; news of it are no longer theirs."""
        if len(self.document.blocks) > MOST:
            self._shorten(TOP, KEPT)

    def _shorten(self, container: str, room: int) -> None:
        """Keep the last units that there is room for; of one that goes on, its last."""
        layout, families = self.painter.nest
        kept: list[str] = []
        for number, unit in enumerate(reversed(layout[container])):
            size, stays = self._size(unit), not number or self._goes_on(unit)
            if size > room and not stays:
                self._forget(unit)
                room = 0
                continue
            if size > room and layout.get(unit) and not is_row(unit):
                self._shorten(unit, max(FEWEST_BELOW, room - 1))
                size = self._size(unit)
            kept.append(unit)
            room = max(0, room - size)
        layout[container] = kept[::-1]
        if below := families.children.get(container):
            blocks = self.document.blocks
            families.children[container] = [each for each in below if each["id"] in blocks]

    def _size(self, unit: str) -> int:
        layout, families = self.painter.nest
        own = 1 + len(families.terminals.get(unit, ()))
        return own + sum(map(self._size, layout.get(unit, ())))

    def _goes_on(self, unit: str) -> bool:
        return not is_row(unit) and self.document.blocks[unit]["status"] == "running"

    def _forget(self, unit: str) -> None:
        layout, families = self.painter.nest
        going = [unit]
        while going:
            name = going.pop()
            going += layout.pop(name, [])
            nested = [*families.children.pop(name, []), *families.terminals.pop(name, [])]
            going += [str(block["id"]) for block in nested]
            for known in (
                self.document.blocks,
                self.document.terminals,
                self._own,
                self._inside,
                self.painter.outputs,
            ):
                known.pop(name, None)


def _about(header: Json) -> tuple[object, object]:
    return header.get("agent"), header.get("cwd")


def inside(layout: Layout) -> dict[str, str]:
    """The container of each unit."""
    return {unit: container for container, units in layout.items() for unit in units}


def _staying(was: list[str], now: list[str]) -> set[str]:
    """What need not move."""
    common = set(was) & set(now)
    ordered = [unit for unit in was if unit in common] == [unit for unit in now if unit in common]
    return common if ordered else set()
