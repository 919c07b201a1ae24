"""Bringing the index up to date with the logs, in slices, each a transaction; it can be stopped
between them.

Only one process at a time does it, the holder of the lock; others read the index as it is."""

import os
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple
from zlib import crc32

from rookery.core.json import Event, dumps, lenient
from rookery.home import paths
from rookery.log.errors import FAULTS, REFUSED, Busy, LogError, fault_of
from rookery.log.lock import LOCK_FILE, Lock, is_locked
from rookery.log.reader import Reader
from rookery.search import index as files
from rookery.search.index import Extent, Index, Known, Stretch
from rookery.search.texts import Row, Rows

EVENTS, TEXT = 32_768, 8 * 1024 * 1024
"""Approximate bounds of a transaction: each makes a part of the index that is merged with
others."""

ROOM = 256 * 1024
"""Bytes of events that are read at once."""

BEFORE = 20
"""Events before a gap that are looked at: a message may go on in it."""

FRESH = 0.1
"""Seconds in which a file may change again and keep its time: it is looked at once more."""

OLD = 86_400.0
"""Seconds after which the file of an earlier version is deleted."""

DROPS = 2.0
"""Seconds to wait for another process, when a session was deleted."""

AGAIN = "?"
"""Stamp of a session that is looked at again next time."""

type Stop = Callable[[], bool]
type Tell = Callable[[int, int], object]
"""Sessions that are done, and all that are to be."""


class Progress(NamedTuple):
    done: bool
    """The index has everything that was said when the update began."""
    events: int = 0
    """That were indexed."""
    left: int = 0
    """Sessions that are not up to date."""
    busy: bool = False
    """Another process is updating it."""
    problem: str = ""
    """Why it could not be updated."""
    skipped: tuple[str, ...] = ()
    """Sessions that cannot be read."""


def update(
    home: str,
    *,
    stop: Stop = lambda: False,
    seconds: float | None = None,
    wait: float = 0.0,
    tell: Tell = lambda _done, _all: None,
) -> Progress:
    """Index what is new in all sessions. Ends early when `stop` returns true, or after `seconds`;
    what was done stays. `wait`: seconds to wait for another process that is updating."""
    if not os.path.isdir(paths.sessions(home)):
        return Progress(done=True)
    until = None if seconds is None else time.monotonic() + seconds

    def over() -> bool:
        return stop() or (until is not None and time.monotonic() >= until)

    for again in (True, False):
        try:
            with Index.open(home, wait) as index:
                return _Update(home, index, over, tell).run()
        except Busy:
            return Progress(done=False, busy=True)
        except (OSError, paths.PathError) as error:
            return Progress(done=False, problem=f"{files.folder(home)}: {error}")
        except (sqlite3.Error, files.Damaged) as error:
            if again and files.is_damage(error):
                _remove(home)
                continue
            return Progress(done=False, problem=_reason(home, error))
    return Progress(done=False)


def drop_deleted(home: str) -> None:
    """Drop deleted sessions from the index, and index nothing."""
    if os.path.exists(files.path(home)):
        update(home, stop=lambda: True, wait=DROPS)


def _remove(home: str) -> None:
    """Remove a damaged index, but not while another process uses it."""
    with suppress(Busy, OSError):
        lock = Lock.acquire(os.path.join(files.folder(home), LOCK_FILE), 0)
        try:
            files.remove(home)
        finally:
            lock.release()


def _reason(home: str, error: Exception) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in REFUSED and (fault := fault_of(files.folder(home))):
        return f"{files.folder(home)}: {FAULTS[fault]}"
    return f"{files.path(home)}: {error}"


