"""A session's page while somebody is viewing it: events become the few changes that the
browser has to make.

A change is a list: its name, and what it needs. Units are named by their ids.

    put    id, html, before, inside   insert a unit, before another one or at the end
                                      (null), at the top level (null) or inside another
    set    id, html                   replace a unit's own content, its first child
    drop   id                         remove a unit, with all that is nested in it
    more   id, html, tail             add finished pieces to a text, and replace its tail
                                      (null: the text is complete and has none)
    tail   id, html                   replace the tail of a text
    text   id, text                   append plain text to the tail
    lines  id, lost, cut, html, kept  change a terminal's lines: remove the last `cut`
                                      (-1: all), append others, keep `kept`; `lost` are
                                      left out above (-1: their number is not known)
    any other name is a region of the screen, with its HTML

After the changes a browser has what it would get by reloading: each change leads from
one rendering of a unit, which depends on its block alone, to the next."""

from collections.abc import Callable, Iterable
from typing import Any

from rookery.core.blocks.document import HEADER, Document, Op
from rookery.core.header import Header
from rookery.daemon.pieces.growing import Output, Prose, Tail
from rookery.daemon.pieces.transcript import Painter
from rookery.export.html.block import WRITTEN
from rookery.export.html.transcript import TOP, Layout, is_row, nest, unit_of
from rookery.export.html.view import View

type Change = list[Any]
type Regions = Callable[[Header], dict[str, str]]

SHAPING = frozenset({"status", "kind", "parent", "parts", "proposed", "role"})
"""Fields that decide where a block stands."""

MAX_BLOCKS, KEPT = 1200, 800
"""Blocks that are known; of more, the last are kept."""
FEWEST_BELOW = 50
"""Blocks that are kept of a call that goes on, whatever it is part of."""


class Live:
    """A session's page, starting from what a browser already has, and the changes since then."""

    def __init__(
        self, document: Document, view: Callable[[Header], View], regions: Regions | None = None
    ) -> None:
        """Start from a document; `view` and `regions` must depend on the header alone."""
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
        """Set up incremental rendering of the texts that are still growing."""
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
        """Render the whole transcript, as of the last flush."""
        return "".join(self.painter.units())

    def _opened(self) -> str:
        """Return the name of the text that is still being written: a last block that nothing has
        followed yet; "" if there is none."""
        last = next(reversed(self.document.blocks.values()), None)
        if last is None or last["role"] not in WRITTEN or self.document.header.state == "idle":
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
        """Record what an op changes; return whether it concerns a known block."""
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
        """Return the changes since the last flush."""
        changes, put = list[Change](), set[str]()
        self._feed()
        if self._heard and self._about != _about(self.document.header):
            self._change_view()
        if (opened := self._opened()) != self.painter.opened:
            changes += self._closed(self.painter.opened)
            self.painter.opened = opened
            self._changed[opened] = None
        if self._shaped:
            changes += self._moved(put)
        changes += self._redrawn(put)
        changes += self._growth()
        self._changed, self._grown, self._shaped = {}, {}, False
        if self._heard:
            changes += self._heard_of()
        self._trim()
        return changes

    def _change_view(self) -> None:
        """Use a view for the changed header, and redraw the asks, since they name the agent."""
        header = self.document.header
        self._about = _about(header)
        self.painter.use(self._view(header))
        blocks = self.document.blocks.values()
        self._changed |= {block["id"]: None for block in blocks if block["role"] == "ask"}

    def _feed(self) -> None:
        """Feed appended text to the texts that are still growing; any other block is
        rendered anew."""
        for name, texts in self._grown.items():
            known = self.painter.prose.get(name) or self.painter.outputs.get(name)
            if known is None:
                self._changed[name] = None
            else:
                known.feed("".join(texts))

    def _closed(self, name: str) -> list[Change]:
        """Return the changes that complete a text which will not grow any more."""
        self._own.pop(name, None)
        prose, shown = self.painter.prose.pop(name, None), self._texts.pop(name, None)
        block = self.document.blocks.get(name)
        if block is None or prose is None or shown is None:
            return []
        if block["role"] != "answer" or prose.refers() or not block["text"].strip():
            self._changed[name] = None
        if name in self._changed:
            return []
        return [["more", name, prose.rendered(shown[0]) + prose.last(), None]]

    def _growth(self) -> list[Change]:
        changes: list[Change] = []
        for name in self._grown:
            if name in self._texts:
                changes += self._written(name)
            elif (output := self.painter.outputs.get(name)) and (news := output.news()):
                changes.append(["lines", name, news.lost, news.cut, "".join(news.more), news.kept])
        return changes

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
        changes: list[Change] = []
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
                changes.append(["set", unit, html])
        return changes

    # --- where units stand -----------------------------------------------------------------------

    def _moved(self, put: set[str]) -> list[Change]:
        """Return the changes for units that moved, drops first, so that a unit is never there
        twice."""
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
        """Forget old blocks if there are too many. Browsers keep theirs but get no more updates for
        them."""
        if len(self.document.blocks) > MAX_BLOCKS:
            self._shorten(TOP, KEPT)

    def _shorten(self, container: str, room: int) -> None:
        """Keep the last units that fit in `room`; one that is still running keeps the last of its
        nested units."""
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


def _about(header: Header) -> tuple[object, object]:
    return header.agent, header.cwd


def inside(layout: Layout) -> dict[str, str]:
    """Return the container of each unit."""
    return {unit: container for container, units in layout.items() for unit in units}


def _staying(was: list[str], now: list[str]) -> set[str]:
    """Return the units that need not be moved."""
    common = set(was) & set(now)
    ordered = [unit for unit in was if unit in common] == [unit for unit in now if unit in common]
    return common if ordered else set()
