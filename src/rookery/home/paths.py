"""The locations of files on disk, so that every process uses the same file and socket."""

import os
import stat

from rookery.core.refusals import Fixed
from rookery.installation.home import home as place_of_home

TYPE_CHECKING = False  # the warden imports this file, and `typing` would cost it 1 MB
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

ID_LENGTH = 10
SOCKET_LIMIT = 100  # bytes; the kernel takes 107 (Linux) or 103 (macOS)

LOG = "log.db"
LOCK = "lock"
HEAD = "head.json"
WORKER = "worker.json"
ENVIRONMENT = "env.json"
GIT_HOOKS = "git-hooks.json"
"""The file that lists the commit hooks present when the session began."""
RENEWED = "env-changes.json"
WORKER_LOG = "worker.log"
AGENT_LOG = "agent.log"
STAGED = "staged"
TOLD = "told.json"
SEEN = "seen.json"
STARTS = "starts.json"
FORMAT = "format"
SLOTS = "slots"
UNFINISHED = ".new-"
"""Before the name of a session's directory while it is made."""


class PathError(Fixed):
    """A location must not be used; the message says what to do."""

    kind = "gone"
    reason = "unknown_session"


# ---------------------------------------------------------------- home and sessions


def home() -> str:
    """Return $ROOKERY_HOME or ~/.rookery, absolute; nothing is created."""
    return place_of_home()


def work_directory() -> str:
    """Return the default directory of sessions: $ROOKERY_WORK_DIR, else the current one."""
    named = os.environ.get("ROOKERY_WORK_DIR", "").strip()
    if not named:
        return os.getcwd()
    place = os.path.abspath(os.path.expanduser(named))
    if not os.path.isdir(place):
        raise PathError(f"ROOKERY_WORK_DIR is not a directory: {place}")
    return place


def ensure_home(home: str) -> str:
    """Create the home, 0700. An existing one keeps its mode."""
    os.makedirs(os.path.dirname(home), exist_ok=True)
    known = check_format(home)
    check_trust(home)
    make_private(home)
    make_private(sessions(home))
    make_private(trash(home))  # now: when a session is removed, there may be no space for it
    if known < HOME_FORMAT:
        _write_format(home)
    return home


HOME_FORMAT = 1
"""The format of this build's homes; 0 stands for earlier builds, whose homes have no number. A
build raises it when an older one would misread or damage the home. A change that concerns only one
session raises its log's own format instead (`core/safety.py`)."""


def check_format(home: str) -> int:
    """Return the home's format; every process reads it before anything else there. Raises PathError
    if a newer Rookery made the home, or if the format cannot be read."""
    path = os.path.join(home, FORMAT)
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            text = os.read(file, 64).strip()
        finally:
            os.close(file)
    except FileNotFoundError:
        return 0
    except OSError as error:
        if not os.access(home, os.X_OK):
            return 0  # `check_trust` says what is wrong with the home itself
        raise PathError(f"{path} cannot be read: {error.strerror}. {UNREAD}") from error
    if not (text.isdigit() and len(text) < 10):
        raise PathError(
            f"{path} is damaged: it should hold a number, such as {HOME_FORMAT}. {UNREAD} If no "
            f"newer Rookery ever used this home, delete that file."
        )
    if (version := int(text)) > HOME_FORMAT:
        raise PathError(
            f"{home} is of a newer Rookery (home format {version}; this one knows {HOME_FORMAT}). "
            "Nothing in it was changed. To update: rookery update"
        )
    return version


UNREAD = "It says which builds may use this home."


def _write_format(home: str) -> None:
    """Write the format if there is none: a newer Rookery may write its own at this moment. If
    nothing can be written, the home stays one of an earlier build."""
    path = os.path.join(home, FORMAT)
    complete = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    try:
        write_atomic(complete, b"%d\n" % HOME_FORMAT, sync=True)
        try:
            os.link(complete, path)
        finally:
            os.unlink(complete)
    except OSError:
        return


def check_trust(home: str) -> None:
    """Raise PathError if the home cannot be used, or if other users may write to it: it decides
    what agents may do. It need not exist yet."""
    for place in (home, sessions(home)):
        status = _directory(place)
        if status is None:
            continue
        if status.st_uid not in (os.geteuid(), 0):
            raise PathError(
                f"{place} belongs to another user (uid {status.st_uid}), who could change what "
                "agents may do here. Set ROOKERY_HOME to a directory of your own."
            )
        if stat.S_IMODE(status.st_mode) & 0o022:
            raise PathError(
                f"Other users may write to {place}, and so could change what agents may do here. "
                f"To close it: chmod go-w {place}"
            )


def _directory(place: str) -> os.stat_result | None:
    """Return a directory's status; None if it can still be created. Raises PathError."""
    try:
        status = os.stat(place)
        why = "" if stat.S_ISDIR(status.st_mode) else "it is not a directory"
        if not why and not os.access(place, os.R_OK | os.X_OK):
            why = "you may not read it"
    except FileNotFoundError:
        if not os.path.islink(place):
            return None
        why = f"it is a link to {os.readlink(place)}, which does not exist"
    except OSError as error:
        why = error.strerror or str(error)
        why = why[:1].lower() + why[1:]
    if why:
        raise PathError(
            f"{place} cannot be used: {why}. Set ROOKERY_HOME to a directory of your own."
        )
    return status


