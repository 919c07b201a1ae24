"""The pictures of the transcript: requested when they are painted, sent once, deleted at the end.

Their cells are painted at once, empty; the terminal fills them when it has the bytes. Pictures not
painted for long are deleted when there are too many."""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from random import randrange
from typing import TYPE_CHECKING, Any, NamedTuple

from rookery.core.blocks.parts import unshown
from rookery.core.json import lenient
from rookery.render.runs import Line
from rookery.tui.pictures import drawing, kitty, terminal
from rookery.tui.system.driver import Answered, Driver

if TYPE_CHECKING:
    from rookery.tui.shell import Shell

ROWS, COLUMNS = 12, 64
"""The largest size of a picture in the transcript."""
MAX_PICTURES = 128
"""Pictures that the terminal keeps."""
PAUSE = 0.01
"""Seconds between two looks whether the terminal took what was written."""
PIECE = 16
"""Commands that are written at once, so that keys are not painted after a whole picture."""


class Place(NamedTuple):
    session: str
    blob: str
    columns: int
    rows: int


class Pictures:
    def __init__(self, app: "Shell", driver: Driver | None) -> None:
        """`driver`: of a terminal; None if there is none."""
        self._app, self._driver = app, driver
        self.ability = terminal.Ability()
        self._answers: list[str] | None = None
        """Those that came; None: it has not been asked."""
        self._known: dict[Place, kitty.Number | None] = {}
        """By the time they were last painted; None: it cannot be drawn."""
        self._made = randrange(15_000)  # noqa: S311 - another program has others
        self._waiting: list[tuple[Iterator[str], int]] = []
        """Commands, and the number of what they delete; 0: nothing."""
        self._sending: asyncio.Task[None] | None = None
        self._amid = False
        """Only a part of a picture has been sent."""
        self._there: set[int] = set()
        """The numbers of those that the terminal may have."""
        if driver is not None:
            driver.parting = self._parting
            app.app_resume_signal.subscribe(app, lambda _app: self._again())

    # --- what the terminal can do --------------------------------------------------------------

    @property
    def can_open(self) -> bool:
        """Whether a picture can be drawn in a window."""
        self._ask()
        return bool(self.ability.how)

    @property
    def cell(self) -> tuple[int, int]:
        """The pixels of a cell. The user may have changed the font since the terminal
        reported it."""
        now = terminal.cell_of(self._driver.fileno) if self._driver is not None else None
        return now or self.ability.cell

    def _ask(self) -> None:
        """Query the terminal once, when the first picture is painted."""
        driver = self._driver
        if driver is None or self._answers is not None or not self._app.taste.pictures:
            return
        self._answers = []
        if terminal.can_be_asked(os.environ):
            driver.question(terminal.QUESTIONS)
            self._app.set_timer(terminal.ANSWER_TIMEOUT, self._stop_waiting)

    def _stop_waiting(self) -> None:
        if self._driver is not None and not any(map(terminal.is_last, self._answers or ())):
            self._driver.stop_waiting(answered=False)

    def answered(self, message: Answered) -> None:
        if self._answers is None or self._driver is None:
            return
        self._answers.append(message.text)
        if terminal.is_last(message.text):
            self._driver.stop_waiting(answered=True)
            cell = terminal.cell_of(self._driver.fileno)
            ability = terminal.ability(self._answers, os.environ, cell)
            if ability.how and (ability.how != "sixel" or drawing.can_decode()):
                self.ability = ability
                self._paint_again()

    # --- in the transcript ---------------------------------------------------------------------

    def rows(self, part: Mapping[str, Any], width: int) -> list[Line]:
        """Return the lines of a picture; none if it is not drawn."""
        blob = lenient.text(part, "blob")
        across, down = lenient.integer(part, "width"), lenient.integer(part, "height")
        if not blob or not across or not down or unshown(dict(part)):
            return []
        self._ask()
        if not self.ability.inline or self._app.console.color_system not in ("256", "truecolor"):
            return []
        if self._app.no_color:
            return []
        room = max(1, min(width, COLUMNS, kitty.MAX_SIDE))
        columns, rows = terminal.fitted(across, down, self.ability.cell, room, ROWS)
        number = self._number(Place(self._app.session, blob, columns, rows))
        if number is None:
            return []
        return [[(kitty.row_of(number, row, columns), number.style)] for row in range(rows)]

    def _number(self, place: Place) -> kitty.Number | None:
        if place in self._known:
            number = self._known[place] = self._known.pop(place)  # the newest stand last
            return number
        number = self._known[place] = self.new_number()
        self._app.reader.blob(place.session, place.blob, partial(self._got, place, number))
        if len(self._known) > MAX_PICTURES:
            oldest = next(iter(self._known))
            self._forget(oldest)
            self._app.window.forget_lines()
        return number

    def new_number(self) -> kitty.Number:
        self._made += 1
        return kitty.Number(self._made, str(self._app.console.color_system))

    def _got(self, place: Place, number: kitty.Number, data: bytes | None) -> None:
        if self._known.get(place) is not number:
            return
        wide, high = self.ability.cell
        size = (place.columns * wide, place.rows * high)
        draw = partial(drawing.drawn, data or b"", "kitty", size, "")
        self._app.reader.fetch(draw, partial(self._drawn, place, number))

    def _drawn(self, place: Place, number: kitty.Number, png: bytes | None) -> None:
        if self._known.get(place) is not number:
            return
        if png is None:
            self._known[place] = None
            self._paint_again()
        else:
            self.send(number.whole, kitty.sent(number.whole, png, place.columns, place.rows))

    def _forget(self, place: Place) -> None:
        number = self._known.pop(place)
        if number is not None:
            self.delete(number.whole)

    def _paint_again(self) -> None:
        self._app.window.forget_lines()
        self._app.transcript.settle()

    # --- to the terminal -----------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Write to the terminal at once, between two pictures."""
        if self._driver is not None and text:
            self._driver.write(text)
            self._driver.flush()

    def send(self, number: int, commands: Iterable[str]) -> None:
        """Send a picture once everything written before is out. One after the other: the protocol
        allows only one that is partly sent."""
        self._there.add(number)
        self._line_up(commands)

    def delete(self, number: int) -> None:
        if number in self._there:
            self._line_up([kitty.deleted(number)], number)

    def _line_up(self, commands: Iterable[str], gone: int = 0) -> None:
        self._waiting.append((iter(commands), gone))
        if self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        driver = self._driver
        while self._waiting and driver is not None:
            commands, gone = self._waiting[0]
            piece = list(islice(commands, PIECE))
            while not driver.is_idle:  # noqa: ASYNC110 - the writer's thread tells nobody
                await asyncio.sleep(PAUSE)
            driver.write("".join(piece))
            driver.flush()
            self._amid = len(piece) == PIECE
            if not self._amid:
                self._waiting.pop(0)
                self._there.discard(gone)
            await asyncio.sleep(0)
        self._sending = None

    def _parting(self) -> str:
        """Return what deletes all pictures: the terminal is left, and nothing is to stay in it."""
        if self._sending is not None:
            self._sending.cancel()
        ended = [kitty.CUT] if self._amid else []
        deletions = [kitty.deleted(number) for number in sorted(self._there)]
        self._known, self._waiting, self._sending, self._amid = {}, [], None, False
        self._there = set()
        return "".join([*ended, *deletions])

    def _again(self) -> None:
        if self.ability.inline:
            self._paint_again()
