"""Drives the command line as a person or a script would: real processes, pipes and terminals."""

import errno
import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.rigs import forked
from tests.rigs.player import player

PLAIN = [sys.executable, "-m", "rookery"]
ROOKERY = PLAIN
SECONDS = 120.0
RIGGED = ("--cmd", shlex.join(player("demo")))
"""Flags: the demo agent, with the steps that only tests need."""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def rookery(
    *arguments: str, text: str | bytes = b"", cwd: Path | None = None, **environment: str
) -> Result:
    """Run a command to its end, piped; `environment` goes over our own."""
    given = text.encode() if isinstance(text, str) else text
    whole = os.environ | environment
    if ROOKERY is PLAIN and forked.can_run(arguments, whole):
        code, out, err = forked.run(arguments, given, str(cwd or Path.cwd()), whole, SECONDS)
        return Result(code, out.decode(), err.decode())
    done = subprocess.run(
        [*ROOKERY, *arguments],
        input=given,
        capture_output=True,
        check=False,
        timeout=SECONDS,
        cwd=cwd,
        env=whole,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def play(*steps: dict[str, Any]) -> str:
    """A prompt that tells the demo agent what to do."""
    return json.dumps({"play": steps})


def made(*steps: dict[str, Any], title: str = "", flags: Sequence[str] = ()) -> str:
    """A session whose first turn played these steps; its id."""
    first = rookery("run", *flags, "--json", "--title", title, play(*steps)).events[0]
    return str(first["update"]["id"])


class Running:
    """A command that is still running, in a process group of its own, with its stdout piped."""

    def __init__(self, *arguments: str) -> None:
        self.process: subprocess.Popen[bytes] | forked.Command
        if ROOKERY is PLAIN and forked.can_run(arguments, dict(os.environ)):
            self.process = forked.piped(arguments, dict(os.environ))
            return
        self.process = subprocess.Popen(
            [*ROOKERY, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )

    def read_until(self, word: str) -> str:
        """What came on stdout up to and with `word`."""
        assert self.process.stdout is not None
        return _read_until(self.process.stdout.fileno(), word).decode(errors="replace")

    def read_err_until(self, word: str) -> str:
        """What came on stderr up to and with `word`."""
        assert self.process.stderr is not None
        return _read_until(self.process.stderr.fileno(), word).decode(errors="replace")

    def signal(self, number: int = signal.SIGINT) -> None:
        """As a terminal does it: to the whole group."""
        os.killpg(self.process.pid, number)

    def end(self) -> Result:
        out, err = self.process.communicate(timeout=SECONDS)
        return Result(self.process.returncode, out.decode(), err.decode())

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.main, other = pty.openpty()
        termios.tcsetwinsize(other, (40, 100))
        whole = {**os.environ, "TERM": "xterm", **environment}
        self.process: subprocess.Popen[bytes] | forked.Command
        if ROOKERY is PLAIN and forked.can_run(arguments, whole):
            self.process = forked.Command(arguments, whole, [other] * 3, forked.TERMINAL)
        else:
            self.process = subprocess.Popen(
                [*ROOKERY, *arguments],
                stdin=other,
                stdout=other,
                stderr=other,
                env=whole,
                start_new_session=True,
                preexec_fn=_take_terminal,  # noqa: PLW1509 - the child is ours alone
            )
        os.close(other)
        self.seen = ""
        self._unread = b""

    def type(self, keys: str) -> None:
        os.write(self.main, keys.encode())

    def read_until(self, word: str) -> str:
        """What came after the last word is looked through, too."""
        data = _read_until(self.main, word, self._unread)
        self.seen += data[len(self._unread) :].decode(errors="replace")
        self._unread = data.partition(word.encode())[2]
        return self.seen

    def end(self) -> Result:
        self.seen += _read_until(self.main, "").decode(errors="replace")
        code = self.process.wait(SECONDS)
        return Result(code, self.seen, "")

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.main)


def _take_terminal() -> None:
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read_until(file: int, word: str, data: bytes = b"") -> bytes:
    """All that comes after `data`, up to and with a word; "": up to the end."""
    until = time.monotonic() + SECONDS
    poll = select.poll()
    poll.register(file, select.POLLIN)
    while not word or word.encode() not in data:
        assert poll.poll(max(0.0, until - time.monotonic()) * 1000), (
            f"{word!r} never came: {data!r}"
        )
        try:
            more = os.read(file, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # which is how Linux ends a terminal's output
                raise
            more = b""
        if not more:
            assert not word, f"{word!r} never came: {data!r}"
            break
        data += more
    return data
