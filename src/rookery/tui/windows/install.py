"""The window that installs an agent: what will be run, a confirmation, its output, and why it
failed."""

from textwrap import wrap

from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import Label, Static

from rookery.agents.install import Plan, Watch
from rookery.core.refusals import Refused, sentences
from rookery.forms import agent_install
from rookery.render.runs import clean, clean_line
from rookery.render.signs import SIGNS
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.modals import Modal

ROWS = 8
"""How many of the output's last lines are shown."""


def prepared(home: str, name: str) -> tuple[Plan | None, str]:
    """Return the plan for the installation, or None and why there is none."""
    try:
        return agent_install.prepare(home, name), ""
    except Refused as error:
        return None, error.sentences


class InstallScreen(Modal[str]):
    """The installation; returns the agent's name once it is installed. Leaving the window cancels
    it."""

    KIND = "window list"
    BINDINGS = bindings.INSTALL

    def __init__(self, name: str, plan: Plan) -> None:
        super().__init__(f"Install {name}?")
        self._name, self._plan = name, plan
        self._watch: Watch | None = None
        """While it runs."""
        self._timer: Timer | None = None
        self._seconds = 0
        self._lines: list[str] = []

    def body(self) -> ComposeResult:
        text = "\n".join(agent_install.described(self._plan))
        yield Label(clean(text), markup=False, classes="said")
        yield Static("", id="output", classes="output", markup=False)
        yield Static("", id="told", classes="told quiet", markup=False)

    def keys_line(self) -> str:
        line = super().keys_line()
        return line.rpartition("   ")[2] if self._watch else line  # only Esc, the last

    def action_run(self) -> None:
        if self._watch:
            return
        self._watch = watch = Watch(lambda line: self.shell.reader.call(self._show, line))
        self._lines, self._seconds = [], 0
        self._show("")
        self._tell(f"{SIGNS['running'][0]} Installing {self._name} …", esc="cancel")
        self._timer = self.set_interval(1, self._tick)
        home, plan = self.home, self._plan

        def work() -> str:
            try:
                agent_install.run(home, plan, watch)
            except (Refused, OSError) as error:
                return sentences(error)
            return ""

        self.fetch(work, self._ended)

    def action_leave(self) -> None:
        if self._watch:
            self._watch.cancel()
        else:
            self.dismiss(None)

    def on_unmount(self) -> None:
        if self._watch:
            self._watch.cancel()

    def _ended(self, why: str) -> None:
        self._watch = None
        if self._timer:
            self._timer.stop()
        if not why:
            self.dismiss(self._name)
            return
        self.captions["install.run"] = "try again"
        self._tell(f"{SIGNS['failed'][0]} {why}", esc=self.BACK)

    def _tick(self) -> None:
        self._seconds += 1
        text = f"{SIGNS['running'][0]} Installing {self._name} … {self._seconds} s"
        self.query_one("#told", Static).update(text)

    def _show(self, line: str) -> None:
        if not self.is_attached:
            return
        output = self.query_one("#output", Static)
        rows = wrap(clean_line(line), max(20, output.size.width))
        self._lines = [*self._lines, *rows][-ROWS:]
        output.update("\n".join(self._lines))

    def _tell(self, text: str, *, esc: str) -> None:
        status = self.query_one("#told", Static)
        status.update(clean(text))
        status.remove_class("quiet")
        self.captions["window.back"] = esc
        self.query_one(".keys", Label).update(self.keys_line())
