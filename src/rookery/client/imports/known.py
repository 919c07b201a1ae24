"""Which of an agent's sessions are imported already, in the trash, or permanently removed."""

import os
from contextlib import suppress

from rookery.client.deletion import removed
from rookery.client.trash import store
from rookery.core.agent.opening import KINDS, conversations
from rookery.home import paths
from rookery.log import schema
from rookery.log.errors import LogError
from rookery.log.reader import Reader


class Known:
    """The conversations of an agent that belong to sessions of a home. A log is read again only
    when its WAL has changed, because an import looks with every page."""

    def __init__(self, home: str, agent: str) -> None:
        self._home, self._agent = home, agent
        self._stamps: dict[str, int] = {}
        self.here: dict[str, str] = {}
        """The session that has a conversation."""
        self.trashed: dict[str, str] = {}
        self.removed = removed(home, agent)

    def look(self) -> None:
        """Bring the conversations up to date."""
        for session in sorted(paths.session_ids(self._home)):
            self._read(paths.session_dir(self._home, session), session, self.here)
        for entry in store.entries(self._home):
            self._read(entry.directory, entry.session, self.trashed)

    def add(self, conversation: str, session: str) -> None:
        """Add a conversation that was imported just now."""
        self.here[conversation] = session
        self._stamps[paths.session_dir(self._home, session)] = 0

    def _read(self, directory: str, session: str, sessions: dict[str, str]) -> None:
        stamp = _stamp(directory)
        if self._stamps.get(directory) == stamp:
            return
        self._stamps[directory] = stamp
        with suppress(LogError, OSError), Reader.open(directory) as log:
            for each in conversations(log.of_kinds(*KINDS)):
                if each.agent == self._agent:
                    sessions.setdefault(each.id, session)


def _stamp(directory: str) -> int:
    try:
        return os.stat(f"{directory}/{schema.FILE}-wal").st_mtime_ns
    except OSError:
        return 0
