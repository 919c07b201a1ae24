"""The output of a shell command, above the composer. The agent does not see it."""

from rookery.tui.keys.map import label
from rookery.tui.look.colours import printed
from rookery.tui.look.plain import clean_line, cut
from rookery.tui.look.runs import Line
from rookery.tui.widgets.status import LineWidget

MOST = 12
KEPT = 20_000


class ShellPanel(LineWidget):
    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.line = ""
        self.running = False
        self.display = False
        self._text = ""
        self._code: int | None = None

    def begin(self, line: str) -> None:
        self.line, self._text, self._code, self.running = line, "", None, True
        self.display = True
        self._grow()

    def say(self, text: str, code: int | None) -> None:
        self._text = (self._text + text)[-KEPT:]
        if code is not None:
            self._code, self.running = code, False
        self._grow()

    def close(self) -> None:
        self.display = False

    @property
    def output(self) -> str:
        return self._text

    def _rows(self) -> list[Line]:
        return printed(self._text.rstrip("\n"), self.look)[-MOST:] if self._text.strip() else []

    def _grow(self) -> None:
        self.styles.height = 1 + len(self._rows())
        self.refresh()

    def lines(self, width: int) -> list[Line]:
        look, key = self.look, label(self.app, "turn.cancel")
        if self.running:
            sign, style, end = "◐", look.accent, f"not sent · running · {key} stops it"
        elif self._code == 0:
            sign, style, end = "✓", look.done, f"not sent · {key} closes it"
        else:
            how = f"exit {self._code}" if (self._code or 0) >= 0 else "stopped"
            sign, style, end = "✗", look.failed, f"{how} · not sent · {key} closes it"
        said = cut(clean_line(self.line), max(10, width - len(end) - 9))
        head: Line = [(f" {sign} ", style), (f"! {said}", look.heading)]
        head.append((f"  {end}", look.soft))
        return [head, *([(" │ ", look.line), *row] for row in self._rows())]
