"""The app as its parts see it: the widgets, the shown session, and how to send a command."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, override

from textual.app import App
from textual.containers import Horizontal
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from rookery.core.json import Json
from rookery.core.limits import Interface
from rookery.render.signs import SIGNS
from rookery.tui import system
from rookery.tui.reader import ReaderThread
from rookery.tui.system.clock import now
from rookery.tui.system.driver import Driver
from rookery.tui.transcript.cursor import Transcript
from rookery.tui.transcript.window import Window
from rookery.tui.widgets.composer import Composer
from rookery.tui.widgets.session_list import Fleet

if TYPE_CHECKING:
    from rookery.client.attach import Attachment
    from rookery.operations.calling.interface import Rookery

ONLY_HERE = frozenset({"settings", "model", "models", "servers", "agents", "confirm_mode"})
"""Actions that read or write files of this machine's Rookery (see `is_elsewhere`)."""


@dataclass(eq=False)
class Start:
    """The options of the command line."""

    home: str
    cwd: str = field(default_factory=os.getcwd)
    agent: str = ""
    argv: Sequence[str] = ()
    """What starts it, where its name does not say it all."""
    session: str = ""
    at: int = 0
    """The event of that session to begin at; 0: at its end."""
    task: str = ""
    choose: bool = False
    """Begin in the list of sessions."""
    taste: Interface = field(default_factory=Interface)
    confirm: str = ""
    """How much new sessions ask; empty: as config.toml says."""
    leave_at_once: bool = False
    clock: Callable[[], int] = now
    once: str = ""
    """As `confirm`, for the next session only."""
    worktree: str | None = None
    """The next session gets one, whose branch has this name; "": the session's id."""
    sandbox: str = ""
    """What the next session runs in; empty: as config.toml says."""
    rookery: "Rookery | None" = None
    """None: this machine's, which the first picture does without."""

    @property
    def address(self) -> str:
        """The address of the other machine's daemon; "" for this machine's."""
        return self.rookery.address if self.rookery else ""

    def confirms(self, default: str) -> str:
        """Return how much the next session asks."""
        return self.once or self.confirm or default


STATES = {"warning": "warn", "error": "failed"}
"""The state whose sign a toast has, by its severity."""


class Covered(Screen[None]):
    """A screen that its contents cover completely: its own lines are never seen, and need not be
    made."""

    BLANK = True


class Columns(Horizontal):
    """A container that its contents cover completely, too."""

    BLANK = True


class Shell(App[str]):
    """The base of the app. Its result is the text to print when the screen is gone."""

    def __init__(self, start: Start) -> None:
        super().__init__()
        self.start = start
        self.reader = ReaderThread(start.home, self.post_message, start.rookery)
        self.taste = start.taste
        self._own_keys: dict[str, str] = {}
        self.session = ""
        """The one that is shown; empty: the first prompt makes one."""

    @override
    def get_driver_class(self) -> type[Driver]:
        return Driver

    @override
    def get_default_screen(self) -> Screen[None]:
        return Covered(id="_default")

    @override
    def refresh_css(self, animate: bool = True) -> None:
        """Skip the refresh before there is a screen: nothing has a colour yet that the theme could
        change, and Textual would parse every style sheet twice."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def below[W: Widget](self, kind: type[W]) -> W:
        """Return a part of the screen, under any window."""
        return self.screen_stack[0].query_one(kind)

    @property
    def transcript(self) -> Transcript:
        return self.below(Transcript)

    @property
    def composer(self) -> Composer:
        return self.below(Composer)

    @property
    def fleet(self) -> Fleet:
        return self.below(Fleet)

    @property
    def window(self) -> Window:
        return self.transcript.window

    def notify(self, message: str, *, severity: SeverityLevel = "information", **more: Any) -> None:
        """Show a toast; a sign shows its severity, too."""
        state = STATES.get(severity)
        text = f"{SIGNS[state][0]} {message}" if state else message
        super().notify(text, severity=severity, **more)

    def ask[Answer](
        self, screen: ModalScreen[Answer | None], then: Callable[[Answer], object]
    ) -> None:
        """Open a window; `then` gets its answer, if there is one."""

        def answered(answer: Answer | None) -> None:
            if answer is not None:
                then(answer)

        self.push_screen(screen, answered)

    def offers(self, action: str) -> bool:
        """Tell whether an action is offered: actions possible only on this machine are not, while
        another one is shown. Their keys still act, and say why not."""
        return not self.start.address or action not in ONLY_HERE

    def is_elsewhere(self, what: str, instead: str = "") -> bool:
        """Tell whether another machine is shown, on which this cannot be done from here; if so, say
        that to the user. `instead`: the command that does it."""
        url = self.start.address
        if url:
            more = f": rookery --daemon {url} {instead}" if instead else " on that machine itself."
            self.notify(f"{what} is on {url}. Do it{more}", severity="warning", markup=False)
        return bool(url)

    def open_session(self, session: str) -> None:
        raise NotImplementedError

    def look_around(self) -> None:
        """Find out again what is set up."""
        raise NotImplementedError

    def edit(self, text: str) -> str | None:
        """Let the user edit a text; return None if there is no editor."""
        if not system.external_programs.editor():
            self.notify("No editor found: set EDITOR.", severity="warning")
            return None
        with self.suspend():
            edited = system.external_programs.edit(text)
        self.refresh()
        return edited

    def log_in(self, name: str, group: str = "agents") -> str:
        """Let the user log in to an agent, or an MCP server, in this terminal; return the outcome.
        `group`: the group of commands that does it."""
        with self.suspend():
            done = system.external_programs.log_in(group, name)
        self.refresh()
        return f"Logged in to {name}." if done else f"Not logged in to {name}."

    def show_bytes(self, data: bytes | None) -> None:
        """Show a picture in the system's viewer, by its real type, whatever the agent calls it: the
        system would run some kinds of file."""
        from rookery.core.json.image_bytes import look_at

        picture = look_at(data or b"")
        if data is None:
            self.notify("The image is no longer in the log.", severity="warning")
        elif picture is None:
            self.notify("This is not a picture that can be shown.", severity="warning")
        else:
            self.notify(system.external_programs.show(data, picture.kind), markup=False)

    def branch_of(self, cwd: str) -> str:
        """Return the branch of a directory. Reads files: call it on the reader's thread."""
        if self.start.address:
            return ""  # of another machine's directory nothing is known here
        return system.git_branch.branch_of(cwd)

    def write(self, text: str) -> None:
        """Put text into the composer, and focus it."""
        self.composer.screen.set_focus(self.composer)
        self.composer.insert(text)

    def action_agents(self) -> None:
        raise NotImplementedError

    def send(self, command: Json, session: str = "", files: "Sequence[Attachment]" = ()) -> None:
        """Send a command to a session, by default the one that is shown; errors come as a toast."""
        if session or self.session:
            self.reader.send(session or self.session, command, files)
