"""Lines that begin with `!`: they run in the user's own shell, one for each directory. The agent
gets their output only by a key."""

from typing import TYPE_CHECKING

from rookery.home import paths
from rookery.render import terminal
from rookery.tui import system
from rookery.tui.shell import Shell
from rookery.tui.widgets.shell_panel import ShellPanel

if TYPE_CHECKING:
    from rookery.tui.system.user_shell import UserShell

EDGE = 4
"""Columns of the panel that are not the shell's."""


class ShellLines:
    def __init__(self, app: Shell) -> None:
        self._app = app
        self._shells: dict[str, UserShell] = {}
        self._current: UserShell | None = None
        """Whose line the panel shows."""

    @property
    def panel(self) -> ShellPanel:
        return self._app.below(ShellPanel)

    def run(self, line: str, cwd: str) -> None:
        """Run a line. While one runs, the next is typed into it."""
        if self.panel.running:
            if self._current is not None:
                self._app.reader.call_in(self._current.type, f"{line}\n")
            return
        columns, panel = self._app.transcript.size.width - EDGE, self.panel
        panel.begin(line)
        self._app.reader.run(lambda: self._run(line, cwd, columns, panel))

    async def _run(self, line: str, cwd: str, columns: int, panel: ShellPanel) -> None:
        def say(text: str, code: int | None) -> None:
            if self._shells[cwd] is self._current:
                self._app.reader.call(panel.say, text, code)

        if cwd not in self._shells:
            self._shells[cwd] = system.user_shell.UserShell(cwd, say)
        self._current = self._shells[cwd]
        self._app.reader.call(panel.place, self._current.cwd)
        await self._current.run(line, columns)

    def leave(self) -> bool:
        """Stop the command, or close its output (Esc). Return whether there was one."""
        if self.panel.running:
            if self._current is not None:
                self._app.reader.run(self._current.stop)
            return True
        shown = bool(self.panel.display)
        self.panel.close()
        return shown

    def hand_over(self, written: str) -> str:
        """Return a prompt with the output after the written text, and close the panel if the line
        is over; "" if there is no output to hand over."""
        panel = self.panel
        if not panel.display:
            return ""
        prompt = as_prompt(written, panel.line, panel.where, panel.code, panel.output)
        if not panel.running:
            panel.close()
        return prompt

    def end(self) -> None:
        """Close all shells, before the reader stops."""
        for shell in self._shells.values():
            self._app.reader.call_in(shell.close)


def as_prompt(written: str, line: str, cwd: str, code: int | None, output: str) -> str:
    """Return a prompt with the output as a terminal would show it, without colours."""
    rows = ["".join(text for text, _ in row).rstrip() for row in terminal.lines_of(output)]
    text = "\n".join(rows).strip("\n")
    ended = "still running" if code is None else f"exit {code}" if code >= 0 else "stopped"
    fence = "```"
    while fence in text:
        fence += "`"
    where = f" in {paths.with_tilde(cwd)}" if cwd else ""
    report = f"I ran this{where} ({ended}):\n\n{fence}\n$ {line}\n{text}\n{fence}"
    return f"{written.strip()}\n\n{report}".lstrip("\n")
