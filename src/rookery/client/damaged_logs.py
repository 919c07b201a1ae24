"""Sessions whose log cannot be read, or has lost its end: found, reported, and named so that they
can still be deleted."""

import os

from rookery.core.json import lenient
from rookery.core.json.events import Draft, notice
from rookery.core.json.safe_text import count
from rookery.home import paths
from rookery.log.errors import LogError, NoSession
from rookery.log.reader import Reader
from rookery.log.store import Writer


def damage_of(directory: str, *, whole: bool = False) -> str:
    """What is wrong with a session's log, as a sentence's end; "": nothing is. `whole`: every page
    of it is looked at."""
    try:
        with Reader.open(directory) as log:
            if not log.last_seq():
                return "it has no events" if not _told(directory) else "all of its events are gone"
            log.header()
            found = log.damage() if whole else ""
            lost = missing(directory, log.last_seq())
    except NoSession:
        return "there is none"
    except LogError as error:
        return str(error)
    if lost and not found:
        return f"its last {count(lost, 'event')} are gone: {paths.LOG}-wal was lost"
    return found


def missing(directory: str, last: int) -> int:
    """How many events the session's head tells of that its log has not: a head is written after
    them."""
    return max(0, _told(directory) - last)


def loss(directory: str, writer: Writer) -> list[Draft]:
    """What the log itself is to say of events that it has lost, for the next writer."""
    lost = missing(directory, writer.last_seq)
    if not lost or not writer.last_seq:
        return []
    text = (
        f"The last {count(lost, 'event')} of this session are gone: {paths.LOG}-wal was "
        "removed or not copied with the log, or the power failed."
    )
    return [Draft(notice(text))]


def _told(directory: str) -> int:
    return lenient.integer(paths.read_json(os.path.join(directory, paths.HEAD)), "seq") or 0


def way_out(home: str, session: str) -> str:
    """How to save what can be saved, and how to be rid of it."""
    log = os.path.join(paths.session_dir(home, session), paths.LOG)
    return (
        f"To save what can be read: rookery show {session} --all --events > saved.jsonl, "
        f"or sqlite3 {log} .recover | sqlite3 saved.db. To delete it: rookery remove {session}"
    )
