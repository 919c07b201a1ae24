"""The state of a running daemon, which is passed to every route."""

import time
from typing import Annotated, NamedTuple

from fastapi import Depends, Path, Request

from rookery.client import fleet as sessions
from rookery.daemon.access.addresses import for_links
from rookery.daemon.access.devices import EVERYTHING, Device, Devices, Grant
from rookery.daemon.access.gate import DEVICE, READING
from rookery.daemon.access.guesses import Guesses
from rookery.daemon.access.journal import Journal
from rookery.daemon.access.recognition import bad_token, changed, forbidden
from rookery.daemon.access.roles import ALL, MEANING
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
    device: Device | None = None
    """Of the request that it is passed to; None: the owner's own, or there is no login."""

    @property
    def role(self) -> str:
        return self.device.role if self.device else ALL

    @property
    def read_only(self) -> bool:
        """Whether the client may change nothing, except by answering asks."""
        return self.options.read_only or self.role != ALL

    @property
    def closed(self) -> str:
        """Why nothing can be changed, as shown on the page; "" if it can."""
        if self.options.read_only:
            return "This Rookery is read-only."
        return "" if self.role == ALL else MEANING[self.role]

    @property
    def journal(self) -> Journal:
        return Journal(self.home)

    def login_link(self, grant: Grant = EVERYTHING) -> str:
        """Return a link that is valid once, for ten minutes; its page asks before it is used up."""
        code = self.devices.new_code(time.monotonic(), grant)
        return f"{for_links(self.options)}/login?code={code}"


def _of(request: Request) -> State:
    """Return the state for this request. The device is checked again, since it may have been
    changed while the body was read. Raises Problem."""
    state: State = request.app.state.rookery
    device: Device | None = request.scope.get(DEVICE)
    if device is None:
        return state
    now = state.devices.find(device.id)
    if now is None:
        raise bad_token()
    if now.role != device.role:
        raise changed() if request.method in READING else forbidden(now)
    return state._replace(device=now)


Daemon = Annotated[State, Depends(_of)]

SESSION = Path(
    description="A session's id, the beginning of one, or its title.", max_length=200, min_length=1
)


def session_named(daemon: State, session: str) -> str:
    """Return the id of the session that is meant. Raises UnknownSession, Ambiguous."""
    if daemon.fleet.head(session) is not None or (
        paths.is_id(session) and sessions.head_of_session(daemon.home, session) is not None
    ):
        return session
    return sessions.find(daemon.home, session)


def _session(daemon: Daemon, session: Annotated[str, SESSION]) -> str:
    return session_named(daemon, session)


SessionId = Annotated[str, Depends(_session)]
