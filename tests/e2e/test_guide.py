"""docs/guide.md: its lines, in the order printed, in a clean home. Scripts stand in for the agents
of vendors that need an account."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "fixtures" / "scripts" / "guide"
FILES = {
    "shop/client.py": "TIMEOUT = 1\n",
    "shop/parse.py": "def parse(text):\n    return [line for line in text.split()]\n",
    "shop/importer.py": "import csv\n",
}
GIT = {
    **{f"GIT_{who}_NAME": "A" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@example.org" for who in ("AUTHOR", "COMMITTER")},
}


class Day:
    """A shell in the project's directory, with a `rookery` on its path."""

    def __init__(self, home: Path, place: Path) -> None:
        self._shop = place / "shop"
        commands = place / "bin"
        commands.mkdir()
        command = commands / "rookery"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rookery "$@"\n')
        command.chmod(0o755)
        path = f"{commands}:{os.environ['PATH']}"
        self._environment = {**os.environ, **GIT, "HOME": str(place), "PATH": path}
        self._agents(home, place)
        for name, text in FILES.items():
            (self._shop / name).parent.mkdir(parents=True, exist_ok=True)
            (self._shop / name).write_text(text)
        self.run("git init -q -b main && git add -A && git commit -qm Begin")

    def _agents(self, home: Path, place: Path) -> None:
        lines = [(home / "config.toml").read_text()] if (home / "config.toml").exists() else []
        for name, script in (
            ("claude", SCRIPTS / "claude.json"),
            ("codex", SCRIPTS / "codex.json"),
            ("rookery", "demo"),
        ):
            words = [sys.executable, "-P", "-m", "rookery", "play", str(script)]
            words += ["--state", str(place / f"state-{name}")]
            lines.append(f"[agents.{name}]\ncommand = {json.dumps(words)}\n")
        (home / "config.toml").write_text("".join(lines))

    def run(self, line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {line}"],
            cwd=self._shop,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def wait_for_asks(self, *titles: str) -> None:
        until = time.monotonic() + 120
        while not all(f" {title} " in (shown := self.run("rookery asks")) for title in titles):
            assert time.monotonic() < until, shown

    def as_it_is_here(self, line: str) -> str:
        """With another port than the one that may be in use, this race's id, and nobody to ask."""
        if line.startswith("rookery race pick"):
            first = json.loads(self.run("rookery race show --json").splitlines()[0])
            return re.sub(r"[0-9a-f]{10}", first["session"], line) + " --yes"
        return line.replace("--host 0.0.0.0", "--port 0")


def lines_of_guide() -> list[str]:
    page = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    return [
        line for block in re.findall(r"(?s)```sh\n(.*?)```", page) for line in block.splitlines()
    ]


@pytest.mark.long
def test_the_guide_works_in_the_order_printed(home: Path, tmp_path: Path) -> None:
    day = Day(home, tmp_path)
    for line in lines_of_guide():
        if line == "rookery asks":
            day.wait_for_asks("login", "docs")
        day.run(day.as_it_is_here(line))
    day.run("rookery serve --stop")
    assert "TIMEOUT = 10" in (tmp_path / "shop/shop/client.py").read_text()
    assert "polars" in (tmp_path / "shop/shop/importer.py").read_text()
    assert "return text.split()" in (tmp_path / "shop/shop/parse.py").read_text()
