"""Lines of the command line that are bad, or ask for what cannot be done: exit code and what stderr
says. A line `$ …` in a file is called, and what follows it is the answer."""

import re
import shlex
from pathlib import Path

import pytest

from rookery.cli import app
from tests.cli.driving import Result, Running, made, play, rookery
from tests.cli.test_bad_lines import check
from tests.golden.files import FOLDER, Golden, answered

LINES = sorted((FOLDER / "lines").iterdir())
DEEDS = "deeds.txt"
DEMO = ("--agent", "demo")
SAID = 2
"""Lines of stderr: what is wrong, and what to do."""
DIFFERS = {
    r"\b[0-9a-f]{10}\b": "ID",
    r"(?<!-)until \d[^:]*(:\d\d)?": "until TIME",
    r"\brookery, ([a-z]+, )+[a-z]+": "AGENTS",
    r"\bclaude, ([a-z]+, )+[a-z]+": "AGENTS",
}


@pytest.fixture
def session(home: Path) -> None:
    rookery("new", "--agent", "demo", "--title", "New")


def begin_deeds() -> None:
    made({"text": "done"}, title="Done", flags=DEMO)
    rookery("stop", "Done")
    asking = play({"ask": "Go on?", "kind": "edit"})
    with Running("run", *DEMO, "--approve", "ask", "--title", "Asking", asking) as running:
        running.read_err_until("Waiting for your answer")


def said(done: Result, home: Path) -> str:
    """The exit code, and the first lines of stderr without what differs from run to run."""
    lines = done.err.partition("Usage: ")[0].splitlines()
    first, *more = [line.rstrip() for line in lines if line[:1].strip()][:SAID] or [""]
    text = "\n".join([f"{done.code} {first}".rstrip(), *more])
    text = text.replace(str(home), "HOME").replace(str(Path.cwd()), "WORK")
    for pattern, word in DIFFERS.items():
        text = re.sub(pattern, word, text)
    return text


@pytest.mark.parametrize("path", LINES, ids=lambda path: path.stem)
def test_each_line_is_answered_as_it_was(
    home: Path, session: None, path: Path, golden: Golden
) -> None:
    def call(words: str) -> str:
        line = shlex.split(words)
        done = rookery(*line, COLUMNS="200")
        if done.code and path.name != DEEDS:
            check(line, done.code, tuple(done))
        assert "Traceback" not in done.err, line
        return said(done, home)

    if path.name == DEEDS:
        begin_deeds()
    text = path.read_text(encoding="utf-8")
    golden.hold({f"lines/{path.name}": answered(text, call)})


def test_every_command_has_lines() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in LINES)
    tried = re.findall(r"^\$ (?:--\S+ )*(\S+)", text, re.MULTILINE)
    assert len(tried) > 400
    assert set(app.MODULES) <= set(tried)
