"""A program in tmux, for the figures of the terminal interface: what it shows, and when."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from time import perf_counter, sleep

PATIENCE = 60.0


class Screen:
    """One terminal of its own. End it with `end`."""

    def __init__(self, command: Sequence[str], size: tuple[int, int] = (160, 50)) -> None:
        self._tmux = ["tmux", "-L", f"rkb{os.getpid()}-{id(self)}"]
        wide, high = map(str, size)
        begin = (*self._tmux, "-f", "/dev/null", "new-session", "-d", "-x", wide, "-y", high)
        self.began = perf_counter()
        line = "exec " + shlex.join(command)
        environment = {**os.environ, "TERM": "xterm-256color"}
        subprocess.run([*begin, "sh", "-c", line], check=True, env=environment)

    def call(self, *words: str) -> str:
        done = subprocess.run(
            [*self._tmux, *words], check=True, capture_output=True, text=True, timeout=PATIENCE
        )
        return done.stdout

    def shown(self) -> str:
        return self.call("capture-pane", "-p")

    def type(self, text: str) -> None:
        self.call("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self.call("send-keys", *keys)

    def wait_for(self, word: str) -> float:
        """Seconds from the start until it shows this."""
        until = perf_counter() + PATIENCE
        while perf_counter() < until:
            if word in self.shown():
                return perf_counter() - self.began
            sleep(0.002)
        raise TimeoutError(f"{word!r} did not come:\n{self.shown()}")

    def pid(self) -> int:
        return int(self.call("display-message", "-p", "#{pane_pid}"))

    def end(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
