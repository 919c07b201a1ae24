"""One bash behind a pseudo terminal. Nothing here sleeps in the hope that the shell is ready: after
each command it reports, marked with a secret word, how the command ended (`reports.py`)."""

import codecs
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from rookery.agent.terminal import ending
from rookery.agent.terminal.ending import GRACE
from rookery.agent.terminal.launch import launched
from rookery.agent.terminal.reports import BEGIN, END, FIELD, Reports, step_mark
from rookery.agent.terminal.transcript import Transcript
from rookery.core.vendors.environment import TERMINAL
from rookery.home import paths, scratch
from rookery.processes import offspring, strays, tree
from rookery.processes.tree import Process, forbidden, kill, still_alive, terminate, wait_gone

Waiting = selectors.PollSelector if sys.platform == "linux" else selectors.SelectSelector
"""`select` takes no descriptor above 1023, and a process with many sessions has them. Elsewhere a
terminal cannot be polled."""
PAGERS = {"PAGER": "cat", "GIT_PAGER": "cat"}
START_SECONDS = 10.0
SETTLE_SECONDS = 1.0
"""A shell that is closed while it reads its set-up files gets time to finish them: they may hold a
lock of the user's tools."""
READ = 65_536
LONGEST_PROMPT = 20_000
SYNTAX_ERROR = 2
LOOK = 0.05
PASSES = 3
"""Each ends what was started during the one before."""
INTERRUPT_TIMEOUT = 3.0
"""Seconds after which the shell itself is ended: something in it cannot be interrupted. On a busy
machine a prompt may take one or two to come back, and the shell is more than its command."""


class ShellEnded(Exception):
    """The shell is gone, and the command with it."""


class Prompt(NamedTuple):
    step: int
    exit_code: int
    directory: str


