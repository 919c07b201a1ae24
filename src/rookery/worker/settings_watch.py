"""A running worker takes up a changed config.toml by itself: one `stat` when somebody asks for
something, or once in a while; a file that cannot be used leaves the last good values in force, and
is told of once."""

import os
from collections.abc import Callable
from typing import NamedTuple

from rookery import config as files
from rookery.config import Config, ConfigError
from rookery.core.events import Draft
from rookery.core.policy import Policy

TITLE = "config.toml cannot be used as it stands"

EVERY = 20.0
"""Seconds between two looks while nobody asks for anything."""

type Stamp = tuple[int, int, int] | None
"""Inode, time of change, size; None: there is no file."""


class Source(NamedTuple):
    home: str
    policy: Policy | None = None
    """Numbers to use instead of the file's."""

    def load(self) -> Config:
        """Raises ConfigError."""
        found = files.load(self.home)
        return found if self.policy is None else found._replace(policy=self.policy)


class SettingsWatch:
    """`changed(config)` is called with the whole of what now holds, `broken(why)` once for each
    state of the file that is of no use."""

    def __init__(
        self,
        source: Source,
        config: Config,
        changed: Callable[[Config], None],
        broken: Callable[[str], None],
    ) -> None:
        """`config`: what was read just before."""
        self._path = os.path.join(source.home, files.FILE)
        self._source = source
        self._config = config
        self._changed = changed
        self._broken = broken
        self._stamp: Stamp = (-1, -1, -1)
        """Not the file's, for it may have changed since it was read: the first look reads it."""
        self._looked = float("-inf")

    def look_again(self, now: float) -> bool:
        """On a slow tick: a look, where the last one is long enough ago."""
        return now - self._looked >= EVERY and self.look(now)

    def look(self, now: float) -> bool:
        """Before something is done that settings bear on; whether anybody was told anything."""
        self._looked = now
        stamp = _stamp(self._path)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        try:
            config = self._source.load()
        except ConfigError as error:
            self._broken(str(error))
            return True
        if config == self._config:
            return False
        self._config = config
        self._changed(config)
        return True


def notice(why: str) -> Draft:
    """For the log: what is wrong, with its line, and what holds meanwhile."""
    text = f"{why} The settings from before stay in force; `rookery config edit` mends it."
    update = {"sessionUpdate": "_notice", "level": "warn", "title": TITLE, "text": text}
    return Draft(update, None, "settings")


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)
