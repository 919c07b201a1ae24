"""Counting how often a session's worker was started since one last ended properly: one that keeps
dying is not restarted for ever. The count is in a small file beside the log, which every starter
reads and writes."""

import json
import os
import time
from contextlib import suppress

from rookery.core.json import Json, lenient
from rookery.core.limits import Policy
from rookery.home import config, paths


class Parked(Exception):
    """The worker died too often; `first` is true for the process that notices it first."""

    def __init__(self, starts: int, window: float, *, first: bool) -> None:
        super().__init__(starts, window)
        self.starts = starts
        self.window = window
        self.first = first


def check(home: str, session: str) -> int:
    """Return the time of a start that is allowed, in milliseconds since the epoch. Raises
    Parked."""
    directory, now = paths.session_dir(home, session), time.time_ns() // 1_000_000
    record = _read(directory)
    starts = _starts(record)
    if not starts or _ended_well(directory, starts[-1]):
        return now
    policy = _policy(home)
    recent = [at for at in starts if 0 <= now - at < policy.crash_window * 1000]
    was = record.get("parked") is True
    if not was and len(recent) < policy.worker_crash_most:
        return now
    if not was:
        _write(directory, {"starts": recent, "parked": True})
    raise Parked(len(starts if was else recent), policy.crash_window, first=not was)


def note(home: str, session: str, at: int) -> None:
    """Record that a worker was started, or died while starting."""
    directory = paths.session_dir(home, session)
    starts = _starts(_read(directory))
    if starts and not _ended_well(directory, starts[-1]):
        least = at - _policy(home).crash_window * 1000
        starts = [each for each in starts if each > least]
    else:
        starts = []
    _write(directory, {"starts": [*starts, at]})


def forget(home: str, session: str) -> None:
    """Reset the count: the user wants it started again, and it may die as often as before."""
    with suppress(OSError):
        os.unlink(os.path.join(paths.session_dir(home, session), paths.STARTS))


def forget_all(home: str) -> None:
    for session in paths.session_ids(home):
        forget(home, session)


def _ended_well(directory: str, last: int) -> bool:
    """Whether the worker of the last start was stopped, and did not die."""
    worker = paths.read_json(os.path.join(directory, paths.WORKER))
    return (lenient.integer(worker, "ended") or 0) >= last


def _read(directory: str) -> Json:
    return paths.read_json(os.path.join(directory, paths.STARTS)) or {}


def _starts(record: Json) -> list[int]:
    starts = record.get("starts")
    return [at for at in starts if isinstance(at, int)] if isinstance(starts, list) else []


def _write(directory: str, record: Json) -> None:
    with suppress(OSError):  # on a full disk it is started once more
        data = json.dumps(record).encode("ascii")
        paths.write_atomic(os.path.join(directory, paths.STARTS), data, 0o600)


def _policy(home: str) -> Policy:
    try:
        return config.load(home).policy
    except config.ConfigError:  # the worker reports it
        return Policy()
