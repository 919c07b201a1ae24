"""`fs/*`: the agent's file calls, confined to the session's roots without races. An editor's
unsaved buffers come first, then the disk.

A path is resolved twice. First by name, to learn which root it should lie in; that is only a hint,
since links can be swapped meanwhile. Then from that root's descriptor, component by component,
following no link at all: a link on the way is refused, so nothing outside a root is ever opened."""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from rookery.core.json import Json, lenient
from rookery.snapshots import same_file
from rookery.wire.jsonrpc import INTERNAL_ERROR, Incoming, RpcError
from rookery.wire.params import NOT_FOUND, invalid
from rookery.worker.clients import Clients

LONGEST_PATH = 4096
LARGEST = 16 * 1024 * 1024
"""Bytes of one file; an answer has to fit into one line of the protocol."""

GIT = ".git"
"""Hooks and settings lie there, which the user's own git obeys."""

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Files:
    """The files in the session's roots. Raises RpcError with code and message for the agent."""

    def __init__(self, roots: Sequence[str], umask: int, sealed: Sequence[str] = ()) -> None:
        """`sealed`: paths inside the roots that are never written on behalf of an agent."""
        self._roots = [os.path.realpath(root) for root in roots]
        self._umask = umask
        self._sealed = sealed

    def read(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        """Return the text of a file, or `limit` lines of it from the 1-based `line`."""
        if (line is not None and line < 0) or (limit is not None and limit < 0):
            raise invalid("line and limit must not be negative")
        with self._parent(path, make=False) as (folder, name), _explained(path):
            data = _read(folder, name, path)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise invalid(f"{path} is not UTF-8 text") from None
        if line is None and limit is None:
            return text
        first = max(0, (line or 1) - 1)
        # As editors count them: str.splitlines would also end a line at a form feed.
        lines = re.findall(r"[^\n]*\n|[^\n]+", text)[first:]
        return "".join(lines if limit is None else lines[:limit])

    def peek(self, path: str, largest: int) -> str | None:
        """Return the text of a file of at most `largest` bytes; None if larger or unreadable."""
        try:
            return self.read(path) if os.path.getsize(path) <= largest else None
        except (OSError, ValueError, RpcError):
            return None

    def write(self, path: str, text: str) -> None:
        """Replace a file atomically, keeping its mode and owner; missing folders are made."""
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            raise invalid("the content is not valid text (a lone surrogate)") from None
        if len(data) > LARGEST:
            raise invalid(f"{len(data)} bytes: the limit for writing is {LARGEST}")
        with self._parent(path, make=True) as (folder, name), _explained(path):
            mode = _mode_of(folder, name, path)
            if mode is None:
                mode = 0o666 & ~self._umask
            if not same_file.overwrite(folder, name, data, mode):
                self._replace(folder, name, data, mode)

    def check(self, path: str, *, writing: bool = False) -> tuple[str, str]:
        """Return the root in which a path lies, and its real path. Both hold for this moment only:
        use them to judge the path, not to open it."""
        _check_name(path)
        real = os.path.realpath(path)
        for root in self._roots:
            if real == root or real.startswith(root.rstrip("/") + "/"):
                if writing and os.path.relpath(real, root).split("/")[0].lower() in self._sealed:
                    raise invalid(f"{path} is git's own: not to be written in a sandbox")
                return root, real
        raise invalid(f"{path} is outside the session's directories")

    def folder(self, path: str) -> str:
        """Return the real path of a directory inside the roots, for a command to run in."""
        _, real = self.check(path)
        if not os.path.isdir(real):
            raise RpcError(NOT_FOUND, f"{path} is not a directory")
        return real

    @contextmanager
    def _parent(self, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """Yield an open descriptor of the folder that holds the file, and the file's name in it."""
        root, real = self.check(path, writing=make)
        if real == root:
            raise invalid(f"{path} is outside the session's directories")
        *folders, name = os.path.relpath(real, root).split("/")
        with _explained(path):
            folder = os.open(root, FOLDER)
        try:
            for each in folders:
                with _explained(path):
                    deeper = _enter(folder, each, make=make, umask=self._umask)
                os.close(folder)
                folder = deeper
            yield folder, name
        finally:
            os.close(folder)

    def _replace(self, folder: int, name: str, data: bytes, mode: int) -> None:
        temporary = f".{name[:50]}.{os.urandom(4).hex()}.tmp"  # a letter can take four bytes
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(temporary, flags, 0o600, dir_fd=folder)
        with ExitStack() as undo:
            undo.callback(os.unlink, temporary, dir_fd=folder)
            with open(file, "wb") as stream:
                same_file.give(file, folder, name)
                os.fchmod(file, mode)
                stream.write(data)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            undo.pop_all()


def take(
    incoming: Incoming,
    files: Files,
    clients: Clients,
    to_host: Callable[[str], str],
    *,
    deaf: bool,
) -> None:
    """Answer an `fs/*` request. `deaf`: the agent leaves too much of our output unread. `to_host`:
    translates a path of the agent's to the host's."""
    params = incoming.params if isinstance(incoming.params, dict) else {}
    params = params | {"path": to_host(lenient.text(params, "path"))}
    work = ANSWERS.get(incoming.method)
    if work is None:
        incoming.unknown()
        return
    if deaf:  # one breath of requests can ask for gigabytes
        incoming.fail(INTERNAL_ERROR, "read the pending answers first")
        return
    try:
        files.check(lenient.text(params, "path"), writing=work is _answer_write)
    except RpcError as refused:
        incoming.fail(refused.code, refused.message)
        return

    def answer(result: Json | None) -> None:
        """Reply with the editor's result, or from the disk if there is none."""
        try:
            incoming.reply(work(files, params) if result is None else result)
        except RpcError as refused:
            incoming.fail(refused.code, refused.message)

    if not clients.call(incoming.method, params, answer):
        answer(None)


def _answer_read(files: Files, params: Json) -> Json:
    line, limit = lenient.integer(params, "line"), lenient.integer(params, "limit")
    return {"content": files.read(lenient.text(params, "path"), line, limit)}


def _answer_write(files: Files, params: Json) -> Json:
    if not isinstance(params.get("content"), str):
        raise invalid("content must be text")
    files.write(lenient.text(params, "path"), params["content"])
    return {}


ANSWERS = {"fs/read_text_file": _answer_read, "fs/write_text_file": _answer_write}


def _check_name(path: str) -> None:
    if not path.startswith("/"):
        raise invalid("paths must be absolute")
    if "\0" in path:
        raise invalid("a path must not contain NUL")
    try:
        encoded = path.encode("utf-8")
    except UnicodeEncodeError:
        raise invalid("the path is not valid text") from None
    if len(encoded) > LONGEST_PATH or any(len(part) > 255 for part in encoded.split(b"/")):
        raise invalid("the path is too long")


def _enter(folder: int, name: str, *, make: bool, umask: int) -> int:
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    try:
        os.mkdir(name, 0o777, dir_fd=folder)
        made = os.open(name, FOLDER, dir_fd=folder)
        os.fchmod(made, 0o777 & ~umask)
        return made
    except FileExistsError:  # another process made it meanwhile
        return os.open(name, FOLDER, dir_fd=folder)


def _read(folder: int, name: str, path: str) -> bytes:
    # Without blocking: a pipe that lies there must not stop the worker before it is refused.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    file = os.open(name, flags, dir_fd=folder)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise invalid(f"{path} is not a regular file")
        if status.st_size > LARGEST:
            raise invalid(f"{path} has {status.st_size} bytes; the limit for reading is {LARGEST}")
        with open(file, "rb", closefd=False) as stream:
            return stream.read(LARGEST)
    finally:
        os.close(file)


def _mode_of(folder: int, name: str, path: str) -> int | None:
    """Return the mode of the file that is to be replaced; None if there is none."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise invalid(f"{path} changed during the call")
    if not stat.S_ISREG(status.st_mode):
        raise invalid(f"{path} is not a regular file")
    return stat.S_IMODE(status.st_mode)


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Turn the system's errors into the codes and messages of the protocol."""
    try:
        yield
    except FileNotFoundError:
        raise RpcError(NOT_FOUND, f"{path} does not exist") from None
    except (NotADirectoryError, IsADirectoryError) as error:
        raise invalid(f"{path}: {error.strerror}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise invalid(f"{path} changed during the call") from None
        raise RpcError(INTERNAL_ERROR, f"{path}: {error.strerror}") from None
