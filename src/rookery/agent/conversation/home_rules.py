"""The rules of the home, as they hold now: one `stat` of each file for a look, and the last sound
ones where a file is of no use. What an agent loosened in them waits for a person, as in a worker.
"""

import os
from contextlib import suppress

from rookery.client.config import in_force
from rookery.home import confirmed, paths
from rookery.home.config import FILE, Config, ConfigError

type Stamp = tuple[tuple[str, int, int, int] | None, ...]


class HomeRules:
    def __init__(self) -> None:
        self._stamp: Stamp = ()
        self._config: Config | None = None

    def current(self) -> Config | None:
        """None: the file was of no use from the beginning."""
        home = paths.home()
        stamp = tuple(_stamp(os.path.join(home, name)) for name in (FILE, confirmed.FILE))
        if stamp != self._stamp:
            self._stamp = stamp
            with suppress(ConfigError):  # what held before holds on
                record = confirmed.read(home)
                found = in_force.judged(home, record)
                in_force.remember(home, found, record)
                self._config = found.config
        return self._config


def _stamp(path: str) -> tuple[str, int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return path, found.st_ino, found.st_ctime_ns, found.st_size
