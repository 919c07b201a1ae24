"""What is left of a home when everything in it was ended: processes, sockets, held locks, records
of the dead, temporary files."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from rookery.home import paths, scratch
from rookery.log.lock import is_held
from rookery.processes import cgroups, roots, tree
from rookery.processes.lineage import MARK, home_tag
from tests.e2e.fate import command_of
from tests.worker.aviary import Aviary

CONVERSATIONS = "conversations"


class Remains:
    """`word` is in the command line of all that the scenes leave running."""

    def __init__(self, aviary: Aviary, word: str) -> None:
        self.aviary = aviary
        self.word = word.encode()
        self.root = os.path.realpath(aviary.root)

    def processes(self) -> list[tree.Process]:
        """By environment, mark, command line and directory: what cleared or left one of them is
        found by another."""
        own = {os.getpid(), *tree.ancestors(os.getpid(), tree.table())}
        return [row for row in tree.table() if row.pid not in own and self._is_ours(row.pid)]

    def _is_ours(self, pid: int) -> bool:
        place = Path("/proc", str(pid))
        with suppress(OSError):
            argv = (place / "cmdline").read_bytes()
            if self.word in argv or os.fsencode(self.root) in argv:
                return "watcher.py" not in argv.decode(errors="replace")
        with suppress(OSError):
            entries = (place / "environ").read_bytes().split(b"\0")
            marks = tuple(f"{MARK}={bird.id}.".encode() for bird in self.aviary.birds)
            home = f"ROOKERY_HOME={self.aviary.home}".encode()
            if home in entries or any(entry.startswith(marks) for entry in entries):
                return True
        with suppress(OSError):
            return f"{os.readlink(place / 'cwd')}/".startswith(f"{self.root}/")
        return False

    def told(self, processes: Iterable[tree.Process]) -> str:
        """For whoever reads about a failure."""
        return "\n".join(f"{row} {command_of(row.pid)}" for row in processes)

    def things(self) -> list[str]:
        return [*self._sockets(), *self._locks(), *self._records(), *self._temporary()]

    def _sockets(self) -> Iterator[str]:
        for place in {Path(self.aviary.home, "run"), *(Path(b.socket) for b in self.aviary.birds)}:
            if place.is_socket():
                yield str(place)
            elif place.is_dir():
                yield from (str(each) for each in place.iterdir() if each.is_socket())

    def _locks(self) -> Iterator[str]:
        found = [bird.directory / paths.LOCK for bird in self.aviary.birds]
        found += Path(self.aviary.home, paths.SLOTS).glob("*")
        found += Path(self.aviary.home, "run").glob("*.lock")
        yield from (str(lock) for lock in found if is_held(str(lock)))

    def _records(self) -> Iterator[str]:
        with suppress(FileNotFoundError):
            yield from map(str, Path(roots.directory(self.aviary.home)).iterdir())
        prefix = f"{cgroups.PREFIX}{home_tag(self.aviary.home)}."
        for parent in cgroups._parents():
            yield from (name for name in os.listdir(parent) if name.startswith(prefix))

    def _temporary(self) -> Iterator[str]:
        """But for what the docs name: of a conversation that nobody has opened since."""
        for each in Path(self.aviary.home).rglob("*.tmp"):
            if CONVERSATIONS not in each.parts:
                yield str(each)
        yield from map(str, (self.aviary.root / "tmp").glob("*"))
        yield from map(str, Path(self.aviary.home, scratch.PLACE).glob("*"))
