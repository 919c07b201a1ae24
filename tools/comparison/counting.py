"""A terminal that counts: keys, but not the letters of what is written, which are the same for
every program; and seconds."""

import time
from pathlib import Path
from typing import ClassVar

from tests.tui.tmux import Tmux

READING = 1.5


class Terminal(Tmux):
    _open: ClassVar[list["Terminal"]] = []

    def __init__(
        self,
        home: Path,
        *command: str,
        cwd: Path,
        size: tuple[int, int] = (110, 50),
        seconds: float = 40,
    ) -> None:
        self.keys = 0
        self._began = time.monotonic()
        self.seconds = 0.0
        self.note = ""
        """What the figures do not say."""
        self._open.append(self)
        super().__init__(home, *command, size=size, cwd=cwd, seconds=seconds)

    def count(self) -> None:
        """From here on."""
        self.keys = 0
        self._began = time.monotonic()

    def read(self) -> None:
        """Let a reader read a question, and count from there."""
        time.sleep(READING)
        self.count()

    def say(self, text: str) -> None:
        """Enter sends what has been drawn: some programs take it before letters that came first."""
        self.type(text)
        self.wait_for(text)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        self.keys += len(keys)
        super().press(*keys)

    def begin_with(self, sign: str, text: str) -> None:
        """A sign that is a key, such as `!`, and what follows it."""
        self.keys += 1
        self.type(sign + text)

    def choose(self, command: str) -> None:
        """The letters of a command, which are keys: nobody wanted to write them."""
        self.keys += len(command)
        self.type(command)

    def comes(self, *words: str, seconds: float) -> bool:
        """Whether the screen shows them all within this time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            shown = self.screen()
            if all(word in shown for word in words):
                self.seconds = time.monotonic() - self._began
                return True
            time.sleep(0.05)
        return False

    def go_on(self, other: "Terminal") -> None:
        """Counts on where the other has stopped."""
        self.keys, self._began = other.keys, other._began

    def wait_for(self, *words: str) -> str:
        shown = super().wait_for(*words)
        self.seconds = time.monotonic() - self._began
        return shown

    @classmethod
    def last_screen(cls) -> str:
        return cls._open[-1].screen() if cls._open else ""

    @classmethod
    def close_all(cls) -> None:
        while cls._open:
            cls._open.pop().__exit__()
