"""What the parts of the program may ask of it: the widgets, the session that is shown, and the way
to send a command."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.app import App
from textual.notifications import SeverityLevel

from rookery.core.json.events import Json
from rookery.core.limits import Interface
from rookery.tui.reader import Room
from rookery.tui.system.clock import now
from rookery.tui.transcript.reading import Transcript
from rookery.tui.transcript.window import Window
from rookery.tui.widgets.composer import Composer
from rookery.tui.widgets.session_list import Fleet

if TYPE_CHECKING:
    from rookery.client.attach import Attachment


class Start:
    """What the command line asked for."""

    def __init__(  # noqa: PLR0913 - each is an option
        self,
        home: str,
        cwd: str = "",
        *,
        agent: str = "",
        session: str = "",
        task: str = "",
        choose: bool = False,
        taste: Interface | None = None,
        confirm: str = "",
        leave_at_once: bool = False,
        clock: Callable[[], int] = now,
    ) -> None:
        self.home = home
        self.cwd = cwd or os.getcwd()
        self.agent = agent
        self.session = session
        self.task = task
        self.choose = choose
        """Begin in the list of sessions."""
        self.taste = taste or Interface()
        """How things are shown, as config.toml says it."""
        self.confirm = confirm
        """How much is asked in the sessions that are made here; empty: as config.toml says."""
        self.once = ""
        """The same for the next one alone, chosen here."""
        self.leave_at_once = leave_at_once
        self.clock = clock

    def confirms(self, default: str) -> str:
        """How much is asked in the next session that is made here."""
        return self.once or self.confirm or default


SIGNS = {"warning": "▲ ", "error": "✗ "}
"""Before what is said in passing: a colour alone tells nothing."""


class Shell(App[str]):
    """Ends with the words that are said when the terminal is the person's again."""

    def __init__(self, start: Start) -> None:
        super().__init__()
        self.start = start
        self.room = Room(start.home, self.post_message)
        self.taste = start.taste
        self._own_keys: dict[str, str] = {}
        self.session = ""
        """The one that is shown; empty: a new one, which the first prompt makes."""

    @property
    def transcript(self) -> Transcript:
        return self.screen_stack[0].query_one("#transcript", Transcript)

    @property
    def composer(self) -> Composer:
        return self.screen_stack[0].query_one("#composer", Composer)

    @property
    def fleet(self) -> Fleet:
        return self.screen_stack[0].query_one("#fleet", Fleet)

    @property
    def window(self) -> Window:
        return self.transcript.window

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Say something in passing; how bad it is is told by a sign, too."""
        words = SIGNS.get(severity, "") + message
        super().notify(words, title=title, severity=severity, timeout=timeout, markup=markup)

    def open_session(self, session: str) -> None:
        raise NotImplementedError

    def look_around(self) -> None:
        """Find out anew what is set up."""
        raise NotImplementedError

    def action_agents(self) -> None:
        raise NotImplementedError

    def send(self, command: Json, session: str = "", files: "Sequence[Attachment]" = ()) -> None:
        """Send a command to a session, else to the one that is shown; what is wrong with it comes
        as a toast."""
        if session or self.session:
            self.room.send(session or self.session, command, files)
