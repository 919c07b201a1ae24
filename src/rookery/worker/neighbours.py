"""Two awake sessions in one directory: each is told once (row H2).

    $ROOKERY_HOME/places/<hash of the directory>/<session id>

An awake worker keeps an empty file there, so that a look costs one listing of a small directory,
however many sessions there are. The file decides nothing: who is awake is told by the socket.
"""

import hashlib
import os
from contextlib import suppress

from rookery import paths
from rookery.client.start import connectable
from rookery.core import loose
from rookery.core.events import Draft, Json

PLACES = "places"

NAMED = 5
"""So many neighbours are named in one notice; the others are counted."""


class Neighbours:
    def __init__(self, directory: str, header: Json) -> None:
        self._home = os.path.dirname(os.path.dirname(directory))
        self._id = os.path.basename(directory)
        real = os.path.realpath(header["cwd"])
        name = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
        self._place = os.path.join(self._home, PLACES, name)
        self._told: set[str] = set()

    def look(self) -> list[Draft]:
        """Be seen, and one notice about those who came: each is in one while this worker lives."""
        names: list[str] = []
        with suppress(OSError, paths.PathError):  # it only informs: a full disk stops nothing
            self._arrive()
            names = os.listdir(self._place)
        fresh = [name for name in names if name not in self._told and name != self._id]
        awake = [name for name in sorted(fresh) if self._is_awake(name)]
        self._told.update(awake)
        return [self._notice(awake)] if awake else []

    def leave(self) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(self._place, self._id))
            os.rmdir(self._place)  # fails while another is there

    def _arrive(self) -> None:
        file = os.path.join(self._place, self._id)
        if not os.path.exists(file):
            paths.make_private(os.path.dirname(self._place))
            paths.make_private(self._place)
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def _is_awake(self, session: str) -> bool:
        """One that was killed leaves its file: it is taken away here."""
        with suppress(OSError, paths.PathError):
            if connectable(paths.socket_path(paths.session_dir(self._home, session))):
                return True
            os.unlink(os.path.join(self._place, session))
        return False

    def _notice(self, sessions: list[str]) -> Draft:
        named = [self._named(session) for session in sessions[:NAMED]]
        more = [f"{len(sessions) - NAMED} more"] if len(sessions) > NAMED else []
        who = "Another session is" if len(sessions) == 1 else "Other sessions are"
        text = f"{who} awake in this directory: {', '.join([*named, *more])}. "
        text += "Each may change what another works on."
        update: Json = {"sessionUpdate": "_notice", "level": "warn", "text": text}
        return Draft({**update, "sessions": sessions})

    def _named(self, session: str) -> str:
        directory = paths.session_dir(self._home, session)
        head = paths.read_json(os.path.join(directory, paths.HEAD))
        title = loose.first_line(loose.text(head, "title"), 60)
        return f"{session} ({title})" if title else session
