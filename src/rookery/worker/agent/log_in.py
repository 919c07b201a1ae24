"""The login state of the worker's agent: learnt while it runs, for the agent lists of every face.

Only the user logs in (`client/login`). A login that holds for one connection alone is repeated on a
new one, with the method that the user chose, once per start; if that fails, it is over, and the
user is asked again."""

from collections.abc import Callable

from rookery.client.login import status
from rookery.client.login.status import Known
from rookery.core.json import Json
from rookery.core.settings.sandbox import CONTAINER
from rookery.core.vendors import logins
from rookery.core.vendors.logins import Status
from rookery.worker.session import Session, now

FRESH = 60.0
"""Seconds for which an answer to `auth/status` holds."""

type Then = Callable[[object, Json | None], None]


class LogIn:
    def __init__(self, session: Session, call: Callable[[str, Json, Then], None]) -> None:
        """`call`: sends a request to the agent."""
        self._session, self._call = session, call
        self._known: Known | None = None
        self._asked = 0.0
        self._repeated = False

    def initialized(self, result: object) -> None:
        session, header = self._session, self._session.header
        self._known, self._repeated = None, False
        if header.argv or session.sandbox.kind == CONTAINER or not isinstance(result, dict):
            return  # an agent without a name, or one with a home of its own
        known = status.read(session.home, header.agent, session.argv())
        self._note(known._replace(result=status.about(result)))
        self._ask()

    def prompted(self) -> None:
        """Query the login state again if it is stale: a prompt goes to the agent, which is a good
        moment."""
        if now() - self._asked > FRESH:
            self._ask()

    def _ask(self) -> None:
        def answered(result: object, error: Json | None) -> None:
            if error is None:
                self._say(logins.status_of(result))

        known = self._known
        if known is not None and logins.has_status(known.capabilities):
            self._asked = now()
            self._call(logins.STATUS, {}, answered)

    def heard(self, method: str, params: object) -> bool:
        """Tell whether a notification was about login. It is not logged: names are in it."""
        reported = logins.from_notification(method, params)
        if reported is not None:
            self._say(reported)
        return reported is not None

    def refused(self, error: Json | None) -> None:
        """Take the error of an answer: it may say that a login is missing."""
        if error is not None and logins.wanted(error):
            self._say(Status(logins.OUT))

    def turn_ended(self, error: Json | None) -> None:
        """Take the end of a turn. One that ends well needed no login; opening a session proves
        less, since some agents need no login for that."""
        self.refused(error)
        if error is None and self._known is not None and self._known.is_out:
            self._say(Status(logins.UNKNOWN))

    def repeat(self, error: Json | None, again: Callable[[], None], then: Then) -> bool:
        """Repeat the user's login on this connection if that may help, and return whether it does
        so: afterwards it calls `again`, or `then` with the error."""
        known = self._known
        if self._repeated or known is None or known.state != logins.IN:
            return False
        kinds = {method.id: method.kind for method in known.methods()}
        if error is None or not logins.wanted(error) or kinds.get(known.by) != logins.AGENT:
            return False
        self._repeated = True

        def answered(_result: object, refusal: Json | None) -> None:
            if refusal is None:
                again()
            else:
                then(None, error)

        self._call("authenticate", {"methodId": known.by}, answered)
        return True

    def _say(self, reported: Status) -> None:
        if self._known is not None:
            self._note(status.after(self._known, reported))

    def _note(self, known: Known) -> None:
        self._known = known
        status.note(self._session.home, self._session.header.agent, known)
