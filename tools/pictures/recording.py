"""Record the terminal interface in a real terminal (tmux): two sessions ask, F2 y F2 y."""

import os
import time
from pathlib import Path

from tests.cli.driving import ROOKERY
from tests.tui.tmux import Tmux
from tools.pictures.drawing import Frame
from tools.pictures.scenes import Day

SIZE = (100, 27)
KEYS = ("F2", "y", "F2", "y")
TICK = 0.04
SHORTEST, LONGEST = 0.06, 1.8
"""What is seen for less is a screen half painted; nobody looks longer at one that stands still."""


class Recorder:
    """The screens that were seen, with the times at which they came. Waiting is cut short."""

    def __init__(self, screen: Tmux) -> None:
        self._screen, self._keys, self._cut = screen, 0, 0.0
        self._taken: list[Frame] = []
        """With the time at which each came, instead of how long it stayed."""

    def watch(self, word: str, *, seconds: float) -> None:
        """Take every change until the screen shows the word, and for some seconds more."""
        first, start, limit = len(self._taken), self._now(), time.monotonic() + 60
        while word not in (shown := self._screen.screen()):
            assert time.monotonic() < limit, f"{word!r} did not come:\n{shown}"
            self._take()
        self._hurry(first, start)
        end = self._now() + seconds
        while self._now() < end:
            self._take()

    def press(self, key: str) -> None:
        self._screen.press(key)
        self._keys += 1
        self._take()

    def frames(self) -> list[Frame]:
        times = [each.seconds for each in self._taken[1:]] + [self._now()]
        frames = [
            each._replace(seconds=min(until - each.seconds, LONGEST))
            for each, until in zip(self._taken, times, strict=True)
        ]
        return [frame for frame in frames if frame.seconds >= SHORTEST]

    def _now(self) -> float:
        return time.monotonic() - self._cut

    def _take(self) -> None:
        frame = Frame(self._screen.coloured(), self._now(), self._keys)
        before = self._taken[-1] if self._taken else None
        if before is None or frame._replace(seconds=before.seconds) != before:
            self._taken.append(frame)
        time.sleep(TICK)

    def _hurry(self, first: int, start: float) -> None:
        """What came since takes as long as one would wait for it, on however slow a machine."""
        took = self._now() - start
        if took <= LONGEST:
            return
        self._cut += took - LONGEST
        for n, frame in enumerate(self._taken[first:], first):
            at = start + (frame.seconds - start) * LONGEST / took
            self._taken[n] = frame._replace(seconds=at)


def two_asks(day: Day, place: Path) -> list[Frame]:
    """While you read one session, two others ask; four keys answer both."""
    os.environ["COLORTERM"] = "truecolor"
    os.environ.pop("NO_COLOR", None)
    command = (*ROOKERY, "open", day.ids["docs"])
    with Tmux(place / ".rookery", *command, size=SIZE, cwd=place / "site") as screen:
        screen.wait_for("Write API docs", "? keys")
        day.prompt("docs")
        screen.wait_for("has a description")
        taken = Recorder(screen)
        taken.watch("has a description", seconds=1.0)
        day.prompt("login")
        day.prompt("polars")
        taken.watch("Needs you 2", seconds=2.0)
        for number, after in enumerate(["Needs you 1", "Idle 2"]):
            taken.press(KEYS[2 * number])
            taken.watch("y  allow once", seconds=2.6)
            taken.press(KEYS[2 * number + 1])
            taken.watch(after, seconds=2.2)
    return taken.frames()
