"""A terminal that counts: keys, but not the letters of what is written, which are the same for
every program; and seconds."""

import time
from pathlib import Path

from tests.tui.tmux import Tmux


class Terminal(Tmux):
    def __init__(
        self, home: Path, *command: str, cwd: Path, size: tuple[int, int] = (110, 50)
    ) -> None:
        self.keys = 0
        self._began = time.monotonic()
        self.seconds = 0.0
        super().__init__(home, *command, size=size, cwd=cwd, seconds=60)

    def count(self) -> None:
        """From here on."""
        self.keys = 0
        self._began = time.monotonic()

    def press(self, *keys: str) -> None:
        self.keys += len(keys)
        super().press(*keys)

    def begin_with(self, sign: str, text: str) -> None:
        """A sign that is a key, such as `!`, and what follows it."""
        self.keys += 1
        self.type(sign + text)

    def wait_for(self, *words: str) -> str:
        shown = super().wait_for(*words)
        self.seconds = time.monotonic() - self._began
        return shown

    def close(self) -> None:
        self.__exit__()
