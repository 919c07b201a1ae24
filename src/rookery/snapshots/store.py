"""The store of a session's snapshots: git objects with an index of their own. A file's bytes are
stored and restored unchanged: no filters, no line-ending conversion, no configuration but ours.

A snapshot is a commit whose message holds what git does not store: permissions, and what was left
out. It is complete before its ref is written, and the ref is written before anyone is told of it.
One process works here at a time; the lock is released with its last child, and whatever a killed
one left is then stale."""

import fcntl
import json
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Self

from rookery.snapshots import folders, seed, times
from rookery.snapshots import scope as scopes
from rookery.snapshots.job import EMPTY
from rookery.snapshots.meta import Meta
from rookery.snapshots.scope import Scope, Unfit
from rookery.snapshots.settings import ATTRIBUTES, CONFIG

NO_FILES = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree that git knows without having it."""

OTHERS = ("ls-files", "-z", "--others", "--exclude-standard")

REFS = "refs/snapshots"
LAST = "last"
META = "meta.json"

NAMED = 50
"""Paths that a result lists of each kind; the commit has all."""
LOOSE = 3000
"""Loose objects, about, over which the store is packed."""
SECONDS = 600.0


class Snapshot(NamedTuple):
    id: str
    tree: str
    changed: int
    """Paths since the snapshot before; 0: it is the same one."""
    large: list[str]
    nested: list[str]
    unreadable: list[str]
    later: list[str]
    """What changed after the moment that the snapshot is of: it may be half of it."""


class Store:
    """The store of a session's snapshots. Get one from `opened`."""

    def __init__(self, place: str, git: str, root: str, home: str, env: Mapping[str, str]) -> None:
        self.place = place
        self.home = home
        self._git = git
        self.environment = env
        self.scope: Scope = scopes.find(root, env, home)
        self._metas: dict[str, dict[str, Any]] = {}

    @classmethod
    @contextmanager
    def opened(
        cls, place: str, git: str, root: str, home: str, environment: Mapping[str, str]
    ) -> Iterator[Self]:
        """Open and lock a store, creating it if needed. Raises Unfit, OSError."""
        store = cls(place, git, root, home, environment)
        os.makedirs(place, mode=0o700, exist_ok=True)
        # Inherited by every git that is started here.
        lock = os.open(os.path.join(place, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            store._lock = lock
            store._prepare()
            yield store
        finally:
            os.close(lock)

    _lock = -1
    moment = 0.0
    """What is taken is of this time, in seconds of the epoch; 0: of now."""

    def _prepare(self) -> None:
        for name in ("objects", "objects/info", "refs", REFS, "info"):
            os.makedirs(self._at(name), exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(self._at("index.lock"))
        self._write("config", CONFIG.encode())
        self._write("HEAD", b"ref: refs/heads/none\n")
        self._write("info/attributes", ATTRIBUTES.encode())
        self._write("info/exclude", os.fsencode(self.scope.excludes))

    def _at(self, name: str) -> str:
        return os.path.join(self.place, name)

    def _write(self, name: str, data: bytes) -> None:
        path = self._at(name)
        with suppress(OSError), open(path, "rb") as file:
            if file.read() == data:
                return
        fresh = f"{path}.new"
        with open(fresh, "wb") as file:
            file.write(data)
        os.replace(fresh, path)

    # --- git -----------------------------------------------------------------------------------

    def start(
        self, *args: str, stdin: int = subprocess.DEVNULL, index: str = ""
    ) -> subprocess.Popen[bytes]:
        """Start git in this store, with nothing of the user's but the ignore rules."""
        keep = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LD_LIBRARY_PATH")
        env = {name: self.environment[name] for name in keep if name in self.environment}
        env |= {
            "LC_ALL": "C",
            "GIT_DIR": self.place,
            "GIT_INDEX_FILE": index or self._at("index"),
            "GIT_WORK_TREE": self.scope.top,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Rookery"),
            **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "rookery@localhost"),
        }
        more = ["-c", f"core.excludesFile={self.scope.more}"] if self.scope.more else []
        return subprocess.Popen(
            [self._git, *more, *args],
            cwd=self.scope.top,
            env=env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(self._lock,),
        )

    def git(
        self, *args: str, given: bytes = b"", fine: Sequence[int] = (0,), index: str = ""
    ) -> bytes:
        """Run git and return its output. `index`: another index file for it. Raises Unfit."""
        started = self.start(*args, stdin=subprocess.PIPE, index=index)
        return self._end(started, args, given, fine)

    def _end(
        self,
        process: subprocess.Popen[bytes],
        args: Sequence[str],
        given: bytes = b"",
        fine: Sequence[int] = (0,),
    ) -> bytes:
        try:
            out, err = process.communicate(given or None, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Unfit("slow", f"git {args[0]} took longer than {SECONDS:g} s.") from None
        if process.returncode not in fine:
            reason = os.fsdecode(err).strip()[-500:] or f"status {process.returncode}"
            raise Unfit("git_failed", f"git {args[0]} failed: {reason}")
        return out

    # --- taking --------------------------------------------------------------------------------

    def take(self, most: int) -> Snapshot:
        """Take a snapshot. `most`: the largest file that is kept, in bytes. Raises Unfit,
        OSError."""
        if os.path.exists(self._at("index")):
            return self._retaken(most)
        directory = os.path.join(self.scope.top, self.scope.below)
        with seed.planted(self.home, directory, self.place, self._blobs) as packed:
            taken = self._retaken(most)
        if packed:
            self.tidy((), whole=True)
        return taken

    def _blobs(self) -> list[str]:
        """The blobs that the index names."""
        rows = self.git("ls-files", "-s", "-z").split(b"\0")
        return [row.split(b" ", 2)[1].decode() for row in rows if row]

    def _retaken(self, most: int) -> Snapshot:
        """Take a snapshot; after a failure try again, and at last without what the store knew."""
        try:
            return self._take(most)
        except Unfit as error:
            if error.reason != "git_failed":
                raise
        # A file that changed while it was read, or an index that a power cut spoilt.
        with suppress(Unfit):
            return self._take(most)
        for name in ("index", META):
            with suppress(FileNotFoundError):
                os.unlink(self._at(name))
        return self._take(most)

    def _take(self, most: int) -> Snapshot:
        fresh = not os.path.exists(self._at("index"))
        meta = Meta() if fresh else Meta.read(self._at(META))
        differ, others, listed = self._changed(meta)
        large, unreadable, taken = self._sorted(differ | others, most, meta)
        meta.head = self.scope.head
        meta.left = dict.fromkeys(large, "large") | dict.fromkeys(unreadable, "unreadable")
        dropped = differ & meta.left.keys()
        meta.note(taken, dropped)
        gone = [path for path, mode in taken.items() if mode is None and not self._is(path)]
        kept = taken.keys() - gone
        meta.folders = self._bare(listed, kept)
        last = self.last()
        if last and not taken and not dropped and meta.is_saved():
            meta.write(self._at(META))
            return self._result(*last, 0, meta, ())
        meta.write(self._at(META))
        if dropped:
            without = ("update-index", "-z", "--force-remove", "--stdin")
            self.git(*without, given=joined(dropped))
        news = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        self.git(*news, given=joined(taken))
        self._note_emptied(meta, gone, kept)
        tree = self.git("write-tree").decode().strip()
        message = json.dumps(meta.of_commit()).encode()
        commit = self.git("commit-tree", tree, "-F", "-", given=message).decode().strip()
        self._write(f"{REFS}/{commit}", f"{commit}\n".encode())
        self._write(LAST, f"{commit} {tree}\n".encode())
        return self._result(commit, tree, len(taken) + len(dropped) or 1, meta, taken)

    def _result(
        self, commit: str, tree: str, changed: int, meta: Meta, taken: Iterable[str]
    ) -> Snapshot:
        large = sorted(path for path, why in meta.left.items() if why == "large")
        unread = sorted(path for path, why in meta.left.items() if why != "large")
        nested = meta.nested[:NAMED]
        later = times.later(self.scope.top, taken, self.moment) if self.moment else []
        return Snapshot(commit, tree, changed, large[:NAMED], nested, unread[:NAMED], later)

    def last(self) -> tuple[str, str] | None:
        """Return the newest snapshot and its tree; None if there is none."""
        try:
            with open(self._at(LAST), encoding="ascii") as file:
                commit, tree = file.read().split()
        except (OSError, ValueError):
            return None
        return commit, tree

    def _changed(self, meta: Meta) -> tuple[set[str], set[str], list[str]]:
        """The paths that differ from the index by their state on disk, those not in it, and the
        folders of which it has no file."""
        under = ["--", self.scope.below or "."]
        # A repository that took a file's place while that was read is a submodule to the index. To
        # look into it, git would run another git there, with settings that an agent may have made.
        differ = ("diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all")
        others = (*OTHERS, "--directory")
        started = self.start(*differ, *under), self.start(*others, *under)
        try:
            known = set(split(self._end(started[0], differ)))
        finally:
            first = split(self._end(started[1], others))
        listed = [path.rstrip("/") for path in first if path.endswith("/")]
        # Of what was a file, git says that it differs, and not that it is a folder.
        listed += [path for path in known if folders.is_folder(self._full(path))]
        inside = ("--", *folders.asked(listed, under[1]))
        more = split(self.git(*OTHERS, *inside)) if listed else []
        meta.nested = sorted({path.rstrip("/") for path in more if path.endswith("/")})
        known.update(meta.overlooked(self.scope.top))
        untracked = {path for path in (*first, *more) if not path.endswith("/")}
        untracked |= {*self._forced(meta)}
        limit = scopes.MOST_FILES[self.scope.repository]
        if max(len(untracked), len(listed)) > limit:
            message = f"The directory has more than {limit:,} files that git does not ignore."
            raise Unfit("too_many", message)
        return known, untracked - known, [path for path in listed if path not in meta.nested]

    def _bare(self, listed: Iterable[str], kept: Iterable[str]) -> list[str]:
        whole = {"", ".", self.scope.below}
        innermost = folders.bare(self.scope.top, listed, kept, self.ignored)
        return [path for path in innermost if path not in whole]

    def _note_emptied(self, meta: Meta, gone: Iterable[str], kept: Iterable[str]) -> None:
        """Note the emptied folders: git listed folders while it still knew the files that have gone
        from them."""
        if left := folders.emptied(self.scope.top, gone):
            inside = folders.asked(sorted(left), self.scope.below or ".")
            listing = split(self.git(*OTHERS, "--directory", "--", *inside))
            listed = [path.rstrip("/") for path in listing if path.endswith("/")]
            meta.folders = sorted({*meta.folders, *self._bare(listed, kept)})
            meta.write(self._at(META))

    def ignored(self, paths: list[str]) -> set[str]:
        """Return those of the paths that the rules leave out."""
        if not paths:
            return set()
        args = ("--no-literal-pathspecs", "check-ignore", "-z", "--no-index", "--stdin")
        given = joined(f"./{path}" for path in paths)  # none of them begins as a pattern does
        return {path[2:] for path in split(self.git(*args, given=given, fine=(0, 1)))}

    def _forced(self, meta: Meta) -> list[str]:
        """The ignored files that the user's repository tracks; looked up only when the user's index
        has changed."""
        if not self.scope.staged:
            return []
        try:
            status = os.stat(self.scope.staged)
        except OSError:
            return []
        seen = [status.st_mtime_ns, status.st_size, status.st_ino]
        if seen == meta.index:
            return []
        meta.index = seen
        paths = scopes.forced(self.scope, self.environment, self.home)
        return [path for path in paths if self._is(path)]

    def _is(self, path: str) -> bool:
        return os.path.lexists(self._full(path))

    def _full(self, path: str) -> str:
        return os.path.join(self.scope.top, path)

    def _sorted(
        self, changed: Iterable[str], most: int, meta: Meta
    ) -> tuple[list[str], list[str], dict[str, int | None]]:
        """The files that are too large, those unreadable, and the rest with their permissions
        (None: gone, or a link)."""
        large, unreadable, taken, size = list[str](), list[str](), dict[str, int | None](), 0
        for path in sorted(changed):
            try:
                status = os.lstat(self._full(path))
            except OSError:
                taken[path] = None
                continue
            if not stat.S_ISREG(status.st_mode):
                taken[path] = None
            elif status.st_size > most:
                large.append(path)
            elif not os.access(self._full(path), os.R_OK):
                unreadable.append(path)
            else:
                taken[path] = stat.S_IMODE(status.st_mode)
                size += status.st_size
                meta.note_time(path, status)
        limit = scopes.MOST_BYTES[self.scope.repository]
        if size > limit:
            raise Unfit("too_many", f"The directory has more than {limit >> 30} GiB of files.")
        return large, unreadable, taken

    # --- reading -------------------------------------------------------------------------------

    def meta(self, commit: str) -> dict[str, Any]:
        """Return the data in the message of a snapshot. Raises Unfit."""
        if commit == EMPTY:
            return Meta().of_commit()
        if commit not in self._metas:
            message = self.git("cat-file", "commit", commit).partition(b"\n\n")[2]
            parsed = json.loads(message)
            self._metas[commit] = parsed if isinstance(parsed, dict) else {}
        return self._metas[commit]

    def tree(self, commit: str) -> str:
        return NO_FILES if commit == EMPTY else f"{commit}^{{tree}}"

    def has(self, commit: str) -> bool:
        if commit == EMPTY:
            return True
        with suppress(Unfit):
            return self.git("cat-file", "-t", commit).strip() == b"commit"
        return False

    # --- upkeep --------------------------------------------------------------------------------

    def tidy(self, keep: Iterable[str], *, whole: bool = False) -> None:
        """Drop the snapshots that the log does not know, and pack loose objects if there are many.
        `keep`: the snapshots it knows. `whole`: in any case."""
        known = {*keep, (self.last() or ("", ""))[0]}
        for name in os.listdir(self._at(REFS)):
            if name not in known:
                with suppress(OSError):
                    os.unlink(self._at(f"{REFS}/{name}"))
        with suppress(FileNotFoundError):
            sample = len(os.listdir(self._at("objects/17")))  # one of 256 folders
            if not whole and sample * 256 < LOOSE:
                return
        self.git("repack", "-a", "-d", "-q", "--window=0")
        self.git("prune", "--expire=1.hour.ago")


def split(output: bytes) -> list[str]:
    return [os.fsdecode(path) for path in output.split(b"\0") if path]


def joined(paths: Iterable[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)