def append_line(path: str, line: str) -> None:
    """Add a line to a private file, in one write. Raises OSError."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


def make_private(directory: str) -> None:
    """Create a directory, 0700 whatever the umask; an existing one must be ours."""
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        status = os.stat(directory)
        if not stat.S_ISDIR(status.st_mode):
            raise PathError(f"{directory} is not a directory.") from None
        if status.st_uid != os.geteuid():
            raise PathError(f"{directory} belongs to another user (uid {status.st_uid}).") from None


def sessions(home: str) -> str:
    return os.path.join(home, "sessions")


def trash(home: str) -> str:
    return os.path.join(home, "trash")


def new_id() -> str:
    # The source that `secrets` draws from, without its 17 ms of imports.
    return os.urandom(ID_LENGTH // 2).hex()


def session_ids(home: str, known: "Container[str]" = ()) -> list[str]:
    """Return the ids of the home's sessions. `known`: ids that need not be checked again."""
    try:
        with os.scandir(sessions(home)) as entries:
            return [
                each.name
                for each in entries
                if (each.name in known or is_id(each.name))
                and not each.is_file(follow_symlinks=False)
            ]
    except FileNotFoundError:
        return []


def is_id(text: str) -> bool:
    """Return whether `text` can be a session id: a plain file name, so that it cannot leave the
    home."""
    return (
        0 < len(text) <= 64
        and text.isascii()
        and text[0].isalnum()
        and text.replace("-", "").replace("_", "").isalnum()
    )


def session_dir(home: str, session: str) -> str:
    if not is_id(session):
        raise PathError(f"{session!r} is not a session id.")
    return os.path.join(home, "sessions", session)


def claim_session(home: str, prefix: str = "", session: str = "") -> str:
    """Create the directory of a new session and return its id. `prefix`: precedes its name until it
    is complete. `session`: the id to use; raises FileExistsError if it is taken."""
    ensure_home(home)
    if session:
        os.mkdir(os.path.join(sessions(home), prefix + session), 0o700)
        return session
    while True:
        session = new_id()
        try:
            if not os.path.lexists(session_dir(home, session)):
                os.mkdir(os.path.join(sessions(home), prefix + session), 0o700)
                return session
        except FileExistsError:
            continue


# ---------------------------------------------------------------- sockets


def socket_path(session_dir: str) -> str:
    """Return the socket of a session's worker, however the session directory is spelled. Nothing is
    created: the worker calls `make_socket_dir`. Never XDG_RUNTIME_DIR: it is removed at logout."""
    from hashlib import sha256  # 4 ms and 3 MB, only if needed

    real = os.path.realpath(session_dir)
    name = sha256(os.fsencode(real)).hexdigest()[:8] + ".s"
    return named_socket(os.path.dirname(os.path.dirname(real)), name)


def named_socket(home: str, name: str) -> str:
    """Return a socket of this home; if its path is too long, it is in a directory that all homes
    share, so the name must be unique among them."""
    path = os.path.join(home, "run", name)
    if len(os.fsencode(path)) <= SOCKET_LIMIT:
        return path
    directory = _short_dir()
    if os.path.lexists(directory):
        check_socket_dir(directory)
    return os.path.join(directory, name)


def socket_directory(home: str) -> str:
    """Return the directory of the sockets of a home's workers."""
    return os.path.dirname(socket_path(os.path.join(sessions(home), "0" * ID_LENGTH)))


def make_socket_dir(socket: str) -> None:
    """Create the directory of a socket, for this user only."""
    directory = os.path.dirname(socket)
    if directory != _short_dir():
        return make_private(directory)
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        check_socket_dir(directory)
    # Ours, but perhaps open to others through an odd umask.
    os.chmod(directory, 0o700)
    return None


def check_socket_dir(directory: str) -> None:
    """Refuse a directory in /tmp that another user has prepared. Raises PathError."""
    status = os.lstat(directory)
    if stat.S_ISLNK(status.st_mode):
        raise PathError(f"{directory} is a symbolic link; remove it.")
    if not stat.S_ISDIR(status.st_mode):
        raise PathError(f"{directory} is not a directory; remove it.")
    if status.st_uid != os.geteuid():
        raise PathError(
            f"{directory} belongs to another user (uid {status.st_uid}); "
            "set ROOKERY_HOME to a shorter path, so that it is not needed."
        )


def _short_dir() -> str:
    # Not tempfile.gettempdir(): TMPDIR differs between a terminal and an editor of the same user.
    return f"/tmp/rookery-{os.geteuid()}"  # noqa: S108 - owner and kind are checked before use


# ---------------------------------------------------------------- small files


def with_tilde(path: str) -> str:
    """Return the path with ~ for the user's directory."""
    user = os.path.expanduser("~")
    return "~" + path[len(user) :] if path == user or path.startswith(user + "/") else path


def write_atomic(path: str, data: bytes, mode: int = 0o600, *, sync: bool = False) -> None:
    """Replace a file so that a reader sees either the old bytes or the new ones. With `sync` this
    also holds after a power cut; without it the file may then be empty."""
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(temporary, flags, mode)
    replaced = False
    try:
        try:
            os.fchmod(file, mode)  # whatever the umask
            left = memoryview(data)
            while left:
                left = left[os.write(file, left) :]
            if sync:
                os.fsync(file)
        finally:
            os.close(file)
        os.replace(temporary, path)
        replaced = True
    finally:
        if not replaced:
            os.unlink(temporary)


def read_json(path: str) -> "dict[str, Any] | None":
    """Return the object in a file; None if there is none that can be read."""
    import json

    try:
        # O_NONBLOCK: a pipe in its place would be waited for.
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            value = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
