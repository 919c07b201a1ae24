"""How a shell reports that a command has begun and how it ended, whatever the command did to the
shell: unset variables, a prompt of its own, `PROMPT_COMMAND` that never ends, stderr closed.

Commands inherit only the variable by which processes that they leave behind are found. The rest is
in two files, whose paths are in the typed line."""

import os
import shlex
from pathlib import Path

from rookery.core.vendors.environment import TERMINAL

BEGIN, FIELD, END = "\x1e", "\x1f", "\x1d"

OWN_FILES = """for REPLY in /etc/bash.bashrc /etc/bashrc ~/.bashrc; do
[ -r "$REPLY" ] && . "$REPLY"
done
unset REPLY
"""


class Reports:
    def __init__(self, folder: str, word: str) -> None:
        self.folder = folder
        self.setup = os.path.join(folder, "setup")
        self._command = os.path.join(folder, "command")
        self._after = os.path.join(folder, "after")
        self._theirs = shlex.quote(os.path.join(folder, "theirs"))
        self._word = word
        last = "${" + TERMINAL + ":-}"
        fields = (last, "$?", "$PWD")
        self._prompt = BEGIN + word + "".join(FIELD + field for field in fields) + END
        # After an interrupt bash leaves out the rest of a line, but not this.
        self._prompt_command = self._reporting(f'"{last}"') + " || :"

    def write(self, *, own_files: bool) -> None:
        """Write the files that the shell reads at its start and after each command. `own_files`:
        include the user's set-up files."""
        setup = [
            *([OWN_FILES] if own_files else []),
            f"export {TERMINAL}={step_mark(0)}",
            "set +H",
            "unset HISTFILE",
            # When we are killed, the terminal hangs up.
            f"trap {shlex.quote(f'rm -rf {shlex.quote(self.folder)}')} EXIT",
            self._arm(),
            # One that the user's files made readonly stays, and is trusted.
            f"{self._is_armed()} || : >{self._theirs}",
            f". {shlex.quote(self._after)} {step_mark(0)} 0 3>&2",
        ]
        after = [
            self._arm(),
            # The prompt would not come, perhaps never: the next command gets a new shell. (Of
            # stopped jobs bash warns at the first exit.)
            f"{self._is_armed()} || [ -e {self._theirs} ] "
            '|| { \\builtin exit "$2"; \\builtin exit "$2"; }',
            # It would come unseen.
            f'[ -t 3 ] && [ "$PS1" = {shlex.quote(self._prompt)} ] && {self._is_armed()} '
            f"&& \\shopt -q promptvars || {self._report()}",
            '\\builtin return "$2"',
        ]
        Path(self.setup).write_text("\n".join([*setup, ""]))
        Path(self._after).write_text("\n".join([*after, ""]))

    def _report(self) -> str:
        printf_format = f"'\\036{self._word}\\037%s\\037%s\\037%s\\035'"
        return f'\\builtin printf {printf_format} "$1" "$2" "$PWD" >/dev/tty'

    def _arm(self) -> str:
        """Let the prompt report, after bash's messages about jobs. Not by plain assignment, which
        ends the line if the variable is readonly."""
        armed = f"PS1={shlex.quote(self._prompt)} PS2= PROMPT_COMMAND={self._quoted()}"
        return (
            "\\builtin unset PROMPT_COMMAND 2>/dev/null || :\n"
            f"\\builtin declare +x {armed} 2>/dev/null || :"
        )

    def _is_armed(self) -> str:
        return f'[ "${{PROMPT_COMMAND[*]}}" = {self._quoted()} ]'

    def _quoted(self) -> str:
        return shlex.quote(self._prompt_command)

    def write_command(self, step: int, before: int, command: str) -> None:
        """Put a command where the typed line finds it. `before`: the exit code that it sees."""
        begun = f"\\builtin printf '\\036{self._word}\\037{step}\\035' >/dev/tty"
        first = f"\\export {TERMINAL}={step_mark(step)}; {begun}"
        if before:  # not where a failure ends the shell
            first += f"; case $- in *e*) ;; *) (exit {before}) ;; esac"
        if not os.path.exists(self._after):  # a command removed it
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            self.write(own_files=False)
        text = f"{first}\n{command}\n".replace("\x00", "")
        descriptor = os.open(self._command, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))

    def typed(self, step: int) -> str:
        """Return the line that runs the command, whatever aliases there are."""
        return f'\\eval "$(<{shlex.quote(self._command)})"; {self._reporting(step_mark(step))}\n'

    def _reporting(self, step: str) -> str:
        return f"{{ \\. {shlex.quote(self._after)} {step} $?; }} 3>&2 2>/dev/null"


def step_mark(step: int) -> str:
    """Return the mark in the environment of a command's processes."""
    return f"shell.{step}"
