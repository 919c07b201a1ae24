"""Sessions that work in the same directory: each gets one notice about the others.

    $ROOKERY_HOME/places/<hash of the directory>/<session id>

An awake worker keeps an empty file there, so that a look costs one listing of a small
directory. The file decides nothing: the session's worker shows whether it is awake. A session
counts while a turn of it runs. A turn gets one notice at most: more would teach users to
ignore them."""

import hashlib
import os
from contextlib import suppress

from rookery.client.start import connectable
from rookery.core.header import Header
from rookery.core.json import Draft, lenient, notice
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.processes import tree

PLACES = "places"

AT_ONCE = 8
"""Neighbours that one look reads of: fifty that begin together would read of each other at once."""

NAMED = 5
"""Neighbours named in one notice; the others are counted."""


class Neighbours:
    def __init__(self, directory: str, header: Header) -> None:
        self._directory = directory
        self._home = os.path.dirname(os.path.dirname(directory))
        self._id = os.path.basename(directory)
        real = os.path.realpath(header.cwd)
        name = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
        self._place = os.path.join(self._home, PLACES, name)
        self._known: set[str] | None = None
        """Those that a notice names; None: the log was not asked."""
        self._looked = False
        self._turn = 0
        """The last one that got a notice."""
        self._unread: list[str] = []
        self._working: list[str] = []
        """Of a pass over the neighbours: who comes yet, and who works."""

    def look(self, turn: int) -> list[Draft]:
        """Register this session and, in a running turn (0: none that may get a notice), return one
        notice about the others that work. Each neighbour is named in one notice of the log, also
        over the lives of several workers."""
        self._arrive()
        if not self._looked:
            self._looked = True
            for name in self._listed():
                self._is_awake(name)  # those who were killed leave no traces
        if not turn or turn == self._turn:
            self._unread, self._working = [], []
            return []
        named = set() if self._known is None else self._known
        if not self._unread:
            self._unread = [name for name in self._listed() if name not in named]
        now, self._unread = self._unread[:AT_ONCE], self._unread[AT_ONCE:]
        self._working += [name for name in now if self._works(name) and self._is_awake(name)]
        if self._unread:
            return []
        working, self._working = self._working, []
        if working and self._known is None:
            named = self._known = self._named_before()
            working = [name for name in working if name not in named]
        named.update(working)
        self._turn = turn if working else self._turn
        return [self._notice(working)] if working else []

    def _named_before(self) -> set[str]:
        """Return the neighbours named in the log. Called only once there is a neighbour: it takes a
        pass over the log."""
        named: set[str] = set()
        with suppress(LogError), Reader.open(self._directory) as log:
            for event in log.of_kinds("_notice"):
                named.update(lenient.texts(event.update, "sessions"))
        return named

    def _listed(self) -> list[str]:
        with suppress(OSError):
            return sorted(name for name in os.listdir(self._place) if name != self._id)
        return []

    def leave(self) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(self._place, self._id))
            os.rmdir(self._place)  # fails while another is there

    def _arrive(self) -> None:
        """Register this session. The file only informs: a full disk stops nothing."""
        file = os.path.join(self._place, self._id)
        if os.path.exists(file):
            return
        with suppress(OSError, paths.PathError):
            paths.make_private(os.path.dirname(self._place))
            paths.make_private(self._place)
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def _is_awake(self, session: str) -> bool:
        """Tell whether a neighbour is awake; delete the file of one that was killed. Its process is
        checked before its socket: fifty that begin together would wake each other for every look.
        """
        with suppress(OSError, paths.PathError):
            directory = paths.session_dir(self._home, session)
            worker = paths.read_json(os.path.join(directory, paths.WORKER))
            pid, start = lenient.integer(worker, "pid"), lenient.text(worker, "start")
            if pid and start and tree.alive(pid, start):
                return True
            if connectable(paths.socket_path(directory)):
                return True
            os.unlink(os.path.join(self._place, session))
        return False

    def _works(self, session: str) -> bool:
        head = paths.read_json(os.path.join(paths.session_dir(self._home, session), paths.HEAD))
        return lenient.text(head, "state") not in ("", "idle")

    def _notice(self, sessions: list[str]) -> Draft:
        named = [self._named(session) for session in sessions[:NAMED]]
        more = [f"{len(sessions) - NAMED} more"] if len(sessions) > NAMED else []
        *most, last = [*named, *more]
        who = f"{', '.join(most)} and {last} are" if most else f"{last} is"
        return Draft(notice(f"{who} also working here.", sessions=sessions))

    def _named(self, session: str) -> str:
        directory = paths.session_dir(self._home, session)
        head = paths.read_json(os.path.join(directory, paths.HEAD))
        title = lenient.first_line(lenient.text(head, "title"), 60)
        return f'"{title}"' if title else f"session {session}"
