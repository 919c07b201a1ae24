"""The rules of the home, as they stand in config.toml now: one `stat` for each look, and the last
sound ones where the file is of no use."""

import os
from contextlib import suppress

from rookery import config, paths
from rookery.config import Config, ConfigError

type Stamp = tuple[str, int, int, int] | None


class HomeRules:
    def __init__(self) -> None:
        self._stamp: Stamp = ("", -1, -1, -1)
        self._config: Config | None = None

    def current(self) -> Config | None:
        """None: the file was of no use from the beginning."""
        home = paths.home()
        stamp = _stamp(os.path.join(home, config.FILE))
        if stamp != self._stamp:
            self._stamp = stamp
            with suppress(ConfigError):  # what held before holds on
                self._config = config.load(home)
        return self._config


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return path, found.st_ino, found.st_mtime_ns, found.st_size
