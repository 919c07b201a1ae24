"""What a running daemon has: passed to every route."""

import time
from typing import Annotated, NamedTuple

from fastapi import Depends, Path, Request

from rookery.client import fleet as sessions
from rookery.daemon.access.addresses import for_links
from rookery.daemon.access.devices import Devices
from rookery.daemon.access.guesses import Guesses
from rookery.daemon.fleet import Fleet
from rookery.daemon.hub import Hub
from rookery.daemon.idempotency import Results
from rookery.daemon.options import Options
from rookery.home import paths


class State(NamedTuple):
    home: str
    options: Options
    devices: Devices
    guesses: Guesses
    fleet: Fleet
    hub: Hub
    since: int
    """When it began, in milliseconds of the epoch."""
    results: Results

    def login_link(self) -> str:
        """Good once, for ten minutes; the page asks before it is used up."""
        code = self.devices.new_code(time.monotonic())
        return f"{for_links(self.options)}/login?code={code}"


def _of(request: Request) -> State:
    found: State = request.app.state.rookery
    return found


Daemon = Annotated[State, Depends(_of)]

SESSION = Path(
    description="A session's id, the beginning of one, or its title.", max_length=200, min_length=1
)


def _session(daemon: Daemon, session: Annotated[str, SESSION]) -> str:
    """The id of the session that is meant. Raises UnknownSession, Ambiguous."""
    if daemon.fleet.head(session) is not None or (
        paths.is_id(session) and sessions.head_of_session(daemon.home, session) is not None
    ):
        return session
    return sessions.find(daemon.home, session)


SessionId = Annotated[str, Depends(_session)]
