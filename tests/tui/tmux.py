"""The program in a real terminal: tmux holds it, types into it and reads what it shows."""

import itertools
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

SECONDS = 60.0
_NUMBERS = itertools.count()


class Tmux:
    """One terminal with one command in it, on a server of its own."""

    def __init__(self, home: Path, *command: str, size: tuple[int, int] = (100, 30)) -> None:
        self._server = f"rk{os.getpid()}-{next(_NUMBERS)}"
        wide, high = map(str, size)
        line = shlex.join(command or (sys.executable, "-m", "rookery"))
        words = ("sh", "-c", f"{line}; exec cat")  # what it says at its end stays to be read
        environment = {**os.environ, "ROOKERY_HOME": str(home), "TERM": "xterm-256color"}
        for name in ("COLUMNS", "LINES"):  # a test runner's own would count more than the terminal
            environment.pop(name, None)
        place = ("-d", "-x", wide, "-y", high, "-c", str(home))
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

    def type(self, text: str) -> None:
        self._call("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self._call("send-keys", *keys)

    def paste(self, text: str) -> None:
        """As a terminal does it: in brackets, where the program wants them."""
        self._call("set-buffer", text)
        self._call("paste-buffer", "-p", "-r")

    def wait_for_title(self, word: str) -> None:
        until = time.monotonic() + SECONDS
        while word not in (title := self._call("display-message", "-p", "#{pane_title}")):
            assert time.monotonic() < until, title
            time.sleep(0.05)

    def screen(self) -> str:
        return self._call("capture-pane", "-p")

    def wait_for(self, *words: str) -> str:
        """The screen, once it shows all of them."""
        return self._wait(lambda shown: all(word in shown for word in words), words)

    def wait_without(self, word: str) -> str:
        return self._wait(lambda shown: word not in shown, ("no", word))

    def _wait(self, is_there: "object", words: tuple[str, ...]) -> str:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            shown = self.screen()
            if is_there(shown):  # type: ignore[operator]
                return shown
            time.sleep(0.05)
        raise AssertionError(f"{words} did not come:\n{self.screen()}")

    def __enter__(self) -> "Tmux":
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
