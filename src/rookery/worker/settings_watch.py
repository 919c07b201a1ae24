"""Watches the settings files for a running worker, so that changes take effect by themselves: a few
`stat`s with each command, or once in a while. A file that cannot be used leaves the last good
values in force, and is reported once. Changes that loosen something wait for the user
(client/config/in_force)."""

from typing import NamedTuple

from rookery.client.config import in_force
from rookery.client.config.in_force import InForce
from rookery.core.header import Header
from rookery.core.json import Draft, Json, notice
from rookery.core.limits import Policy
from rookery.core.settings.held import MAX_WARNINGS
from rookery.core.settings.loosening import Guarded
from rookery.home import config as files
from rookery.home import confirmed

TITLE = "config.toml is not valid"

EVERY = 14.0
"""Seconds between two looks while no command comes."""

WRITE_TIMEOUT = 5.0
"""Seconds for which another process of ours may hold the settings to write them. After that they
are judged as they are: an agent can take that lock, too."""


class Source(NamedTuple):
    home: str
    policy: Policy | None = None
    """Numbers to use instead of the file's."""

    def load(self) -> InForce:
        """Load the settings for a worker that starts. Raises ConfigError."""
        record = confirmed.read(self.home)
        settings = in_force.judged(self.home, record)
        in_force.remember(self.home, settings, record)
        return self._limited(settings)

    def read(self, base: Guarded) -> InForce:
        """Read the settings for a worker that runs, judged against `base`. Raises ConfigError."""
        config = files.load(self.home)
        return self._limited(
            in_force.against(base, config, confirmed.guarded_settings(self.home, config, base))
        )

    def _limited(self, settings: InForce) -> InForce:
        if self.policy is None:
            return settings
        return settings._replace(config=settings.config._replace(policy=self.policy))


class SettingsWatch:
    """Watches the settings. A look returns all settings now in force if they changed; the reason,
    once for each state of a file that cannot be used; else None."""

    def __init__(self, source: Source, settings: InForce) -> None:
        """`settings`: those that were read just before."""
        self._source = source
        self._current = settings
        self._record: confirmed.Record | None = None
        self._stamp: tuple[object, ...] = ()
        """Not the files', for they may have changed since they were read: the first look reads
        them."""
        self._looked = float("-inf")
        self._unsure = float("inf")
        """Since when another process writes them, and what is looser was not judged."""

    @property
    def waits(self) -> bool:
        """Whether a change waits to be confirmed, or is being written."""
        return self._current.held is not None or self._unsure < float("inf")

    def look_again(self, now: float) -> InForce | str | None:
        """Look on a slow tick, if the last look is long enough ago, or something may have been
        confirmed."""
        soon = self._current.held is not None or self._unsure <= now
        return self.look(now) if soon or now - self._looked >= EVERY else None

    def look(self, now: float) -> InForce | str | None:
        """Look before something is done that the settings affect."""
        self._looked = now
        stamp = confirmed.stamp(self._source.home)
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        home, record = self._source.home, confirmed.read(self._source.home)
        fresh = record is not None and record != self._record  # perhaps it was confirmed
        base = record.guarded if record is not None and fresh else self._current.base
        try:
            settings = self._source.read(base)
        except files.ConfigError as error:
            return str(error)
        kept = in_force.remember(home, settings, record)
        self._record = record if kept is None else kept
        self._unsure = min(self._unsure, now) if kept is None else float("inf")
        if kept is None:
            self._stamp = ()  # another process of ours writes it now, or the disk is full
            if settings.held is not None and now - self._unsure < WRITE_TIMEOUT:
                settings = settings._replace(held=self._current.held)
        before, self._current = self._current, settings
        return None if settings._replace(base=before.base) == before else settings


def broken(why: str) -> Draft:
    """Return the notice for the log: which line is wrong, and what stays in force meanwhile."""
    text = f"{why} The previous settings stay in force. To fix it: `rookery config edit`."
    return Draft(notice(text, title=TITLE), None, "settings")


def news(header: Header, settings: InForce) -> Draft | None:
    """Return the log entry about settings that wait for the user or are not used; None if the log
    says the same already."""
    held, known = settings.held, header.settings
    warnings = list(settings.config.warnings[:MAX_WARNINGS])
    if known["held"] == (held.fingerprint if held else "") and known["warnings"] == warnings:
        return None
    update: Json = {"sessionUpdate": "_settings", "warnings": warnings}
    if held is not None:
        update |= {"held": held.fingerprint, "loosens": list(held.loosens)}
    elif known["held"]:
        update["confirmed"] = confirmed.fingerprint(settings.guarded) == known["held"]
    return Draft(update, None, "settings")