class Shell:
    def __init__(self, directory: str, environment: Mapping[str, str], path: str | None) -> None:
        self.directory = directory
        self.changed = threading.Condition()
        self.prompt: Prompt | None = None
        self.transcript = Transcript()
        self.step = 0
        self.ended = False
        self.status: int | None = None
        self.interrupted = False
        self.last_output = time.monotonic()
        self.left_behind: list[Process] = []
        self.listener: Callable[[str], None] | None = None
        self._environment = {name: environment[name] for name in environment if name != TERMINAL}
        self._path = path
        self._word = secrets.token_hex(8)
        self._mark = BEGIN + self._word
        self._pending = ""
        self._closing = False
        self._ending = False
        self._begun = False
        """The command runs: what is printed is its own."""
        self._last: list[str] = []
        self._earlier: frozenset[int] = frozenset()  # children of the shell before the command
        self._since = 0  # when the command was given
        self._master = -1
        self._terminal = ""
        self._wake: tuple[int, int] = (-1, -1)
        self._folder: str | None = None
        self._reports: Reports | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._threads: list[threading.Thread] = []

    # --- start ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the shell. Blocks until it is ready. Set-up files that never end, or that start
        another shell, are left out."""
        self._spawn(own_files=True)
        if self._wait_prompt(START_SECONDS):
            return
        if self._closing:
            raise ShellEnded("The shell was closed before it was ready.")
        self._end()
        self.ended, self.status, self._pending = False, None, ""
        self._spawn(own_files=False)
        if not self._wait_prompt(START_SECONDS):
            raise ShellEnded("bash did not start: no prompt came.")

    def _wait_prompt(self, seconds: float) -> bool:
        with self.changed:
            self.changed.wait_for(lambda: self.prompt is not None or self.ended, seconds)
            return self.prompt is not None

    def _spawn(self, *, own_files: bool) -> None:
        bash = self._path or shutil.which("bash", path=self._environment.get("PATH"))
        if bash is None:
            raise ShellEnded("There is no bash in PATH. Install bash to run commands.")
        self._folder = scratch.folder(paths.home(), "shell-")
        self._reports = Reports(self._folder, self._word)
        self._reports.write(own_files=own_files)
        options = ["--noediting", "--rcfile", self._reports.setup, "-i"]
        environment = {**PAGERS, **self._environment, "TERM": "xterm-256color"}
        self._process, master, self._terminal = launched(
            [bash, *options], self.directory, environment
        )
        self._master, self._wake = master, os.pipe()
        self._threads = [
            threading.Thread(target=work, args=(self._process,), daemon=True)
            for work in (self._read, self._wait)
        ]
        for thread in self._threads:
            thread.start()

    # --- commands -------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    @property
    def busy(self) -> bool:
        """Whether a command still runs."""
        return self.prompt is None or self.prompt.step != self.step

    def run(self, command: str) -> None:
        """Run a command of any length. The shell reads it from a file, so that nothing of it is
        taken for keys."""
        with self.changed:
            # What ends the last command would take this one's processes for its own.
            self.changed.wait_for(lambda: not self._ending or self.ended)
            before = self.prompt.exit_code if self.prompt else 0
            self.step += 1
            self.interrupted = self._begun = False
            self.last_output = time.monotonic()
            self._earlier, self._since = frozenset(tree.child_pids(self.pid)), offspring.now()
            self.transcript.take()
            assert self._reports is not None
            self._reports.write_command(self.step, before, command)
        self.type(self._reports.typed(self.step))

    def wait_begun(self, seconds: float) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self._begun or not self.busy or self.ended, seconds)

    def type(self, text: str) -> None:
        """Type text. Blocks while nothing reads it; an interrupt drops what is left."""
        left = text.encode("utf-8", "replace")
        with self.changed:
            step, self.last_output = self.step, time.monotonic()
            while left := self._typed(left):
                self.changed.wait(LOOK)
                if self.interrupted or self.step != step:
                    return

    def _typed(self, data: bytes) -> bytes:
        """Type as much as possible and return the rest."""
        try:
            return data[os.write(self._master, data) :]
        except BlockingIOError:
            return data
        except OSError as error:
            raise ShellEnded("The shell has ended.") from error

    def interrupt(self, tell: Callable[[str], object] = bool) -> bool:
        """End the foreground command, from any thread, without waiting for it. `tell` is called
        with a notice about processes of another user, which run on."""
        with self.changed:
            if not self.busy or self.ended or self.prompt is None:
                return False
            self.interrupted = True
            if self._ending:
                return True
            self._ending = True
        threading.Thread(target=self._end_command, args=(tell,), daemon=True).start()
        return True

    def _end_command(self, tell: Callable[[str], object]) -> None:
        try:
            left = end_foreground(self)
        finally:
            with self.changed:
                self._ending = False
                self.changed.notify_all()
        if left:
            names = (f"{strays.command_of(each.pid)} (pid {each.pid})" for each in left)
            tell(f"Still running as another user, who alone can end it: {strays.summary(names)}")

    def pause(self, seconds: float) -> None:
        """Wait until the command is over, but at most this long."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended or not self.busy, seconds)

    def started(self) -> list[Process]:
        """Return the running processes that the last command started, wherever they went."""
        step = TERMINAL, step_mark(self.step)
        return offspring.below_since(self.pid, self._earlier, self._since, step)

    def forget_input(self) -> None:
        """Discard input that the command has not read: the shell would read it, and run it."""
        with self.changed:
            if self._master >= 0 and self._begun:
                ending.forget_input(self._master, self._terminal)

    def foreground(self) -> int:
        """Return the process group that gets the terminal's keys; 0 if there is none."""
        with self.changed:
            try:
                return os.tcgetpgrp(self._master) if self._master >= 0 else 0
            except OSError:
                return 0

    # --- output ---------------------------------------------------------------------------------

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        master, wake = self._master, self._wake
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with Waiting() as waiting:
            for descriptor in (master, wake[0]):
                waiting.register(descriptor, selectors.EVENT_READ)
            while any(key.fd == master for key, _ in waiting.select()):
                try:
                    data = os.read(master, READ)
                except BlockingIOError:
                    continue
                except OSError:
                    break
                if not data:
                    break
                self._take(decoder.decode(data))
        with self.changed:
            if self._master == master:
                self._master, self._wake = -1, (-1, -1)
            for descriptor in (master, *wake):
                os.close(descriptor)
        # Losing its terminal ends the shell, which wakes those who wait for the command.
        process.wait()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        status = process.wait()
        left = ending.session_of(process.pid)
        with self.changed:
            if process is self._process:
                self.ended, self.status = True, status
            self.left_behind += left
            self.changed.notify_all()

    def _take(self, text: str) -> None:
        self._pending += text
        while (start := self._pending.find(self._mark)) >= 0:
            self._print(self._pending[:start])
            self._pending = self._pending[start:]
            end = self._pending.find(END)
            if end < 0 and len(self._pending) < LONGEST_PROMPT:
                return
            fields = self._pending[:end].split(FIELD)
            self._pending = self._pending[end + 1 :] if end >= 0 else ""
            self._marked(fields)
        begun = self._pending.rfind(BEGIN)
        if begun < 0 or not self._mark.startswith(self._pending[begun:]):
            begun = len(self._pending)
        ready, self._pending = self._pending[:begun], self._pending[begun:]
        self._print(ready)

    def _print(self, text: str) -> None:
        with self.changed:
            if not text or not self._begun:
                return  # the echo of what we typed, or words from before
            self.transcript.add(text)
            self.last_output = time.monotonic()
            listener = self.listener
            self.changed.notify_all()
        if listener is not None:
            listener(text)

    def _marked(self, fields: list[str]) -> None:
        """Note that a command has begun, or ended. An end counts only after a beginning, and once:
        the prompt reports it again."""
        if len(fields) == 2 and fields[1] == str(self.step):
            with self.changed:
                self._begun = True
                self.changed.notify_all()
        elif len(fields) == 4 and fields[2].isdecimal() and (self._begun or self.prompt is None):
            _, step, exit_code, directory = fields
            with self.changed:
                code = int(exit_code)
                if step and step != step_mark(self.step) and fields == self._last:
                    code = SYNTAX_ERROR  # after one bash shows its last prompt again, as it was
                self.prompt = Prompt(self.step, code, directory)
                self.directory = directory or self.directory
                self._begun, self._last = False, fields
                self.changed.notify_all()

    # --- end ------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the shell and all that it started. Blocks for about a second at most."""
        with self.changed:
            if self._closing:
                return
            self._closing = True
            if self._process is not None and not self.ended and self.prompt is None:
                self.changed.wait_for(lambda: self.prompt or self.ended, SETTLE_SECONDS)
        self._end()
        ending.end_all(self.left_behind)

    def _end(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            ending.end_session(process.pid)
        with self.changed:
            if self._wake[1] >= 0:
                os.write(self._wake[1], b"x")
            self.changed.notify_all()
        for thread in self._threads:
            thread.join()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def end_foreground(shell: Shell) -> list[Process]:
    """End the foreground command. Until the prompt is back, each group that comes to the foreground
    gets INT, then its tree KILL. The command's background jobs end with it, those of earlier
    commands stay. Returns the processes that still run because we may not signal them."""
    shell.wait_begun(INTERRUPT_TIMEOUT)
    shell.forget_input()
    foreign = forbidden(shell.started())
    _end_command(shell)
    return still_alive(foreign)


def _end_command(shell: Shell) -> None:
    begun = time.monotonic()
    _end_the_rest(shell)
    asked: dict[int, float] = {}
    trees: dict[int, Process] = {}
    while shell.busy and not shell.ended:
        now = time.monotonic()
        group = shell.foreground()
        if now - begun > INTERRUPT_TIMEOUT:
            ending.end_session(shell.pid)
            return
        if group and (group not in asked or (group == shell.pid and now - asked[group] > GRACE)):
            asked[group] = now
            trees |= {one.pid: one for one in ending.tree_of(group, shell.pid)}
            _interrupt(shell, group)
        elif group and group != shell.pid and now - asked[group] >= GRACE:
            trees |= {one.pid: one for one in ending.tree_of(group, shell.pid)}
            # The shell too: else it goes on with what stands after the killed command.
            _interrupt(shell, shell.pid)
            kill(still_alive(trees.values()))
        shell.pause(LOOK)
    for _ in range(PASSES):
        left = {one.pid: one for one in [*still_alive(trees.values()), *shell.started()]}
        if not left:
            return
        kill(wait_gone(left.values(), max(0.0, begun + GRACE - time.monotonic())))


def _end_the_rest(shell: Shell) -> None:
    """End the processes that the command started out of reach of its terminal's keys."""
    group = shell.foreground()
    near = {one.pid for one in ending.tree_of(group, shell.pid)} if group else set()
    terminate(one for one in shell.started() if one.pid not in near)


def _interrupt(shell: Shell, group: int) -> None:
    try:
        os.killpg(group, signal.SIGINT)
    except ProcessLookupError:
        return
    except PermissionError:
        # Another user's, by sudo: the terminal may send what we may not.
        shell.type("\x03")