class _Update:
    def __init__(self, home: str, index: Index, over: Stop, tell: Tell) -> None:
        self._home = home
        self._index = index
        self._over = over
        self._tell = tell
        self._events = self._text = 0
        self._all = 0
        self._skipped: list[str] = []

    def run(self) -> Progress:
        known = self._index.sessions()
        stamps = {name: stamp_of(self._home, name) for name in paths.session_ids(self._home)}
        there = {name: stamp for name, stamp in stamps.items() if stamp}
        self._skipped = [name for name in stamps if name not in there]
        self._forget([known[name] for name in known if name not in there])
        same = {n for n in known if known[n].stamp == there.get(n) != AGAIN}
        left = self._bring([name for name in there if name not in same])
        # A volume that was dropped had other sessions in it: they are indexed again.
        known = self._index.sessions()
        if not left and (again := [n for n in there if n in known and not known[n].stamp]):
            left = self._bring(again)
        if not left:
            self._tidy()
        skipped = tuple(sorted({*self._skipped}))
        return Progress(done=not left, events=self._all, left=left, skipped=skipped)

    def _forget(self, gone: list[Known]) -> None:
        if not gone:
            return
        with self._index.changes():
            self._index.drop(x.volume for each in gone for x in self._index.extents(each.n))
            self._index.forget(each.n for each in gone)
        self._index.shrink()

    def _bring(self, names: list[str]) -> int:
        """Bring sessions up to date, those with the latest events first; return how many are
        not."""
        names.sort(key=lambda name: (-_time(self._home, name), name))
        place = 0
        while place < len(names):
            if self._over() or not self._index.stands():
                return len(names) - place
            self._events = self._text = 0
            with self._index.changes():
                while place < len(names) and not self._is_full() and not self._over():
                    if self._session(names[place]):
                        place += 1
            self._tell(place, len(names))
        return 0

    def _is_full(self) -> bool:
        return self._events >= EVENTS or self._text >= TEXT

    def _session(self, name: str) -> bool:
        """Index as much of a session as a transaction takes; return whether that was all."""
        directory = paths.session_dir(self._home, name)
        stamp = stamp_of(self._home, name)
        number = self._index.admit(name)
        open_ = is_locked(directory)
        try:
            with Reader.open(directory) as log:
                last = log.last_seq()
                extents = self._checked(log, self._index.extents(number), last)
                for first, upto in gaps(extents, last):
                    covered = self._gap(log, number, first, upto, open_=open_ and upto == last)
                    if covered is None:
                        return False
                    stamp = stamp if covered >= upto else AGAIN
        except (LogError, OSError):
            stamp = AGAIN
            self._skipped.append(name)
        head = paths.read_json(os.path.join(directory, paths.HEAD))
        agent, cwd = lenient.text(head, "agent"), lenient.text(head, "cwd")
        self._index.note(number, stamp or AGAIN, agent, cwd)
        return True

    def _checked(self, log: Reader, extents: list[Extent], last: int) -> list[Extent]:
        """Return the extents that belong to this log. It may have been replaced, or be shorter than
        it was; events of earlier turns may have been pruned, which changes nothing."""
        if not extents or _is_of(log, extents[-1], last):
            return extents
        bad = {extent.volume for extent in extents if not _is_of(log, extent, last)}
        self._index.drop(bad)
        return [extent for extent in extents if extent.volume not in bad]

    def _gap(self, log: Reader, number: int, first: int, upto: int, *, open_: bool) -> int | None:
        """Index a gap; return up to which event, or None if there is more. `open_`: the last
        message may continue, and is left for later."""
        rows = Rows(log.read(max(0, first - 1 - BEFORE), BEFORE, first - 1))
        begin, place = first, first - 1
        events: list[Event] = []
        while place < upto:
            if self._is_full() or self._over():
                return None
            read = log.stretch(place, ROOM, upto)
            new_rows = rows.take(read)
            place = read[-1].seq if read else upto
            if place >= upto and not open_:
                new_rows += rows.finish(upto)
            events += read
            if rows.covered >= begin:
                end = bisect_right(events, rows.covered, key=lambda event: event.seq)
                self._index.add(_stretch(number, begin, rows.covered, events[:end], new_rows))
                self._count(rows.covered + 1 - begin, new_rows)
                begin, events = rows.covered + 1, events[end:]
        return begin - 1

    def _count(self, events: int, rows: list[Row]) -> None:
        self._events, self._all = self._events + events, self._all + events
        self._text += sum(len(row.text) for row in rows)

    def _tidy(self) -> None:
        self._index.neaten()
        if self._index.is_loose():
            self._index.shrink()
        _delete_earlier(self._home)


def gaps(extents: list[Extent], last: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of events that no extent has."""
    place = 1
    for extent in extents:
        if extent.first_seq > place:
            yield place, extent.first_seq - 1
        place = max(place, extent.last_seq + 1)
    if place <= last:
        yield place, last


def _stretch(number: int, first: int, last: int, events: list[Event], rows: list[Row]) -> Stretch:
    at = max((event.at for event in events), default=0)
    mark = print_of(events[-1]) if events and events[-1].seq == last else 0
    return Stretch(number, first, last, at, mark, rows)


def _is_of(log: Reader, extent: Extent, last: int) -> bool:
    if extent.last_seq > last:
        return False
    events = log.read(extent.last_seq - 1, 1, extent.last_seq)
    return not events or not extent.print or print_of(events[0]) == extent.print


def print_of(event: Event) -> int:
    """Return a checksum by which an event is recognized."""
    return crc32(f"{event.at} {dumps(event.update)}".encode()) or 1


def stamp_of(home: str, session: str) -> str:
    """Return a stamp of a log's files: the same as long as nothing was written. "" if there is no
    log."""
    log = os.path.join(paths.session_dir(home, session), paths.LOG)
    try:
        states = [os.stat(log)]
    except OSError:
        return ""
    with suppress(OSError):
        states.append(os.stat(f"{log}-wal"))
    if max(each.st_mtime for each in states) > time.time() - FRESH:
        return AGAIN
    return " ".join(f"{each.st_ino}.{each.st_size}.{each.st_mtime_ns}" for each in states)


def _time(home: str, session: str) -> int:
    """Return the time at which a session last changed."""
    log = os.path.join(paths.session_dir(home, session), paths.LOG)
    times = [0]
    for name in (log, f"{log}-wal"):
        with suppress(OSError):
            times.append(os.stat(name).st_mtime_ns)
    return max(times)


def _delete_earlier(home: str) -> None:
    """Delete files of earlier versions that no process has used for a day."""
    place = files.folder(home)
    with suppress(OSError):
        for name in os.listdir(place):
            version = name.removeprefix("words-").partition(".")[0]
            file = os.path.join(place, name)
            earlier = version.isdecimal() and int(version) < files.VERSION
            if earlier and abs(time.time() - os.stat(file).st_mtime) > OLD:
                os.unlink(file)
