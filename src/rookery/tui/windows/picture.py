"""A window with a picture, as large as the terminal has room for."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from textual.app import ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Label, Static

from rookery.core import units
from rookery.core.json import lenient
from rookery.core.json.image_bytes import look_at
from rookery.render.runs import clean_line
from rookery.tui.keys import bindings
from rookery.tui.pictures import drawing, kitty, sequences, terminal
from rookery.tui.pictures.shown import Pictures
from rookery.tui.windows.parts.modals import Modal

UNDRAWN = "This picture cannot be drawn here."
GONE = "The picture is no longer in the log."


class Canvas(Static):
    """Empty cells over which the terminal draws. Painting them erases the picture."""

    def render_lines(self, crop: Region) -> list[Strip]:
        screen = self.screen
        if isinstance(screen, PictureScreen):
            self.call_after_refresh(screen.draw)
        return super().render_lines(crop)


class PictureScreen(Modal[None]):
    """The pictures of one block, given as `parts`; `session` is the one whose log has them."""

    BINDINGS = bindings.PICTURE
    KIND = "window picture"

    def __init__(self, parts: Sequence[dict[str, Any]], session: str, pictures: Pictures) -> None:
        super().__init__("Picture")
        self._parts, self._session, self._pictures = parts, session, pictures
        self._at = 0
        self._number = 0
        """Kitty's."""
        self._data: bytes | None = None
        """As it is in the log."""
        self._drawn: tuple[object, bytes] | None = None
        """What it was drawn for, and as."""
        self._is_shown = False

    def body(self) -> ComposeResult:
        yield Canvas(id="canvas")

    def on_mount(self) -> None:
        self.add_class("over")  # nothing below it is painted
        self.app.app_resume_signal.subscribe(self, lambda _app: self._again())
        self._load()

    # --- which one -----------------------------------------------------------------------------

    @property
    def part(self) -> dict[str, Any]:
        return self._parts[self._at]

    def action_turn(self, step: int) -> None:
        if len(self._parts) > 1:
            self._at = (self._at + step) % len(self._parts)
            self._load()

    def _load(self) -> None:
        self._erase()
        self._data = self._drawn = None
        self.query_one(".title", Label).update(clean_line(self._heading_of(self.part)))
        self._say("")
        blob = str(self.part["blob"])
        self.shell.reader.blob(self._session, blob, partial(self._loaded, blob))

    def _heading_of(self, part: dict[str, Any]) -> str:
        size = lenient.number(part, "bytes")
        across, down = lenient.integer(part, "width"), lenient.integer(part, "height")
        facts = [lenient.text(part, "name"), lenient.text(part, "mime")]
        facts += [f"{across:,} × {down:,}" if across and down else "", units.size(size or 0)]
        facts += [f"{self._at + 1} of {len(self._parts)}" if len(self._parts) > 1 else ""]
        return " · ".join(filter(None, facts))

    def _loaded(self, blob: str, data: bytes | None) -> None:
        if self.is_attached and blob == self.part["blob"]:
            self._data = data
            if data is None:
                self._say(GONE)
            self.draw()

    def _say(self, text: str) -> None:
        self.query_one(Canvas).update(text)

    # --- drawing -------------------------------------------------------------------------------

    @property
    def _room(self) -> tuple[Region, tuple[int, int]]:
        """The cells of the canvas, and the size of a cell in pixels."""
        return self.query_one(Canvas).content_region, self._pictures.cell

    def draw(self) -> None:
        """Render the picture for the current size, or write it if that is done."""
        if not self.is_current or self._data is None:
            return
        region, cell = self._room
        if not region.width or not region.height:
            return
        state = (self._at, region.size, cell)
        if self._drawn is None or self._drawn[0] != state:
            self._make(state)
        elif self._drawn[1]:
            self._write(self._drawn[1])

    def _make(self, state: tuple[int, Any, tuple[int, int]]) -> None:
        self._erase()
        self._drawn = (state, b"")
        _, size, (wide, high) = state
        room = (size.width * wide, size.height * high)
        ground = self.background_colors[1].hex6.removeprefix("#")
        work = partial(drawing.drawn, self._data or b"", self._pictures.ability.how, room, ground)

        def made(data: bytes | None) -> None:
            if self._drawn is None or self._drawn[0] != state:
                return
            self._drawn = (state, data or b"")
            if data is None:
                self._say(UNDRAWN)
            self.draw()

        self.fetch(work, made)

    def _write(self, data: bytes) -> None:
        region, cell = self._room
        columns, rows = self._cells(region, cell)
        at = region.x + (region.width - columns) // 2, region.y
        match self._pictures.ability.how:
            case "kitty" if not self._is_shown:  # text does not paint over it
                self._number = self._pictures.new_number().whole
                place = sequences.moved_to(*at, kitty.placed(self._number, columns, rows))
                self._pictures.send(self._number, [*kitty.sent(self._number, data), place])
            case "iterm2":
                self._pictures.write(sequences.moved_to(*at, sequences.iterm2(data, columns, rows)))
            case "sixel" if encoded := sequences.sixels(data):
                self._pictures.write(sequences.moved_to(*at, encoded))
        self._is_shown = True

    def _cells(self, region: Region, cell: tuple[int, int]) -> tuple[int, int]:
        picture = look_at(self._data or b"")
        across, down = (picture.width, picture.height) if picture else (1, 1)
        return terminal.fitted(across, down, cell, region.width, region.height)

    def _erase(self) -> None:
        """Delete the picture with kitty; in other terminals painting over it is enough."""
        if self._is_shown and self._pictures.ability.how == "kitty":
            self._pictures.delete(self._number)
        self._is_shown = False

    def on_screen_suspend(self) -> None:
        """Erase the picture when another window covers this one, or it closes."""
        self._erase()

    def on_screen_resume(self) -> None:
        self.query_one(Canvas).refresh()

    def _again(self) -> None:
        """Draw again after Ctrl+Z, when the terminal has lost the picture."""
        self._is_shown = False
        self.query_one(Canvas).refresh()

    def on_unmount(self) -> None:
        self._erase()

    # --- elsewhere -----------------------------------------------------------------------------

    def action_show(self) -> None:
        """Open the picture in the system's viewer."""
        self.shell.show_bytes(self._data)
