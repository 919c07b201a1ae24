"""A running worker takes up changed settings by itself: a few `stat`s with each command, or once in
a while. A file that cannot be used leaves the last good values in force, and is reported once. What
is looser than before waits for the user (client/config/in_force)."""

from typing import NamedTuple

from rookery.client.config import in_force
from rookery.client.config.in_force import InForce
from rookery.core.json import Draft, Json, notice
from rookery.core.limits import Policy
from rookery.core.settings.held import MOST
from rookery.core.settings.loosening import Guarded
from rookery.home import config as files
from rookery.home import confirmed

TITLE = "config.toml is not valid"

EVERY = 14.0
"""Seconds between two looks while no command comes."""

PATIENCE = 5.0
"""Seconds in which another process of ours may hold the settings to write them; then they are
judged as they are: an agent can take that lock, too."""


class Source(NamedTuple):
    home: str
    policy: Policy | None = None
    """Numbers to use instead of the file's."""

    def load(self) -> InForce:
        """For a worker that starts. Raises ConfigError."""
        record = confirmed.read(self.home)
        found = in_force.judged(self.home, record)
        in_force.remember(self.home, found, record)
        return self._limited(found)

    def read(self, base: Guarded) -> InForce:
        """For one that runs, and judges by `base`. Raises ConfigError."""
        config = files.load(self.home)
        return self._limited(
            in_force.against(base, config, confirmed.said(self.home, config, base))
        )

    def _limited(self, found: InForce) -> InForce:
        if self.policy is None:
            return found
        return found._replace(config=found.config._replace(policy=self.policy))


class SettingsWatch:
    """A look returns the whole of what now holds, where that changed; once for each state of the
    file that cannot be used, why; else None."""

    def __init__(self, source: Source, found: InForce) -> None:
        """`found`: what was read just before."""
        self._source = source
        self._found = found
        self._record: confirmed.Record | None = None
        self._stamp: tuple[object, ...] = ()
        """Not the files', for they may have changed since they were read: the first look reads
        them."""
        self._looked = float("-inf")
        self._unsure = float("inf")
        """Since when another process writes them, and what is looser was not judged."""

    @property
    def waits(self) -> bool:
        """Whether something waits to be confirmed, or is being written."""
        return self._found.held is not None or self._unsure < float("inf")

    def look_again(self, now: float) -> InForce | str | None:
        """On a slow tick: a look, where the last one is long enough ago, or something may have
        been confirmed."""
        soon = self._found.held is not None or self._unsure <= now
        return self.look(now) if soon or now - self._looked >= EVERY else None

    def look(self, now: float) -> InForce | str | None:
        """Before something is done that settings bear on."""
        self._looked = now
        stamp = confirmed.stamp(self._source.home)
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        home, record = self._source.home, confirmed.read(self._source.home)
        fresh = record is not None and record != self._record  # perhaps it was confirmed
        base = record.guarded if record is not None and fresh else self._found.base
        try:
            found = self._source.read(base)
        except files.ConfigError as error:
            return str(error)
        kept = in_force.remember(home, found, record)
        self._record = record if kept is None else kept
        self._unsure = min(self._unsure, now) if kept is None else float("inf")
        if kept is None:
            self._stamp = ()  # another process of ours writes it now, or the disk is full
            if found.held is not None and now - self._unsure < PATIENCE:
                found = found._replace(held=self._found.held)
        before, self._found = self._found, found
        return None if found._replace(base=before.base) == before else found


def broken(why: str) -> Draft:
    """For the log: what is wrong, with its line, and what holds meanwhile."""
    text = f"{why} The previous settings stay in force. To fix it: `rookery config edit`."
    return Draft(notice(text, title=TITLE), None, "settings")


def news(header: Json, found: InForce) -> Draft | None:
    """For the log: what waits for the user, and what in the file is not used; None where that is
    known there."""
    held, known = found.held, header["settings"]
    warnings = list(found.config.warnings[:MOST])
    if known["held"] == (held.fingerprint if held else "") and known["warnings"] == warnings:
        return None
    update: Json = {"sessionUpdate": "_settings", "warnings": warnings}
    if held is not None:
        update |= {"held": held.fingerprint, "loosens": list(held.loosens)}
    elif known["held"]:
        update["confirmed"] = confirmed.fingerprint(found.guarded) == known["held"]
    return Draft(update, None, "settings")
