"""Writing an export to a file: named after its session, and written completely or not at all."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from rookery.export.session import ALL, FORMATS, Turns, pieces
from rookery.export.turns import about
from rookery.home.paths import session_dir
from rookery.log.history import History
from rookery.log.reader import Reader
from rookery.processes import tree
from rookery.render.runs import clean_line

LONGEST_NAME = 60
ATTEMPTS = 1000


class Exists(FileExistsError):
    """Raised if a file of this name exists and was not to be replaced."""


def form_of(path: str) -> str:
    """Return the format that a file's name implies, or "" if it implies none that is known."""
    ending = os.path.splitext(path)[1].lower().removeprefix(".")
    ending = {"htm": "html", "markdown": "md", "ndjson": "jsonl"}.get(ending, ending)
    return ending if ending in FORMATS else ""


def name_for(home: str, session: str, form: str) -> str:
    with Reader.open(session_dir(home, session)) as log:
        return name_of(log, session, form)


def name_of(log: History, session: str, form: str) -> str:
    """Return a file name made of the session's title."""
    title = clean_line(about(log).title or session)
    slug = re.sub(r"[^\w]+", "-", title.lower()).strip("-")
    return f"{slug[:LONGEST_NAME].strip('-') or 'session'}.{form}"


def to_new_file(
    home: str, session: str, wanted: str, cwd: str, form: str = "", now: float = 0.0
) -> str:
    """Export to a new file and return its path. An existing file is never replaced: the next one is
    numbered. `wanted` may be empty, a directory or a file, relative to `cwd`. Raises OSError,
    LogError."""
    form = form or form_of(wanted) or "md"
    base = os.path.join(cwd, os.path.expanduser(wanted)) if wanted else ""
    if not base or os.path.isdir(base):
        base = os.path.join(base or cwd, name_for(home, session, form))
    stem, ending = os.path.splitext(base)
    for number in range(1, ATTEMPTS):
        path = f"{stem}-{number}{ending}" if number > 1 else base
        try:
            to_file(home, session, form, path, now=now)
        except Exists:
            continue
        return path
    raise FileExistsError(f"{base} exists")


def to_file(
    home: str,
    session: str,
    form: str,
    path: str,
    turns: Turns = ALL,
    *,
    force: bool = False,
    now: float = 0.0,
) -> None:
    """Export to a file. Raises Exists, OSError, LogError."""
    keep(path, lambda: pieces(home, session, form, turns, now), force=force)


def keep(path: str, data: Callable[[], Iterable[bytes]], *, force: bool) -> None:
    """Write a transcript to a file. Raises Exists, OSError, and what `data` raises.

    The file is readable only by this user, since a transcript holds what an agent saw. It is
    written under another name until it is complete, and a file that appeared meanwhile is not
    replaced, either."""
    if not force and os.path.lexists(path):
        raise Exists(f"{path} exists")
    _sweep(path)
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    try:
        file, nameless = _opened(temporary)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(file, "wb") as out:
            for piece in data():
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
            if nameless:
                # `src_dir_fd` is not used for a whole path, and has the link followed.
                os.link(f"/proc/self/fd/{file}", temporary, src_dir_fd=file, follow_symlinks=True)
        if force:
            os.replace(temporary, path)
        else:
            _place(temporary, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _opened(temporary: str) -> tuple[int, bool]:
    """Open a file for writing; return it, and whether it is still nameless, in which case nothing
    is left of it if this process is killed."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):  # not every file system can
            place = os.path.dirname(temporary) or "."
            return os.open(place, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o600), True
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(temporary, flags, 0o600), False


def _sweep(path: str) -> None:
    """Remove the leftovers of a killed export to the same path."""
    place, name = os.path.split(path)
    left = re.compile(re.escape(name) + r"\.(\d{1,10})\.[0-9a-f]{8}\.tmp")
    with suppress(OSError):
        for each in os.listdir(place or "."):
            if (match := left.fullmatch(each)) and tree.start_time(int(match[1])) is None:
                os.unlink(os.path.join(place, each))


def _place(temporary: str, path: str) -> None:
    """Rename the file without replacing another."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as error:  # also a file system without links
        if isinstance(error, FileExistsError) or os.path.lexists(path):
            raise Exists(f"{path} exists") from None
        os.rename(temporary, path)
