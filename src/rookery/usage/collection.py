"""Collecting the usage rows of a home's sessions. Each log is read once: its totals are kept in a
file of the home, and afterwards only new events are read. The file may be deleted at any time."""

import os
from contextlib import suppress
from typing import NamedTuple

from rookery.core.json import lenient
from rookery.core.json.events import Json, dumps
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.usage.meter import KINDS, Row, merged, read

VERSION = 1
"""The version of the file and of how usage is counted: another version is not used."""

LARGEST = 10**18
"""A number that is larger was not counted by us."""


class Filters(NamedTuple):
    since: float = 0
    """Milliseconds since the epoch."""
    agent: str = ""
    within: str = ""
    """A directory: sessions that work in it, or below it."""
    session: str = ""


ALL = Filters()


def collect(home: str, filters: Filters = ALL, skipped: list[str] | None = None) -> list[Row]:
    """Return the usage in the logs of all sessions, oldest first. `skipped`: gets the ids of
    sessions whose logs cannot be read. Numbers of deleted sessions and of pruned events are gone
    with them."""
    kept = _kept(home)
    now: dict[str, Json] = {}
    rows: list[Row] = []
    for session in sorted(paths.session_ids(home)):
        directory, known = paths.session_dir(home, session), kept.get(session)
        sign = _sign(directory)
        if sign and max(sign[1::2]) < filters.since * 1_000_000:  # it was not written since then
            now |= {session: known} if known is not None else {}
            continue
        entry = None if sign is None else _entry(directory, session, sign, known)
        if entry is None:
            if skipped is not None and os.path.lexists(directory):
                skipped.append(session)
            continue
        now[session] = entry
        if _is_within(lenient.text(entry["state"], "cwd"), filters.within):
            rows += [row for row in _rows(session, entry) if _matches(row, filters)]
    if now != kept:
        _keep(home, now)
    return sorted(rows, key=lambda row: row.at)


def _matches(row: Row, filters: Filters) -> bool:
    return (
        row.at >= filters.since
        and filters.agent in ("", row.agent)
        and filters.session in ("", row.session)
    )


def _is_within(cwd: str, place: str) -> bool:
    if not place:
        return True
    place = os.path.abspath(place)
    return bool(cwd) and (cwd == place or cwd.startswith(place.rstrip("/") + "/"))


# --- one session ---------------------------------------------------------------------------------


def _entry(directory: str, session: str, sign: list[int], kept: Json | None) -> Json | None:
    """Return a session's entry; None if its log cannot be read. If the kept entry is damaged, the
    log is read again."""
    kept = kept if kept is not None and _is_sound(session, kept) else None
    if kept is not None and kept.get("sign") == sign:
        return kept
    try:
        with Reader.open(directory) as log:
            return _read(log, session, sign, kept)
    except (LogError, OSError):
        return None


def _read(log: Reader, session: str, sign: list[int], kept: Json | None) -> Json:
    beginning = log.read(0, 1)
    first = beginning[0].seq if beginning else 0
    last = log.last_seq()
    if kept is None or kept.get("first") != first or kept["seq"] > last:  # new, or pruned
        kept = {"seq": 0, "state": {}, "rows": []}
    news = [event for event in log.of_kinds(*KINDS, after=kept["seq"]) if event.seq <= last]
    state, more = read(session, kept["state"], news)
    rows = merged([*_rows(session, kept), *more])
    return {
        "sign": sign,
        "first": first,
        "seq": last,
        "state": state,
        "rows": [[row.at, *row[2:]] for row in rows],
    }


def _rows(session: str, entry: Json) -> list[Row]:
    return [Row(at, session, *rest) for at, *rest in entry["rows"]]


def _sign(directory: str) -> list[int] | None:
    """Return the state of a log's files, to compare; an empty WAL that a reader left behind does
    not count."""
    stamps: list[int] = []
    for name in (paths.LOG, f"{paths.LOG}-wal"):
        try:
            state = os.stat(os.path.join(directory, name))
        except OSError:
            if name == paths.LOG:
                return None
            continue
        stamps += [state.st_size, state.st_mtime_ns] if state.st_size else []
    return stamps


# --- what is kept --------------------------------------------------------------------------------


def _place(home: str) -> str:
    return os.path.join(home, "cache", "usage.json")


def _kept(home: str) -> dict[str, Json]:
    """Return the kept entry of each session; not checked yet."""
    document = paths.read_json(_place(home)) or {}
    if document.get("v") != VERSION:
        return {}
    return lenient.mapping(document, "sessions")


def _is_sound(session: str, entry: object) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("state"), dict):
        return False
    if not all(isinstance(entry.get(key), int) for key in ("first", "seq")):
        return False
    try:
        rows = _rows(session, entry)
    except (TypeError, ValueError, KeyError):
        return False
    return all(map(_is_row, rows))


def _is_row(row: Row) -> bool:
    texts: tuple[object, ...] = row[1:5]
    numbers: tuple[object, ...] = (row.at, *row[5:])
    sound = all(isinstance(each, int | float) and 0 <= each <= LARGEST for each in numbers)
    return sound and all(isinstance(each, str) for each in texts)


def _keep(home: str, entries: dict[str, Json]) -> None:
    """Write the entries. If that fails (a read-only home, a full disk), logs are read again next
    time."""
    with suppress(OSError, paths.PathError):
        path = _place(home)
        paths.make_private(os.path.dirname(path))
        paths.write_atomic(path, dumps({"v": VERSION, "sessions": entries}).encode())
