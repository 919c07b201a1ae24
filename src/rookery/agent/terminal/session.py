"""The terminal as the model sees it: runs one command at a time, waits for it within a time limit,
and returns its output."""

import getpass
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Literal

from openhands.sdk.utils import maybe_truncate
from openhands.tools.terminal import constants
from openhands.tools.terminal.definition import TerminalAction, TerminalObservation
from openhands.tools.terminal.env import build_terminal_env
from openhands.tools.terminal.metadata import CmdOutputMetadata
from openhands.tools.terminal.timeout_policy import foreground_timeout_rejection_for
from openhands.tools.terminal.utils.escape_filter import TerminalQueryFilter

from rookery.agent.terminal.shell import Shell, ShellEnded

INTERRUPTED = 130
KEYS = {"ENTER": "\n", "TAB": "\t", "BS": "\x7f", "ESC": "\x1b"}
KEYS |= {"UP": "\x1b[A", "DOWN": "\x1b[B", "RIGHT": "\x1b[C", "LEFT": "\x1b[D"}
KEYS |= {"HOME": "\x1b[H", "END": "\x1b[F", "PGUP": "\x1b[5~", "PGDN": "\x1b[6~"}

PREVIOUS = "[output of the previous command]\n"
RUNNING = (
    "An empty `command` reads on; with `is_input` you can type into it, or end it with C-c. For "
    "long commands, set `timeout`."
)

type Outcome = Literal["completed", "ended", "quiet", "late"]


def keys_of(text: str) -> str:
    """Return the characters to type for an input: a named key, a control key, or a line."""
    word = text.strip().upper()
    if word in KEYS:
        return KEYS[word]
    for prefix in ("C-", "CTRL-", "CTRL+"):
        letter = word.removeprefix(prefix)
        if letter != word and len(letter) == 1 and "A" <= letter <= "Z":
            return chr(ord(letter) & 0x1F)
    return text + "\n"


