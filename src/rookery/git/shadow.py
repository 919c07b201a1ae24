"""A git directory of ours that stands in for a repository's: its objects, refs and index are the
real ones, its settings and hooks are not. It lives for one command."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress

from rookery.git import settings as read_settings
from rookery.git.places import Place
from rookery.git.program import NoGit, environment, program
from rookery.git.settings import FIXED, Settings, written

FOLDER = "run/git"
"""A folder in Rookery's home."""
HEAD, SAVED = "HEAD", "ORIG_HEAD"
HEAD_BYTES = 4096

_OURS = {"config", "config.worktree", "hooks", "commondir", "gitdir", "HEAD", "index", "logs"}
_OURS |= {"locked", "description", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "gc.pid"}
"""What is not led to: ours, or another work tree's."""
_NOT_OURS = (".lock", "_HEAD")


type Opened = AbstractContextManager[Shadow]


class Shadow:
    """A git directory that stands in for a repository's. Get one from `opened`."""

    def __init__(
        self,
        path: str,
        place: Place,
        settings: Settings,
        index: str,
        given: Mapping[str, str] | None,
    ) -> None:
        self.path, self.place, self.settings = path, place, settings
        self._given = os.environ if given is None else given
        self._index = index or os.path.join(place.own, "index")
        self._head = b""

    def prepare(self, more: Iterable[tuple[str, str]], *, writes: bool) -> None:
        """Fill the directory. Raises NoGit, OSError."""
        own, shared = self.place.own, self.place.shared
        self._head = _head(own)
        self._write(HEAD, self._head)
        known = self.settings
        version = ("core.repositoryformatversion", "1" if known.extensions else "0")
        self._write("config", written([*known.plain, *FIXED, version, *known.extensions, *more]))
        for name in os.listdir(shared):
            if name not in _OURS and not name.endswith(_NOT_OURS):
                self._lead(name, shared)
        if not os.path.lexists(os.path.join(shared, "packed-refs")):
            self._lead("packed-refs", shared)
        if own != shared:
            self._lead_own(own)
        os.mkdir(os.path.join(self.path, "logs"))
        if writes:
            os.makedirs(os.path.join(own, "logs"), exist_ok=True)
            os.makedirs(os.path.join(shared, "logs", "refs"), exist_ok=True)
        self._lead("logs/HEAD", own)
        self._lead("logs/refs", shared)

    def _lead_own(self, own: str) -> None:
        """Link to the parts of an index that are beside it, and to refs of a newer kind."""
        for name in os.listdir(own):
            if name.startswith("sharedindex.") or name == "reftable":
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.path, name))
                self._lead(name, own)

    def _lead(self, name: str, source: str) -> None:
        os.symlink(os.path.join(source, name), os.path.join(self.path, name))

    def _write(self, name: str, data: bytes) -> None:
        with open(os.path.join(self.path, name), "xb") as file:
            file.write(data)

    def environment(self) -> dict[str, str]:
        variables = environment(self.place, self._given) | {
            "GIT_DIR": self.path,
            "GIT_INDEX_FILE": self._index,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_DISCOVERY_ACROSS_FILESYSTEM": "0",
        }
        return variables | ({"GIT_WORK_TREE": self.place.top} if self.place.top else {})

    def start(
        self,
        cwd: str,
        args: Sequence[str],
        *,
        stdin: int = subprocess.DEVNULL,
        stderr: int = subprocess.DEVNULL,
        more: Mapping[str, str] | None = None,
        session: bool = False,
    ) -> "subprocess.Popen[bytes]":
        """Start git with these arguments. Raises NoGit, OSError, ValueError."""
        return subprocess.Popen(
            [program(self.place, self._given.get("PATH")), *args],
            cwd=cwd,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=self.environment() | dict(more or {}),
            start_new_session=session,
        )

    def take_back(self) -> None:
        """Copy back what git wrote into the directory itself: the position of a HEAD without a
        branch."""
        if "reftable" in dict(self.settings.extensions).values():
            return
        head = _read(os.path.join(self.path, HEAD))
        if head and head != self._head:
            _replace(self.place.own, HEAD, head, self._head)
        if saved := _read(os.path.join(self.path, SAVED)):
            _replace(self.place.own, SAVED, saved)


@contextmanager
def opened(
    place: Place,
    *,
    index: str = "",
    more: Iterable[tuple[str, str]] = (),
    home: str = "",
    writes: bool = False,
    given: Mapping[str, str] | None = None,
) -> Iterator[Shadow]:
    """Yield a shadow of a repository. `index`: another index file for it. `more`: further settings.
    `writes`: refs may move. `given`: the user's environment, if it is not this process's. Raises
    NoGit."""
    known = read_settings.read(place, given)
    _check(place, known)
    try:
        path = private_folder(home)
    except OSError as error:
        raise NoGit(f"There is no place for git's files: {error}") from error
    try:
        shadow = Shadow(path, place, known, index, given)
        try:
            shadow.prepare(more, writes=writes)
        except OSError as error:
            raise NoGit(f"{place.own} cannot be read: {error}") from error
        yield shadow
        if writes:
            shadow.take_back()
    finally:
        shutil.rmtree(path, ignore_errors=True)


def private_folder(home: str) -> str:
    """Create a folder in Rookery's home, which agents may not write to; if that is not writable, in
    a directory for temporary files."""
    if home:
        with suppress(OSError):
            os.makedirs(folder := os.path.join(home, FOLDER), mode=0o700, exist_ok=True)
            return tempfile.mkdtemp(dir=folder)
    return tempfile.mkdtemp(prefix="rookery-git-")


def _check(place: Place, known: Settings) -> None:
    named = known.work_tree
    if named and place.top:
        led = os.path.realpath(os.path.join(place.own, named))
        if led != os.path.realpath(place.top):
            raise NoGit(f"core.worktree of {place.shared} names another directory: {led}")
    kinds = dict(known.extensions)
    if kinds.get("extensions.refstorage") == "reftable" and place.own != place.shared:
        raise NoGit(f"{place.top} is a linked work tree with reftable, which is not supported.")


def _head(own: str) -> bytes:
    """The content of HEAD. Raises NoGit."""
    data = _read(os.path.join(own, HEAD))
    if not data:
        raise NoGit(f"{own} has no HEAD that can be read.")
    return data


def _read(path: str) -> bytes:
    """The content of a small file; b"" if there is none, or it is a link that leads to a ref."""
    try:
        if os.path.islink(path):
            target = os.readlink(path)
            return os.fsencode(f"ref: {target}\n") if target.startswith("refs/") else b""
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, HEAD_BYTES)
    except OSError:
        return b""
    finally:
        os.close(file)


def _replace(folder: str, name: str, data: bytes, before: bytes = b"") -> None:
    """Replace a file as git does: under its lock. `before`: what it must still contain. Raises
    NoGit."""
    lock = os.path.join(folder, f"{name}.lock")
    try:
        file = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise NoGit(f"{name} could not be written: {error}") from error
    try:
        with open(file, "wb") as opened_file:
            opened_file.write(data)
        if before and _read(os.path.join(folder, name)) != before:
            raise NoGit(f"{name} was changed by another command meanwhile.")
        os.replace(lock, os.path.join(folder, name))
    except OSError as error:
        raise NoGit(f"{name} could not be written: {error}") from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(lock)
