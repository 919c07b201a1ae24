"""The first screen, and where its key leads."""

from collections.abc import Callable

from rookery.tui.keys.map import label
from rookery.tui.shell import Shell
from rookery.tui.splash import SetUp, Way, way_in, window_of
from rookery.tui.widgets.status import Status


class FirstScreen:
    def __init__(self, app: Shell, begin: Callable[[str], object]) -> None:
        self._app = app
        self._begin = begin
        """Start a session with a prompt."""
        self._way: Way | None = None
        self.is_asked_for = False
        """A new session was asked for, by its key."""

    def show(self, found: SetUp) -> None:
        app, sessions = self._app, self._app.fleet.sessions
        confirm = app.start.confirms(found.confirm)
        self._way = way_in(found.agent, sessions, new=self.is_asked_for)
        found = found._replace(sessions=len(sessions), confirm=confirm)
        app.transcript.show(window_of(found, lambda name: label(app, name), self._way))
        status = app.below(Status)
        status.agent, status.confirm = found.agent, confirm

    def enter(self) -> None:
        """What the screen says of the key."""
        if self._app.session or self._way is None:
            return
        if self._way.session:
            self._app.open_session(self._way.session)
        else:
            self._begin(self._way.prompt)
