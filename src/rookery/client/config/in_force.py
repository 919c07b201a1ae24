"""The settings in force: those of the files, except what was loosened while an agent was running.
That has to be confirmed by the user first (`rookery config confirm`, or the notice in a session).

Changes made through Rookery apply at once. So do changes to the files while no session is awake,
and everything that makes the settings stricter."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from rookery.client import guard
from rookery.core.json import lenient
from rookery.core.refusals import Fixed
from rookery.core.settings.held import WAITS
from rookery.core.settings.loosening import Guarded, loosened, strictest
from rookery.home import config as files
from rookery.home import confirmed, paths
from rookery.home.config import Config
from rookery.home.confirmed import Record
from rookery.log.lock import is_held
from rookery.processes import roots, tree


class Held(NamedTuple):
    """The part of the files that does not apply yet."""

    fingerprint: str
    loosens: tuple[str, ...]
    """A sentence for each."""


class InForce(NamedTuple):
    config: Config
    guarded: Guarded
    base: Guarded
    """What was confirmed: the next change is compared with it."""
    held: Held | None = None


class Waiting(Fixed):
    """Something awaits confirmation, so nothing was written."""

    reason = "waiting"


class Changed(Fixed):
    """The files changed after the user was shown what to confirm."""

    reason = "changed"


def settings(home: str) -> InForce:
    """Return the settings that apply now. Raises ConfigError."""
    return judged(home, confirmed.read(home))


def hooks(home: str) -> Mapping[str, Any]:
    """Return the user's hooks that apply."""
    try:
        return settings(home).guarded.hooks
    except files.ConfigError:
        record = confirmed.read(home)
        return record.guarded.hooks if record else confirmed.guarded_settings(home, Config()).hooks


def trusted(home: str) -> Mapping[str, Any]:
    """Return the fingerprints of the projects' hooks that apply, by project."""
    record = confirmed.read(home)
    if record is None:
        return {}
    try:
        return judged(home, record).guarded.trusted
    except files.ConfigError:
        return record.guarded.trusted


def judged(home: str, record: Record | None) -> InForce:
    """Return what applies, given the record of what was confirmed. Raises ConfigError."""
    config = files.load(home)
    if record is None:
        # Whoever trusts hooks through Rookery leaves a record.
        configured = confirmed.guarded_settings(home, config)._replace(trusted={})
        return InForce(config, configured, configured)
    configured = confirmed.guarded_settings(home, config, record.guarded)
    effective = against(record.guarded, config, configured)
    if effective.held is None or record.held or _by_an_agent(home, record.guarded, configured):
        return effective
    return InForce(config, configured, configured)


def load(home: str) -> Config:
    """Load the configuration like config.load, without what awaits confirmation. Raises
    ConfigError."""
    return settings(home).config


def against(base: Guarded, config: Config, configured: Guarded) -> InForce:
    """Return what applies of a configuration whose looser parts await confirmation."""
    looser = loosened(base, configured)
    if not looser:
        return InForce(config, configured, configured)
    guarded = strictest(base, configured)
    held = Held(confirmed.fingerprint(configured), tuple(looser))
    return InForce(confirmed.applied(config, guarded), guarded, base, held)


def remember(home: str, effective: InForce, before: Record | None) -> Record | None:
    """Record what was confirmed and what waits. Returns None if another process has written
    meanwhile: look again. `before`: the record that `effective` was compared with."""
    record = Record(effective.base, effective.held.fingerprint if effective.held else "")
    if record == before:
        return record
    try:
        with confirmed.locked(home, wait=False):
            if confirmed.read(home) != before:
                return None
            confirmed.write(home, record)
    except (confirmed.Busy, OSError):  # or a full disk: the next look finds it again
        return None
    return record


def note(home: str) -> None:
    """Record what awaits confirmation, for a worker that was killed before it could."""
    record = confirmed.read(home)
    with suppress(files.ConfigError):
        if record is not None:
            remember(home, judged(home, record), record)


# ---------------------------------------------------------------- the user's word


def confirm(home: str, fingerprint: str) -> None:
    """Apply what the files say. Raises Changed, ConfigError, Busy."""
    with confirmed.locked(home, wait=False):
        record = confirmed.read(home)
        configured = confirmed.guarded_settings(
            home, files.load(home), record.guarded if record else None
        )
        if confirmed.fingerprint(configured) != fingerprint:
            raise Changed("The settings have changed since that was shown.")
        confirmed.write(home, Record(configured))


