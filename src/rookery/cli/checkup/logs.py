"""Checks of whether the sessions' logs can be read. The latest are read in full each time; an older
one that was sound is not opened again until it changes."""

import os
from contextlib import suppress

from rookery.cli.checkup.card import NOT_OK, OK, Row
from rookery.client.offline import fault_of
from rookery.core.json import Json, dumps, lenient
from rookery.core.json.safe_text import count
from rookery.home import paths
from rookery.home.resting import stamp_of
from rookery.log.place import has_wal

WHOLE = 256 * 2**20
"""Bytes of logs that are read in full by default: about a second."""

LEAST = 256 * 2**10
"""Bytes; to open a log takes as long as to read so many."""

VERSION = 1
"""Version of the cache file's format."""


def check(home: str, *, everything: bool = False, most: int = WHOLE) -> list[Row]:
    """Check the logs and return a row for each fault, or one row if there are none. With
    `everything` each log is read in full; otherwise up to `most` bytes, the latest logs first. The
    others are only checked to open and to have their end."""
    try:
        names = sorted(paths.session_ids(home))
    except OSError:
        return []
    whole = set(names) if everything else _latest(home, names, most)
    stamps = {name: _stamp(home, name) for name in names}
    known = _known(home)
    same = {name for name in names if stamps[name] and known.get(name) == stamps[name]} - whole
    faults = {name: fault_of(home, name, whole=name in whole) for name in names if name not in same}
    faulty = {name for name, fault in faults.items() if fault}
    sound = {name: stamps[name] for name in names if stamps[name] and name not in faulty}
    if sound != known:
        _keep(home, sound)
    rows = [Row("sessions", NOT_OK, f"{name}: {fault}") for name, fault in faults.items() if fault]
    return rows or (
        [Row("sessions", OK, _summary(len(names), len(whole), len(same)))] if names else []
    )


def _summary(every: int, whole: int, same: int) -> str:
    if whole == every:
        return f"{count(every, 'log')}, none damaged"
    summary = f"{count(every, 'log')}, no damage found; of {every - whole:,} only the end was read"
    if same:
        summary += f", and {same:,} have not changed since that was done"
    return summary + " (rookery doctor --all-logs reads them in full)"


def _latest(home: str, names: list[str], most: int) -> set[str]:
    known = []
    for name in names:
        try:
            about = os.stat(_path(home, name))
            known.append((-about.st_mtime, max(LEAST, about.st_size), name))
        except OSError:  # a missing log takes no time to read
            known.append((0.0, 0, name))
    chosen: set[str] = set()
    for _, size, name in sorted(known):
        if size <= most:
            most -= size
            chosen.add(name)
    return chosen


def _path(home: str, session: str) -> str:
    return os.path.join(paths.session_dir(home, session), paths.LOG)


def _stamp(home: str, session: str) -> str:
    """Return the log's stamp, or "" if part of it is in a WAL, so that it is opened each time."""
    log = _path(home, session)
    return "" if has_wal(log) else stamp_of(log)


# --- what is kept --------------------------------------------------------------------------------


def _place(home: str) -> str:
    return os.path.join(home, "cache", "sound-logs.json")


def _known(home: str) -> Json:
    """Return the stamps of the logs that were sound."""
    cache = paths.read_json(_place(home)) or {}
    return lenient.mapping(cache, "logs") if cache.get("v") == VERSION else {}


def _keep(home: str, sound: Json) -> None:
    """Save the stamps. If the file cannot be written, the logs are opened again next time."""
    with suppress(OSError, paths.PathError):
        paths.make_private(os.path.dirname(_place(home)))
        paths.write_atomic(_place(home), dumps({"v": VERSION, "logs": sound}).encode("ascii"))
