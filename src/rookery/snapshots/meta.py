"""The parts of a snapshot that git does not store: permissions, what was left out, and folders
without files."""

import json
import os
import stat
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Self

USUAL = (0o644, 0o755)
"""Permissions that git keeps by itself."""
JUST_NOW = 2.0
"""Seconds: clocks of file systems are coarse, and may be another machine's."""


class Meta:
    """A snapshot's data that git does not store. Written before the index: a path that is not in
    the index yet is examined again."""

    def __init__(self) -> None:
        self.modes: dict[str, int] = {}
        self.left: dict[str, str] = {}
        self.nested: list[str] = []
        self.folders: list[str] = []
        self.index: list[int] = []
        self.head: str | None = None
        """The commit that was checked out."""
        self.recent: dict[str, None] = {}
        """Git knows times in seconds: of these, it would not see a change of permissions that
        follows at once."""
        self._saved: dict[str, Any] = {}

    @classmethod
    def read(cls, path: str) -> Self:
        meta = cls()
        with suppress(OSError, ValueError, TypeError, KeyError), open(path, "rb") as file:
            saved = json.load(file)
            meta.modes, meta.left = dict(saved["modes"]), dict(saved["left"])
            meta.nested, meta.index = list(saved["nested"]), list(saved["index"])
            meta.folders = list(saved.get("folders", ()))
            meta.head = saved.get("head")
            meta.recent = dict.fromkeys(saved.get("recent", ()))
            meta._saved = saved
        return meta

    def note(self, taken: Mapping[str, int | None], dropped: Iterable[str]) -> None:
        for path, mode in (*taken.items(), *dict.fromkeys(dropped).items()):
            self.modes.pop(path, None)
            if mode is not None and mode not in USUAL:
                self.modes[path] = mode

    def note_time(self, path: str, status: os.stat_result) -> None:
        if status.st_ctime >= time.time() - JUST_NOW:
            self.recent[path] = None

    def overlooked(self, top: str) -> list[str]:
        """Return the files whose permissions changed within the second in which they were noted."""
        before, self.recent = self.recent, {}
        changed: list[str] = []
        for path in before:
            with suppress(OSError):
                status = os.lstat(os.path.join(top, path))
                self.note_time(path, status)
                mode = stat.S_IMODE(status.st_mode)
                noted = self.modes.get(path, USUAL[bool(mode & stat.S_IXUSR)])
                if stat.S_ISREG(status.st_mode) and mode != noted:
                    changed.append(path)
        return changed

    def of_commit(self) -> dict[str, Any]:
        named = {"nested": self.nested, "folders": self.folders}
        return {"modes": self.modes, "left": self.left, "head": self.head, **named}

    def is_saved(self) -> bool:
        """Tell whether everything has been saved already."""
        return all(self._saved.get(key) == value for key, value in self.of_commit().items())

    def write(self, path: str) -> None:
        """Write the file if anything changed."""
        more = {"index": self.index, "recent": [*self.recent]}
        if self.is_saved() and all(self._saved.get(key) == more[key] for key in more):
            return
        fresh = f"{path}.new"
        with open(fresh, "w", encoding="ascii") as file:
            json.dump(self.of_commit() | more, file)
        os.replace(fresh, path)