def _is_same(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


class Session:
    def __init__(
        self,
        directory: str,
        quiet_seconds: int | None = None,
        shell_path: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.terminal = SimpleNamespace(is_powershell=lambda: False)  # the SDK asks
        self.work_dir = directory
        self.quiet_seconds = quiet_seconds or constants.NO_CHANGE_TIMEOUT_SECONDS
        self._shell_path = shell_path
        self._environment = environment
        self._shell: Shell | None = None
        self._making = threading.Lock()
        self._waiting = False
        self._closed = False

    # --- the shell ------------------------------------------------------------------------------

    def shell(self) -> Shell:
        """Return the living shell; a new one is started in the last one's directory."""
        with self._making:
            if self._closed:
                raise ShellEnded("The terminal is closed.")
            old = self._shell
            if old is not None and not old.ended:
                return old
            kept = old is not None and os.path.isdir(old.directory)
            directory = old.directory if old is not None and kept else self.work_dir
            shell = Shell(directory, build_terminal_env(self._environment), self._shell_path)
            shell.left_behind = old.left_behind if old else []
            self._shell, self._waiting = shell, False
            shell.start()
            return shell

    @property
    def directory(self) -> str:
        """The shell's directory, or the one that it will start in."""
        here = self._shell.directory if self._shell is not None else ""
        return here if here and os.path.isdir(here) else self.work_dir

    def interrupt(self, tell: Callable[[str], object] = bool) -> bool:
        return self._shell is not None and self._shell.interrupt(tell)

    def close(self) -> None:
        self._closed = True
        if self._shell is not None:
            self._shell.close()
        with self._making:  # one that was being made just now
            if self._shell is not None:
                self._shell.close()

    def reset(self) -> None:
        """Give the next command a new shell in the first directory."""
        with self._making:
            if self._shell is not None:
                self._shell.close()
            self._shell = None

    # --- commands -------------------------------------------------------------------------------

    def execute(
        self, action: TerminalAction, listener: Callable[[str], None] | None = None
    ) -> TerminalObservation:
        command = action.command.strip()
        refusal = foreground_timeout_rejection_for(
            command=command, is_input=action.is_input, timeout=action.timeout
        )
        if "\0" in command:  # bash leaves it out: `r\0m` was judged as another word than it runs
            refusal = "A command cannot contain a null character."
        if refusal is not None:
            return TerminalObservation.from_text(refusal, command=command, is_error=True)
        shell = self.shell()
        if not self._waiting and (not command or action.is_input):
            wish = "interact with" if action.is_input else "retrieve logs from"
            text = f"No previous running command to {wish}."
            return TerminalObservation.from_text(text, command=command, is_error=True)
        if self._waiting and shell.busy and command and not action.is_input:
            return self._still_running(shell, command)
        shell.listener = listener
        try:
            if action.is_input:
                shell.type(keys_of(command))
            elif command and not (self._waiting and shell.busy):
                shell.run(command)
            outcome = self._wait(shell, action.timeout)
        except ShellEnded:
            outcome = "ended"
        finally:
            shell.listener = None
        return self._answer(shell, command, outcome, action)

    def _wait(self, shell: Shell, timeout: float | None) -> Outcome:
        begun = time.monotonic()
        with shell.changed:
            while shell.busy and not shell.ended:
                if shell.interrupted:
                    # Its end is on the way, whatever the clock says.
                    shell.changed.wait(1.0)
                    continue
                quiet = timeout is None
                until = shell.last_output + self.quiet_seconds if quiet else begun + (timeout or 0)
                left = min(until - time.monotonic(), threading.TIMEOUT_MAX)
                if left <= 0:
                    return "quiet" if quiet else "late"
                shell.changed.wait(left)
            return "ended" if shell.busy else "completed"

    # --- answers --------------------------------------------------------------------------------

    def _answer(
        self, shell: Shell, command: str, outcome: Outcome, action: TerminalAction
    ) -> TerminalObservation:
        continued = self._waiting
        self._waiting = outcome in {"quiet", "late"}
        code = -1
        if outcome == "completed" and shell.prompt is not None:
            code = shell.prompt.exit_code
        elif outcome == "ended" and shell.status is not None:
            code = shell.status if shell.status >= 0 else 128 - shell.status
        if shell.interrupted and not self._waiting:
            code = code if code > 0 else INTERRUPTED
            footer = f"interrupted, exit code {code}"
        elif outcome == "completed":
            footer = f"exit code {code}"
            if action.is_input and len(keys := keys_of(command)) == 1 and keys < "\x1b":
                footer += f", C-{chr(ord(keys) | 0x60)} was sent"
        elif self._waiting:
            footer = f"still running, without output for {self.quiet_seconds} s. {RUNNING}"
            if outcome == "late":
                footer = f"still running after {action.timeout:g} s. {RUNNING}"
        else:
            footer = f"the shell ended with exit code {code}"
        if shell.ended:
            footer += "; the next command gets a new shell here, without exported variables"
        elif not self._waiting and not _is_same(shell.directory, self.work_dir):
            footer += f", in {shell.directory}"
        metadata = CmdOutputMetadata() if self._waiting else self._metadata(shell, code)
        metadata.prefix, metadata.suffix = PREVIOUS if continued else "", f"[{footer}]"
        return self._observation(shell, command, metadata, is_error=False)

    def _still_running(self, shell: Shell, command: str) -> TerminalObservation:
        footer = f'[not run, because the previous command is still running: "{command}". {RUNNING}]'
        metadata = CmdOutputMetadata(prefix=PREVIOUS, suffix=footer)
        return self._observation(shell, command, metadata, is_error=True)

    def _metadata(self, shell: Shell, code: int) -> CmdOutputMetadata:
        user = None
        with suppress(OSError, KeyError):
            user = getpass.getuser()
        return CmdOutputMetadata(
            exit_code=code,
            username=user,
            hostname=os.uname().nodename,
            working_dir=shell.directory,
        )

    def _observation(
        self, shell: Shell, command: str, metadata: CmdOutputMetadata, is_error: bool
    ) -> TerminalObservation:
        with shell.changed:
            text = shell.transcript.take()
        queries = TerminalQueryFilter()
        text = (queries.filter(text) + queries.flush()).strip("\n").rstrip()
        if text:
            metadata.suffix = f"\n{metadata.suffix}"
        return TerminalObservation.from_text(
            text=maybe_truncate(text, truncate_after=constants.MAX_CMD_OUTPUT_SIZE),
            command=command,
            metadata=metadata,
            exit_code=metadata.exit_code,
            is_error=is_error,
        )
