"""Which settings hold: those of the files, but for what was loosened while an agent could have done
it. That waits until a person confirms it (`rookery config confirm`, or the notice in a session).

A person's own changes by way of Rookery hold at once. So do changes of the files while no session
of the home is awake, and whatever makes them stricter.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from rookery.client import guard
from rookery.core.json import lenient
from rookery.core.settings.held import WAITS
from rookery.core.settings.loosening import Guarded, loosened, strictest
from rookery.home import config as files
from rookery.home import confirmed, paths
from rookery.home.config import Config
from rookery.home.confirmed import Record
from rookery.log.lock import is_held
from rookery.processes import roots, tree


class Held(NamedTuple):
    """What the files say and does not hold."""

    fingerprint: str
    loosens: tuple[str, ...]
    """A sentence for each."""


class InForce(NamedTuple):
    config: Config
    guarded: Guarded
    base: Guarded
    """What was confirmed: by it the next change is judged. Another one while something waits."""
    held: Held | None = None


class Waiting(Exception):
    """Something waits for a person's word: nothing was written. The message says how to give it."""


class Changed(Exception):
    """What a person confirmed is not what the files say now."""


def settings(home: str) -> InForce:
    """What holds now, for whoever starts something. Raises ConfigError."""
    return judged(home, confirmed.read(home))


def hooks(home: str) -> Mapping[str, Any]:
    """The person's own hooks, as they hold."""
    try:
        return settings(home).guarded.hooks
    except files.ConfigError:
        record = confirmed.read(home)
        return record.guarded.hooks if record else confirmed.said(home, Config()).hooks


def judged(home: str, record: Record | None) -> InForce:
    """What holds, where that record is all that is known of before. Raises ConfigError."""
    config = files.load(home)
    if record is None:
        said = confirmed.said(home, config)
        return InForce(config, said, said)
    said = confirmed.said(home, config, record.guarded)
    found = against(record.guarded, config, said)
    if found.held is None or record.held or _by_an_agent(home, record.guarded, said):
        return found
    return InForce(config, said, said)


def load(home: str) -> Config:
    """As config.load, but for what waits. Raises ConfigError."""
    return settings(home).config


def against(base: Guarded, config: Config, said: Guarded) -> InForce:
    """What holds of a configuration whose looser parts wait."""
    looser = loosened(base, said)
    if not looser:
        return InForce(config, said, said)
    guarded = strictest(base, said)
    held = Held(confirmed.fingerprint(said), tuple(looser))
    return InForce(confirmed.applied(config, guarded), guarded, base, held)


def remember(home: str, found: InForce, before: Record | None) -> Record | None:
    """Keep what was confirmed, and that something waits; the record. None: somebody else has
    written meanwhile, or writes now: look again. `before`: what `found` was judged by."""
    record = Record(found.base, found.held.fingerprint if found.held else "")
    if record == before:
        return record
    try:
        with confirmed.locked(home, wait=False):
            if confirmed.read(home) != before:
                return None
            confirmed.write(home, record)
    except (confirmed.Busy, OSError):  # or a full disk: whoever looks next judges it again
        return None
    return record


def note(home: str) -> None:
    """After a worker was ended that could not look any more: what waits is known by it still."""
    record = confirmed.read(home)
    with suppress(files.ConfigError):
        if record is not None:
            remember(home, judged(home, record), record)


# ---------------------------------------------------------------- a person's word


def confirm(home: str, fingerprint: str) -> None:
    """Let hold what the files say. Raises Changed, ConfigError, Busy."""
    with confirmed.locked(home, wait=False):
        record = confirmed.read(home)
        said = confirmed.said(home, files.load(home), record.guarded if record else None)
        if confirmed.fingerprint(said) != fingerprint:
            raise Changed("The settings have changed since that was shown.")
        confirmed.write(home, Record(said))


