"""The user's own shell in a pseudo-terminal: it keeps its directory, variables and aliases from one
line to the next."""

import asyncio
import codecs
import fcntl
import os
import re
import secrets
import shlex
import shutil
import signal
import struct
import tempfile
import termios
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import partial

PIECE = 65_536
BREATH = 0.002
"""Seconds between two reads of a flood: a terminal gives 4 KiB at a time."""

FRAME = 0.05
"""Seconds between two pieces of output that are shown."""

GRACE = 0.4
"""Seconds for a command to end after each thing that is done to end it."""

ROWS = 24
FLAGS = {
    "bash": ("--noediting", "-i"),
    "zsh": ("+o", "zle", "-i"),
    **dict.fromkeys(("sh", "dash", "ash", "ksh", "mksh"), ("-i",)),
}
"""The shells that take our lines; for any other, bash or sh stands in."""

NO_PAGER = dict.fromkeys(("PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER"), "cat")
"""Nobody could turn its pages here."""

_SIGN = "\x1b]7331;"
_ON_OUR_TERMINAL = 'exec "$@" <>"$0" >&0 2>&0'
"""For sh in a new session: what it opens first becomes its terminal."""


State = Enum("State", "OFF STARTING READY RUNNING REPORTING")


class UserShell:
    """A shell, run in the reader's thread. `say` gets output, and at the end of a line its exit
    code: negative if it was stopped."""

    def __init__(self, cwd: str, say: Callable[[str, int | None], object]) -> None:
        self.cwd = cwd
        """Where it is: the directory at the end of the last line."""
        self._say = say
        self._token = secrets.token_hex(8)
        self._mark = re.compile(
            re.escape(_SIGN + self._token) + r"(?:;(?P<code>\d+);(?P<cwd>[^\x07]*))?\x07"
        )
        self._state = State.OFF
        self._process: asyncio.subprocess.Process | None = None
        self._ending: asyncio.Task[None] | None = None
        """Waits for the end of the process."""
        self._master = self._slave = -1
        """Ours of the slave is closed once the shell has its own: one without a holder hangs up."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        """The beginning of what may be a mark."""
        self._unsaid: list[str] = []
        self._frame: asyncio.TimerHandle | None = None
        self._line = ""
        """To be run at the first prompt."""
        self._typed = ""
        """For that line."""
        self._file = ""
        self._code: int | None = None
        self._stopped = False
        self._over = asyncio.Event()
        """Set while no line runs."""

    @property
    def is_busy(self) -> bool:
        return bool(self._line) or self._state in (State.RUNNING, State.REPORTING)

    async def run(self, line: str, columns: int) -> None:
        self._line, self._stopped = line, False
        self._over.clear()
        if self._state is State.OFF:
            try:
                await self._start()
            except OSError as error:
                self._say(f"{error.strerror or error}\n", None)
                self._code = 127
                self._end()
                return
        size = struct.pack("HHHH", ROWS, max(20, columns), 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        if self._state is State.READY:
            self._begin()

    def type(self, text: str) -> None:
        """Pass typed text to the command that runs, or is about to."""
        if self._line:
            self._typed += text
        else:
            self._write(text)

    def _write(self, text: str) -> None:
        if self._master >= 0:
            with suppress(OSError):  # it takes nothing more, or is just ending
                os.write(self._master, text.encode())

    async def stop(self) -> None:
        """Interrupt the line; a command that ignores that is killed, at last with the shell. One
        interrupt is not enough: it may fall between two commands, or before one that has just
        begun."""
        self._stopped = True
        if self._state is State.STARTING:
            self.close()
        interrupt = partial(self._write, "\x03")
        for stop in (*(interrupt,) * 3, *(self._kill_command,) * 3, self.close):
            if not self.is_busy:
                return
            stop()
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await self._over.wait()

    def close(self) -> None:
        """Hang up. The shell passes that on to its jobs."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGHUP)
        self._end()

    async def gone(self) -> None:
        """Wait until the last process has ended."""
        if self._ending is not None:
            await self._ending

    # --- the process ---------------------------------------------------------------------------

    async def _start(self) -> None:
        program = shell_of(os.environ.get("SHELL", ""))
        environment = {**os.environ, **NO_PAGER}
        for name in ("COLUMNS", "LINES"):
            environment.pop(name, None)
        self._state = State.STARTING
        self._master, self._slave = os.openpty()
        os.set_blocking(self._master, False)
        _quieten(self._slave)
        self._process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", _ON_OUR_TERMINAL, os.ttyname(self._slave), *program),
            cwd=self.cwd,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        self._listen()
        self._ending = asyncio.create_task(self._await_end(self._process))
        self._write(_SET_UP.format(token=self._token))

    async def _await_end(self, process: asyncio.subprocess.Process) -> None:
        code = await process.wait()
        if process is self._process:
            while self._read():
                pass
            self._code = code
            self._end()

    def _end(self) -> None:
        """Clean up after the shell; the next line starts another one, in the same directory."""
        busy = self.is_busy
        if self._master >= 0:
            with suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(self._master)
            os.close(self._master)
        self._close_slave()
        self._master, self._process, self._state = -1, None, State.OFF
        self._line, self._typed, self._held = "", "", ""
        self._remove_file()
        if busy:
            self._finish(self._code or 0)

    def _finish(self, code: int) -> None:
        self._over.set()
        self._flush()
        self._say("", -signal.SIGINT if self._stopped else code)

    def _close_slave(self) -> None:
        if self._slave >= 0:
            os.close(self._slave)
            self._slave = -1

    def _kill_command(self) -> None:
        with suppress(OSError):
            group = os.tcgetpgrp(self._master)
            if self._process is not None and group != self._process.pid:
                # The shell too: else it goes on with what stands after the killed command.
                os.kill(self._process.pid, signal.SIGINT)
                os.killpg(group, signal.SIGKILL)

    # --- what it prints ------------------------------------------------------------------------

    def _listen(self) -> None:
        if self._master >= 0:
            asyncio.get_running_loop().add_reader(self._master, self._read)

    def _read(self) -> bool:
        """Read output; return whether there was any."""
        loop = asyncio.get_running_loop()
        try:
            data = os.read(self._master, PIECE) if self._master >= 0 else b""
        except BlockingIOError:
            return False
        except OSError:  # the other end is closed
            data = b""
        loop.remove_reader(self._master)
        if data:
            loop.call_later(BREATH, self._listen)
            self._take(self._held + self._decoder.decode(data))
        return bool(data)

    def _take(self, text: str) -> None:
        place = 0
        for match in self._mark.finditer(text):
            self._show(text[place : match.start()])
            place = match.end()
            self._prompted(match)
        rest = text[place:]
        at = rest.rfind("\x1b")
        is_mark = at >= 0 and (rest[at:].startswith(_SIGN) or _SIGN.startswith(rest[at:]))
        self._held = rest[at:] if is_mark else ""
        self._show(rest[:at] if is_mark else rest)

    def _show(self, text: str) -> None:
        if text and self._state not in (State.OFF, State.STARTING):
            self._unsaid.append(text)
            if self._frame is None:
                self._next_frame()

    def _next_frame(self) -> None:
        """Show the first output at once, and what follows together."""
        self._frame = None
        if self._flush():
            self._frame = asyncio.get_running_loop().call_later(FRAME, self._next_frame)

    def _flush(self) -> bool:
        text = "".join(self._unsaid)
        self._unsaid.clear()
        if text:
            self._say(text, None)
        return bool(text)

    def _prompted(self, mark: re.Match[str]) -> None:
        match self._state:
            case State.STARTING:
                self._state = State.READY
                self._close_slave()
                if self._line:
                    self._begin()
            case State.RUNNING:
                self._state, self._code = State.REPORTING, None
                self._remove_file()
                self._write(_REPORT.format(token=self._token))
            case State.REPORTING if mark["code"] is not None:
                self._code, self.cwd = int(mark["code"]), mark["cwd"]
            case State.REPORTING if self._code is not None:
                self._state = State.READY
                self._finish(self._code)

    def _begin(self) -> None:
        """Run the line from a file: a terminal cuts long lines."""
        handle, self._file = tempfile.mkstemp(prefix="rookery-line-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(self._line)
        self._line, self._state = "", State.RUNNING
        typed, self._typed = self._typed, ""
        self._write(f'eval "$(cat {shlex.quote(self._file)})"; __rookery_prompt\n{typed}')

    def _remove_file(self) -> None:
        with suppress(FileNotFoundError):
            if self._file:
                os.unlink(self._file)
        self._file = ""


# In both, the escape is spelled out: an echo of the line is not taken for a mark. A prompt that a
# line sets, such as that of a Python environment, is undone before it is shown.
_SET_UP = (
    ' unset HISTFILE; if [ -n "${{ZSH_VERSION:-}}" ]; then setopt nopromptcr nopromptsp; fi; '
    "__rookery_prompt() {{ __rookery_code=$?; unset PROMPT_COMMAND precmd_functions; "
    "unset -f precmd 2>/dev/null; PS2= PS1=\"$(printf '\\033]7331;{token}\\007')\"; "
    "return $__rookery_code; }}; __rookery_prompt\n"
)
_REPORT = ' printf \'\\033]7331;{token};%s;%s\\007\' "$?" "$PWD"\n'


def shell_of(preferred: str) -> list[str]:
    """Return the shell's program and its flags."""
    name = os.path.basename(preferred)
    if name not in FLAGS or shutil.which(preferred) is None:
        preferred = shutil.which("bash") or "/bin/sh"
    return [preferred, *FLAGS[os.path.basename(preferred)]]


def _quieten(terminal: int) -> None:
    """Turn off echo, so that our own lines are not read back."""
    flags = termios.tcgetattr(terminal)
    flags[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, flags)
