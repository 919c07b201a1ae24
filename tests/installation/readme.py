"""The lines of README.md's shell blocks, and what a test without a terminal, a browser or a vendor
puts in the place of some."""

import re
import shlex
from pathlib import Path
from typing import Literal, NamedTuple

from tests.installation.places import ROOT

type Way = Literal["run", "serve", "follow", "other"]


class Line(NamedTuple):
    text: str
    way: Way = "run"
    """`serve`: it runs until it is ended, and prints when it is ready; `follow`: the same, but it
    may end by itself; `other`: another way to do what an earlier line did."""
    codes: tuple[int, ...] = (0,)


OTHERWISE: dict[str, tuple[Way, tuple[int, ...]]] = {
    "uv tool install": ("other", (0,)),
    "pipx install": ("other", (0,)),
    "pip install": ("other", (0,)),
    "rookery tail": ("follow", (0, 130)),
    "rookery agents install": ("run", (1, 2, 130)),  # asks first, and nobody answers; or lacks npm
    "rookery doctor claude": ("run", (1,)),  # not installed, and says so
    "rookery run --agent claude": ("run", (1,)),
    "rookery setup": ("run", (2,)),  # asks, in a terminal
    "rookery setup --name": ("run", (0,)),
    "rookery model demo": ("serve", (0, 130)),
    "rookery serve": ("serve", (0, 130)),
}
"""Lines that do not simply end well here, by how they begin: the longest counts."""


def lines(port: int, page: int, python: str) -> list[Line]:
    """All of them, in their order, with ports that are free and this Python."""
    text = (ROOT / "README.md").read_text("utf-8")
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for printed in filter(None, map(_without_comment, block.splitlines())):
            line = printed.replace("8123", str(port)).replace("PORT", str(port))
            if line.startswith("make install"):
                line += f" PYTHON={shlex.quote(python)}"
            if line.startswith("rookery serve"):
                line += f" --port {page}"
            if line.startswith("rookery remove"):
                line += " --yes"  # asks in a terminal
            known = [begin for begin in OTHERWISE if f"{line} ".startswith(f"{begin} ")]
            found.append(Line(line, *(OTHERWISE[max(known, key=len)] if known else ())))
    return found


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s+)#(?=\s).*$", "", line).strip()


def prepare(home: Path, folder: Path) -> None:
    """What the lines take for granted: a project, and an agent of the reader's own."""
    (home / "project").mkdir()
    agent = folder / "my-agent"
    agent.write_text("#!/bin/sh\nexec rookery play demo\n")
    agent.chmod(0o755)
