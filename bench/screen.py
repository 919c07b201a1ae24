"""A program in tmux, for the figures of the terminal interface: what it shows, and when."""

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from itertools import count
from threading import Timer
from time import perf_counter, sleep

PATIENCE = 60.0
_NUMBERS = count()


class Screen:
    """One terminal of its own. End it with `end`."""

    def __init__(
        self,
        command: Sequence[str],
        size: tuple[int, int] = (160, 50),
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._tmux = ["tmux", "-L", f"rkb{os.getpid()}-{next(_NUMBERS)}"]
        wide, high = map(str, size)
        begin = (*self._tmux, "-f", "/dev/null", "new-session", "-d", "-x", wide, "-y", high)
        self.began = perf_counter()
        line = "exec " + shlex.join(command)
        given = {**environment, "TERM": "xterm-256color"}
        subprocess.run([*begin, "sh", "-c", line], check=True, env=given)

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

    def listen(self) -> "Listener":
        """What the program writes, as it comes."""
        return Listener([*self._tmux, "-C", "attach"])

    def end(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)


class Listener:
    """tmux in control mode: types, and hears all output, without a process for each look."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        # What is written before it is told of the session, it is not told of.
        while not self._out.readline().startswith((b"%session-changed", b"%exit")):
            pass

    def echo(self, letter: str) -> float:
        """Type a letter; seconds until the program writes it. Raises TimeoutError, EOFError."""
        late = Timer(PATIENCE, self._process.kill)  # its end is the end of what we read
        late.start()
        try:
            return self._heard(letter)
        finally:
            late.cancel()

    def _heard(self, letter: str) -> float:
        began, heard = perf_counter(), b""
        self._in.write(f"send-keys -l {letter}\n".encode())
        self._in.flush()
        for line in self._out:
            if line.startswith(b"%output"):  # one may end in the middle of a letter
                heard = heard[-8:] + line.split(b" ", 2)[2].rstrip(b"\r\n")
                if letter.encode() in heard:
                    return perf_counter() - began
        if perf_counter() - began < PATIENCE:
            raise EOFError("tmux went away")
        raise TimeoutError(f"{letter!r} was typed and not written within {PATIENCE:.0f} s")

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._in.close()
        self._out.close()
