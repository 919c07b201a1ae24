"""A directory in which anything may happen, and a store of its snapshots."""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

from rookery.snapshots.restore import Outcome, restore
from rookery.snapshots.store import Snapshot, Store

MOST = 64 * 1024
NAMES = ("a", "b", "c d", "ü", "x\ny", "lib", "s.bin", "*", ":(top)", "-f", "\udcff")
BYTES = (b"", b"a\nb\n", b"a\r\nb\r\n", b"\xef\xbb\xbf$Id$\n", b"\0" * 700)
MODES = (0o600, 0o644, 0o755, 0o640, 0o444, 0o700)

type Tree = dict[str, tuple[object, ...]]


def git(cwd: Path, *words: str) -> bytes:
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", *who, *words], cwd=cwd, env=env, capture_output=True, check=True)
    return done.stdout


class Meadow:
    def __init__(self, place: Path, *, repository: bool = True) -> None:
        self.root = place / "work"
        self.root.mkdir()
        self.place = place
        self.most = MOST
        self.session = "store"
        if repository:
            git(self.root, "init", "-q")
            (self.root / ".gitignore").write_text("*.ign\n")
            (self.root / ".gitattributes").write_text("* text=auto eol=crlf\n*.bin filter=lfs\n")
            git(self.root, "config", "filter.lfs.clean", "false")
            git(self.root, "config", "filter.lfs.required", "true")
            git(self.root, "config", "core.autocrlf", "true")

    @contextmanager
    def store(self) -> Iterator[Store]:
        found = shutil.which("git")
        assert found
        env = {"PATH": os.environ["PATH"], "HOME": str(self.place)}
        given: tuple[Any, ...] = (str(self.place / self.session), found, str(self.root))
        with Store.opened(*given, str(self.place / "home"), env) as store:
            yield store

    def differs(self, wanted: Tree) -> set[str]:
        """Paths that are not as they were, but for folders that have come and have files in them
        that are left alone."""
        found = self.tree()
        left = [each for each in self.root.rglob("*.*") if each.suffix in (".ign", ".huge")]
        around = {
            f"{above.relative_to(self.root)}/"
            for each in left
            for above in each.parents[:-1]
            if above.is_relative_to(self.root)
        }
        paths = found.keys() | wanted.keys()
        return {
            path
            for path in paths
            if found.get(path) != wanted.get(path) and not (path in around and path in found)
        }

    def take(self) -> Snapshot:
        with self.store() as store:
            return store.take(self.most)

    def restore(self, target: str) -> tuple[str, Outcome]:
        """The snapshot of before, and what was done."""
        with self.store() as store:
            present = store.take(self.most).id
            return present, restore(store, present, target)

    def tree(self) -> Tree:
        """What snapshots keep of it, byte for byte."""
        found: Tree = {}
        for folder, names, files in os.walk(self.root):
            if ".git" in names:
                names.remove(".git")
            found[os.path.relpath(folder, self.root) + "/"] = ("folder",)
            links = [name for name in names if os.path.islink(os.path.join(folder, name))]
            for name in (*files, *links):
                full = os.path.join(folder, name)
                state = os.lstat(full)
                if stat.S_ISLNK(state.st_mode):
                    found[os.path.relpath(full, self.root)] = ("link", os.readlink(full))
                elif not name.endswith(".ign") and state.st_size <= self.most:
                    data = Path(full).read_bytes()
                    mode = stat.S_IMODE(state.st_mode)
                    found[os.path.relpath(full, self.root)] = (mode, data)
        return found


class Vandal:
    """Edits, creates, deletes, renames, links, and changes permissions: what fails, fails."""

    def __init__(self, root: Path, random: Random, most: int = MOST) -> None:
        self._root = root
        self._random = random
        self._most = most

    def _path(self) -> str:
        names = [self._random.choice(NAMES) for _ in range(self._random.randint(1, 3))]
        return os.path.join(self._root, *names)

    def rage(self, least: int = 1, most: int = 8) -> None:
        for _ in range(self._random.randint(least, most)):
            with suppress(OSError):
                self._act(self._path())

    def _act(self, path: str) -> None:
        match self._random.randint(0, 10):
            case 0 | 1 | 2:
                self._room(path).write_bytes(self._random.choice(BYTES))
            case 3:
                self._room(path).write_bytes(self._random.randbytes(300))
            case 4:
                os.unlink(path)
            case 5:
                shutil.rmtree(path)
            case 6:
                if os.path.isfile(path) and not os.path.islink(path):
                    os.chmod(path, self._random.choice(MODES))
            case 7:
                os.symlink(self._random.choice(("a", "/etc", "../..")), self._room(path))
            case 8:
                os.rename(path, self._room(self._path()))
            case 9:
                big = self._random.random() < 0.3
                name = self._room(path + (".huge" if big else ".ign"))
                name.write_bytes(b"z" * (self._most + 1 if big else 3))

            case 10:
                os.makedirs(path)

    def _room(self, path: str) -> Path:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return Path(path)
