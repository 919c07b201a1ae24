"""Git work trees for tests: real git in a directory of the test's own."""

import os
import subprocess
from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


class Tree:
    """A repository with what is given committed."""

    def __init__(self, place: Path, **files: str | bytes) -> None:
        self.place = place
        self.cwd = str(place)
        place.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.put({name.replace("__", "."): data for name, data in files.items()})
        if files:
            self.save()

    def git(self, *words: str) -> str:
        found = subprocess.run(
            ["git", *words],
            cwd=self.place,
            env={**os.environ, **WHO},
            check=True,
            capture_output=True,
        )
        return found.stdout.decode("utf-8", "replace")

    def put(self, files: dict[str, str | bytes]) -> None:
        for name, data in files.items():
            path = self.place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode() if isinstance(data, str) else data)

    def save(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "first", "--allow-empty")

    def read(self, name: str) -> bytes:
        return (self.place / name).read_bytes()

    def status(self) -> str:
        return self.git("status", "--porcelain")
