"""A copy of the sources that can be changed and run: how many files a newcomer has to touch."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src" / "rookery"


class Scratch:
    """A copy of the sources that can be changed and run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.touched: set[str] = set()
        shutil.copytree(SOURCES, root / "src" / "rookery")  # with its bytecode

    def write(self, name: str, text: str) -> None:
        self.touched.add(name)
        (self.root / "src" / "rookery" / name).write_text(text)

    def insert(self, name: str, before: str, text: str) -> None:
        path = self.root / "src" / "rookery" / name
        old = path.read_text()
        assert old.count(before) == 1, f"{name}: {before!r} is there {old.count(before)} times"
        self.write(name, old.replace(before, text + before))

    @property
    def environment(self) -> dict[str, str]:
        own = {"PYTHONPATH": str(self.root / "src"), "ROOKERY_HOME": str(self.home)}
        return os.environ | own

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "rookery", *words]

    def run(
        self,
        *words: str,
        code: str = "",
        status: int = 0,
        text: str = "",
        err: bool = False,
        **more: str,
    ) -> str:
        """What it printed; on stderr, if it failed or with `err`. `text`: what it reads; `more`:
        variables of its environment."""
        line = [sys.executable, "-P", "-c", code] if code else self.line(*words)
        done = subprocess.run(
            line,
            env=self.environment | more,
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.root,
        )
        assert done.returncode == status, done.stderr
        return done.stderr if status or err else done.stdout
