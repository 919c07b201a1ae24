"""`confirmed.json` of the home: the settings that decide what runs without asking, as the user last
confirmed them, so that an agent's change can be told from the user's.

It records the contents of config.toml, mcp.json, hooks.json and trusted.json at that time. If it is
missing, the present files count as confirmed, except for trusted.json."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from rookery.core.json import Json, dumps
from rookery.core.json import files as json_files
from rookery.core.refusals import Fixed
from rookery.core.settings import definitions, loosening
from rookery.core.settings.agent_tables import extras_from
from rookery.core.settings.loosening import (
    BUDGETS,
    EXTRAS,
    RUNS,
    STRICT_FIRST,
    WORKTREES,
    Guarded,
)
from rookery.core.settings.worktree_tables import preparation_from
from rookery.home import config as files
from rookery.home import ownership, paths

FILE = "confirmed.json"
LOCK = "config.lock"
"""Held by a process of ours that changes config.toml, mcp.json or this record."""

SERVERS = "mcp.json"
HOOKS = "hooks.json"
TRUSTED = "trusted.json"
WATCHED = (files.FILE, SERVERS, HOOKS, TRUSTED)
SINGLE = {each.key: each for each in definitions.SINGLE}


class Record(NamedTuple):
    guarded: Guarded
    held: str = ""
    """The fingerprint of what waits for confirmation; "": nothing does."""


class Busy(Fixed):
    """Another Rookery process is writing the settings."""

    reason = "changed"


def read(home: str) -> Record | None:
    """Read the record; None if there is none that can be used."""
    record = paths.read_json(os.path.join(home, FILE))
    guarded = None if record is None else loosening.of_json(record.get("settings"))
    if record is None or guarded is None:
        return None
    held = record.get("held")
    return Record(guarded, held if isinstance(held, str) else "")


def write(home: str, record: Record) -> None:
    """Write the record; the caller holds the lock. It may hold secrets, as mcp.json does."""
    about: Json = {"v": 1, "settings": loosening.to_json(record.guarded), "held": record.held}
    data = dumps(about).encode("ascii") + b"\n"
    paths.write_atomic(os.path.join(home, FILE), data, 0o600, sync=True)


@contextmanager
def locked(home: str, *, wait: bool = True) -> Iterator[None]:
    """Keep other Rookery processes from changing the settings meanwhile. Raises Busy unless it
    waits."""
    lock = os.open(os.path.join(home, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy("The settings are being written by another process. Try again.") from None
        yield
    finally:
        os.close(lock)


# ---------------------------------------------------------------- what the files say


def guarded_settings(home: str, config: files.Config, former: Guarded | None = None) -> Guarded:
    """Return the guarded part of the files; for a file that cannot be used, the values in
    `former`."""
    known = former or Guarded()
    return Guarded(
        config.rules,
        {key: definitions.value_of(config, SINGLE[key]) for key in (*STRICT_FIRST, *BUDGETS)}
        | {_confined(name): False for name in config.unconfined},
        {key: definitions.value_of(config, SINGLE[key]) for key in RUNS}
        | {f"agents.{name}.command": list(argv) for name, argv in config.agents.items()}
        | {f"agents.{name}{EXTRAS}": each.plain() for name, each in config.extras.items()}
        | {f"{WORKTREES}{path}": each.plain() for path, each in config.worktrees.items()},
        _table(home, SERVERS, "mcpServers", known.servers),
        _table(home, HOOKS, "", known.hooks),
        _trusted(_table(home, TRUSTED, "trusted", known.trusted)),
    )


def _trusted(table: Json) -> Json:
    return {
        project: [each for each in known if isinstance(each, str)]
        for project, known in table.items()
        if isinstance(known, list)
    }


def _table(home: str, name: str, key: str, known: Any) -> Any:
    path = os.path.join(home, name)
    try:
        data = ownership.read(path, home)
        document = {} if data is None else json_files.parse(data, path)
    except json_files.Unusable:
        return known
    table = document.get(key, {}) if key else document
    return table if isinstance(table, dict) else known


def fingerprint(guarded: Guarded) -> str:
    from hashlib import sha256  # 4 ms and 3 MB, only if needed

    return sha256(dumps(_sorted(loosening.to_json(guarded))).encode("ascii")).hexdigest()[:16]


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return [[key, _sorted(value[key])] for key in sorted(value)]
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def changed_at(home: str, name: str) -> int | None:
    """Return when a file, or a link to it, was last changed, in nanoseconds since the epoch: its
    ctime, which no program can set. None if there is no file."""
    path = os.path.join(home, name)
    with suppress(OSError):
        return max(os.lstat(path).st_ctime_ns, os.stat(path).st_ctime_ns)
    return None


def stamp(home: str) -> tuple[tuple[int, ...] | None, ...]:
    """Return a stamp that changes when one of the files does: inode, times of change and size of
    each; None for a missing file."""
    return tuple(_stamp(os.path.join(home, name)) for name in (*WATCHED, FILE))


def _stamp(path: str) -> tuple[int, ...] | None:
    with suppress(OSError):
        status = os.stat(path)
        return (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return None


# ---------------------------------------------------------------- what applies


def applied(config: files.Config, guarded: Guarded) -> files.Config:
    """Return the configuration with the given guarded part in place of its own."""
    for key, value in {**guarded.choices, **guarded.programs}.items():
        if key in SINGLE:
            config = definitions.with_value(config, SINGLE[key], value)
    agents = {
        key.removeprefix("agents.").removesuffix(".command"): list(argv)
        for key, argv in guarded.programs.items()
        if key.startswith("agents.") and not key.endswith(EXTRAS)
    }
    extras = {
        key.removeprefix("agents.").removesuffix(EXTRAS): extras_from(plain)
        for key, plain in guarded.programs.items()
        if key.startswith("agents.") and key.endswith(EXTRAS)
    }
    free = {name for name in config.unconfined if guarded.choices.get(_confined(name)) is False}
    config = config._replace(rules=guarded.rules, unconfined=frozenset(free))
    prepared = {
        key.removeprefix(WORKTREES): preparation_from(plain)
        for key, plain in guarded.programs.items()
        if key.startswith(WORKTREES)
    }
    return config._replace(agents=agents, extras=extras, worktrees=prepared)


def _confined(name: str) -> str:
    return f"agents.{name}.confined"