def check(home: str, before: Config | None, after: Config) -> Record | None:
    """What is to be recorded when a person's change of config.toml is written, under the lock;
    None: nothing, for it does not decide what waits. Raises Waiting.

    `before`: what the file said; None where it could not be used.
    """
    record = confirmed.read(home)
    known = record.guarded if record else None
    new = confirmed.said(home, after, known)
    if known is not None and not loosened(known, new):
        return Record(new)
    if before is None:  # whoever broke it may have written more: that is judged as it stands
        return None
    if settings(home).held is None:
        return Record(new)
    if loosened(confirmed.said(home, before, known), new):
        raise Waiting(f"Nothing was changed. {WAITS}")
    return None


@contextmanager
def editing(home: str, *, adds: bool) -> Iterator[None]:
    """Around a person's change of mcp.json or hooks.json: what it brings holds. One that adds
    nothing may take back what waits. Raises Waiting, FromAgent."""
    guard.require_person(home, "change the settings")
    paths.ensure_home(home)
    with confirmed.locked(home):
        waits = _waits(home)
        if waits and adds:
            raise Waiting(f"Nothing was changed. {WAITS}")
        yield
        record = confirmed.read(home)
        if record is None:
            return
        said = confirmed.said(home, Config(), record.guarded)
        new = record.guarded._replace(servers=said.servers, hooks=said.hooks)
        if not waits or not loosened(record.guarded, new):
            confirmed.write(home, record._replace(guarded=new))


def _waits(home: str) -> bool:
    try:
        return settings(home).held is not None
    except files.ConfigError:  # of the other files more is not known
        record = confirmed.read(home)
        return record is not None and bool(record.held)


# ---------------------------------------------------------------- who could have written


def _by_an_agent(home: str, base: Guarded, said: Guarded) -> bool:
    """Whether one of the files that are looser was changed while a session was awake."""
    parts = {
        confirmed.SERVERS: Guarded(servers=said.servers),
        confirmed.HOOKS: Guarded(hooks=said.hooks),
        files.FILE: said._replace(servers={}, hooks={}),
    }
    same = {
        confirmed.SERVERS: Guarded(servers=base.servers),
        confirmed.HOOKS: Guarded(hooks=base.hooks),
        files.FILE: base._replace(servers={}, hooks={}),
    }
    looser = [name for name in parts if loosened(same[name], parts[name])]
    times = [confirmed.changed_at(home, name) for name in looser]
    return any(at is None or _has_agent(home, at) or _was_awake(home, at) for at in times)


def _has_agent(home: str, at: int) -> bool:
    """Whether an agent lives that was there at a time: an editor starts ours without a worker."""
    with suppress(OSError):
        for entry in os.scandir(roots.directory(home)):
            pid, _, start = entry.name.partition("-")
            lives = pid.isdecimal() and tree.alive(int(pid), start.replace("_", " "))
            if lives and entry.stat().st_ctime_ns <= at:
                return True
    return False


def _was_awake(home: str, at: int) -> bool:
    """Whether some session had a worker at a time, in nanoseconds of the epoch."""
    started_up = _boot()
    for directory in _sessions(home):
        worker = paths.read_json(os.path.join(directory, paths.WORKER))
        begun = (lenient.integer(worker, "started") or 0) * 1_000_000
        if worker is None or begun > at:
            continue
        if is_held(os.path.join(directory, paths.LOCK)):
            return True
        ended = lenient.integer(worker, "ended")
        # One that was killed did not say when; it did not outlive the machine.
        if ended is not None and at <= ended * 1_000_000:
            return True
        if ended is None and (begun > started_up or at <= started_up):
            return True
    return False


def _sessions(home: str) -> Iterable[str]:
    with suppress(OSError):
        for name in os.listdir(paths.sessions(home)):
            if paths.is_id(name):
                yield paths.session_dir(home, name)


def _boot() -> int:
    """When this machine started, in nanoseconds of the epoch; 0: not known."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return 0 if clock is None else time.time_ns() - time.clock_gettime_ns(clock)
