"""Hears that a command of the agent's missed privileges which the confined do not get, and says
which setting that is."""

from rookery.core.policy import confinement
from rookery.worker.session import Session


class Privileges:
    def __init__(self, session: Session) -> None:
        self._session = session
        self.begin()

    def begin(self) -> None:
        """An agent starts: it is said once for each."""
        self._said = False
        self._before = ""
        """The end of what was heard last: a sentence may come in pieces."""

    def hear(self, *output: object) -> None:
        if self._said or not self._session.fence.confined:
            return
        for text in confinement.texts(list(output)):
            if confinement.lost(self._before + text):
                self._said = True
                self._session.append(confinement.notice(self._session.header["agent"]))
                return
            self._before = text[-confinement.LONGEST :]
