"""The program in a real terminal: tmux holds it, types into it and reads what it shows."""

import itertools
import os
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from tests.cli.driving import ROOKERY

SECONDS = 120.0
_NUMBERS = itertools.count()


class Tmux:
    """One terminal with one command in it, on a server of its own."""

    def __init__(
        self,
        home: Path,
        *command: str,
        size: tuple[int, int] = (100, 30),
        cwd: Path | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._seconds = seconds
        self._server = f"rk{os.getpid()}-{next(_NUMBERS)}"
        wide, high = map(str, size)
        line = shlex.join(command or ROOKERY)
        words = ("sh", "-c", f"{line}; exec cat")  # what it says at its end stays to be read
        environment = {**os.environ, "ROOKERY_HOME": str(home), "TERM": "xterm-256color"}
        for name in ("COLUMNS", "LINES"):  # a test runner's own would count more than the terminal
            environment.pop(name, None)
        place = ("-d", "-x", wide, "-y", high, "-c", str(cwd or home))
        subprocess.run(
            [*self._tmux, "-f", "/dev/null", "new-session", *place, *words],
            check=True,
            env=environment,
        )

    @property
    def _tmux(self) -> list[str]:
        return ["tmux", "-L", self._server]

    def _call(self, *words: str) -> str:
        done = subprocess.run(
            [*self._tmux, *words], check=True, capture_output=True, text=True, timeout=SECONDS
        )
        return done.stdout

    def ready(self) -> None:
        """Wait until it can be written to."""
        self.wait_for("F1 lists")

    def say(self, text: str) -> None:
        """Typed, and sent with Enter."""
        self.type(text)
        self.press("Enter")

    def type(self, text: str) -> None:
        self._call("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self._call("send-keys", *keys)

    def press_until(self, key: str, word: str) -> None:
        """Again and again, each time alone, until the screen shows the word."""
        until = time.monotonic() + self._seconds
        while word not in (shown := self.screen()):
            assert time.monotonic() < until, f"{word!r} did not come:\n{shown}"
            self.press(key)
            again = time.monotonic() + 2
            while time.monotonic() < again and word not in self.screen():
                time.sleep(0.05)

    def paste(self, text: str) -> None:
        """As a terminal does it: in brackets, where the program wants them, and with CR for each
        newline."""
        self._call("set-buffer", text)
        self._call("paste-buffer", "-p")

    def title(self) -> str:
        return self._call("display-message", "-p", "#{pane_title}")

    def screen(self) -> str:
        return self._call("capture-pane", "-p")

    def coloured(self) -> str:
        """The screen with its escape sequences, and the spaces at the end of lines."""
        return self._call("capture-pane", "-p", "-e", "-N")

    def wait_for_title(self, word: str) -> None:
        self._wait(self.title, lambda title: word in title, f"{word!r} in the title")

    def wait_for(self, *words: str) -> str:
        """The screen, once it shows all of them."""
        return self._wait(self.screen, lambda shown: all(w in shown for w in words), str(words))

    def wait_without(self, word: str) -> str:
        return self._wait(self.screen, lambda shown: word not in shown, f"no {word!r}")

    def _wait(self, look: Callable[[], str], is_there: Callable[[str], bool], what: str) -> str:
        until = time.monotonic() + self._seconds
        while not is_there(shown := look()):
            assert time.monotonic() < until, f"{what} did not come:\n{shown}"
            time.sleep(0.05)
        return shown

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
