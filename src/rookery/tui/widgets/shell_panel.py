"""The output of a shell command, above the composer. The agent sees it only if the user
sends it."""

import os

from rookery.home import paths
from rookery.render.lines.texts import printed
from rookery.render.runs import clean_line, cut, width_of
from rookery.tui.keys.map import label
from rookery.tui.look.runs import Line, painted
from rookery.tui.widgets.status import LineWidget

MAX_ROWS = 12
KEPT = 20_000


class ShellPanel(LineWidget):
    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.line = ""
        self.running = False
        self.display = False
        self.output = ""
        self.code: int | None = None
        self.where = ""
        """The directory in which the line began."""

    def begin(self, line: str) -> None:
        self.line, self.output, self.code, self.running = line, "", None, True
        self.display = True
        self._grow()

    def place(self, cwd: str) -> None:
        self.where = cwd
        self.refresh()

    def say(self, text: str, code: int | None) -> None:
        self.output = (self.output + text)[-KEPT:]
        if code is not None:
            self.code, self.running = code, False
        self._grow()

    def close(self) -> None:
        self.display = False

    def _rows(self) -> list[Line]:
        lines = printed(self.output.rstrip("\n"))[-MAX_ROWS:] if self.output.strip() else []
        return [painted(line, self.look) for line in lines]

    def _grow(self) -> None:
        self.styles.height = 1 + len(self._rows())
        self.refresh()

    def _place_in(self, room: int) -> str:
        """Return the directory, or only its last part if there is no room: the command is more
        important."""
        place = clean_line(paths.with_tilde(self.where))
        if width_of(place) > room:
            place = "…/" + os.path.basename(place)
        return f"{place} " if self.where and width_of(place) <= room else ""

    def lines(self, width: int) -> list[Line]:
        look, key = self.look, label(self.app, "turn.cancel")
        give = f" · {label(self.app, 'shell.give')} to send"
        if self.running:
            sign, style, end = "◐", look.accent, f"not sent · running · {key} to stop"
        elif self.code == 0:
            sign, style, end = "✓", look.done, f"not sent{give} · {key} to close"
        else:
            how = f"exit {self.code}" if (self.code or 0) >= 0 else "stopped"
            sign, style, end = "✗", look.failed, f"{how} · not sent{give} · {key} to close"
        room = max(10, width - len(end) - 7)
        command = cut(clean_line(f"! {self.line}"), room)
        where = self._place_in(room - width_of(command) - 1)
        head: Line = [(f" {sign} ", style), (where, look.soft), (command, look.heading)]
        head.append((f"  {end}", look.soft))
        return [head, *([(" │ ", look.line), *row] for row in self._rows())]