def check(home: str, before: Config | None, after: Config) -> Record | None:
    """Return what to record when the user's change to config.toml is written, under the lock; None
    for nothing. Raises Waiting. `before`: the previous configuration; None if it was unusable."""
    record = confirmed.read(home)
    known = record.guarded if record else None
    new = confirmed.guarded_settings(home, after, known)
    if known is not None and not loosened(known, new):
        return Record(new)
    if before is None:  # an agent may have broken it and written more
        return None
    if settings(home).held is None:
        return Record(new)
    if loosened(confirmed.guarded_settings(home, before, known), new):
        raise Waiting(f"Nothing was changed. {WAITS}")
    return None


@contextmanager
def editing(home: str, *, adds: bool, asked: bool = False, records: bool = False) -> Iterator[None]:
    """Wrap the user's change to mcp.json, hooks.json or trusted.json, which applies at once. A
    change that only removes may undo what waits. `asked`: the change answers an ask, whose sender
    was already checked. `records`: the change takes effect only through a record, so one is
    written. Raises Waiting, FromAgent."""
    if not asked:
        guard.require_person(home, "change the settings")
    paths.ensure_home(home)
    with confirmed.locked(home):
        waits = _waits(home)
        if waits and adds:
            raise Waiting(f"Nothing was changed. {WAITS}")
        yield
        record = confirmed.read(home)
        if record is None:
            if records:
                confirmed.write(home, Record(confirmed.guarded_settings(home, files.load(home))))
            return
        configured = confirmed.guarded_settings(home, Config(), record.guarded)
        new = record.guarded._replace(
            servers=configured.servers, hooks=configured.hooks, trusted=configured.trusted
        )
        if not waits or not loosened(record.guarded, new):
            confirmed.write(home, record._replace(guarded=new))


def _waits(home: str) -> bool:
    try:
        return settings(home).held is not None
    except files.ConfigError:  # the record knows about the other files
        record = confirmed.read(home)
        return record is not None and bool(record.held)


# ---------------------------------------------------------------- who could have written


def _by_an_agent(home: str, base: Guarded, configured: Guarded) -> bool:
    """Whether a file with looser settings was changed while a session was awake."""
    before, now = _by_file(base), _by_file(configured)
    looser = [name for name in now if loosened(before[name], now[name])]
    times = [confirmed.changed_at(home, name) for name in looser]
    return any(at is None or _has_agent(home, at) or _was_awake(home, at) for at in times)


def _by_file(guarded: Guarded) -> dict[str, Guarded]:
    return {
        confirmed.SERVERS: Guarded(servers=guarded.servers),
        confirmed.HOOKS: Guarded(hooks=guarded.hooks),
        confirmed.TRUSTED: Guarded(trusted=guarded.trusted),
        files.FILE: guarded._replace(servers={}, hooks={}, trusted={}),
    }


def _has_agent(home: str, at: int) -> bool:
    """Whether an agent is running that was already running at `at`: an editor starts ours without a
    worker."""
    with suppress(OSError), os.scandir(roots.directory(home)) as entries:
        for entry in entries:
            pid, _, start = entry.name.partition("-")
            lives = pid.isdecimal() and tree.alive(int(pid), start.replace("_", " "))
            if lives and entry.stat().st_ctime_ns <= at:
                return True
    return False


def _was_awake(home: str, at: int) -> bool:
    """Whether a session had a worker at `at`, in nanoseconds since the epoch."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    # When this machine started; 0: unknown.
    started_up = 0 if clock is None else time.time_ns() - time.clock_gettime_ns(clock)
    for name in paths.session_ids(home):
        directory = paths.session_dir(home, name)
        worker = paths.read_json(os.path.join(directory, paths.WORKER))
        begun = (lenient.integer(worker, "started") or 0) * 1_000_000
        if worker is None or begun > at:
            continue
        if is_held(os.path.join(directory, paths.LOCK)):
            return True
        ended = lenient.integer(worker, "ended")
        # A killed one left no end; it did not outlive the machine.
        if ended is not None and at <= ended * 1_000_000:
            return True
        if ended is None and (begun > started_up or at <= started_up):
            return True
    return False
