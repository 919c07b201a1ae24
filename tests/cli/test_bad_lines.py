"""Bad command lines: each is answered with a sentence and a documented exit code, never with a
traceback. (Hundreds of them, with their answers, are in fixtures/golden/lines.)"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.driving import made, rookery


@pytest.fixture
def session(home: Path) -> str:
    return rookery("new", "--agent", "demo", "--title", "New").out.strip()


def check(line: list[str], code: int, done: tuple[int, str, str], *, usage: bool = True) -> None:
    said, words = done[2].strip(), " ".join(done[2].split())
    assert done[0] == code, (line, done)
    assert "Traceback" not in words, (line, words)
    assert "internal error" not in words, (line, words)
    assert said, line
    assert not said.startswith("Usage:"), (line, said)
    assert "--yolo" not in words.partition("Usage:")[0], (line, said)
    if code == 2 and usage:
        assert any(row.startswith("rookery: ") for row in said.splitlines()), (line, said)


ODD = ["\udcff", "\udcfe\udc80", "a\nb", "\x1b[31mred", "x" * 100_000, "-" * 5000, "é", "\u202e"]


@pytest.mark.parametrize("word", ODD, ids=range(len(ODD)))
def test_odd_words_are_answered_with_a_sentence_wherever_they_stand(home: Path, word: str) -> None:
    for line in (
        *([word], ["show", word], ["run", "--agent", word, "x"], ["run", f"--{word}", "x"]),
        *(["config", "set", word, "1"], ["policy", "remove", word], ["--daemon", word, "ps"]),
        *(["mcp", "get", word], ["completions", word], ["set", word, word], ["diff", word]),
    ):
        done = rookery(*line)
        check(line, 2, done)
        assert "\x1b" not in done.err
        assert len(done.err) < 20_000, "a long word is not repeated whole"


def real(line: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """In a shell, with an environment of its own; None takes a variable away."""
    whole = os.environ | {name: value for name, value in environment.items() if value is not None}
    whole = {name: value for name, value in whole.items() if environment.get(name, "") is not None}
    program = shlex.join([sys.executable, "-m", "rookery"])
    text = line.replace("rookery", program)
    return subprocess.run(
        ["bash", "-c", text], env=whole, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("line", "environment", "codes"),
    [
        ("rookery ps | head -0; exit ${PIPESTATUS[0]}", {}, {0, 141}),
        ("rookery --help >&-", {}, {0, 1}),
        ("rookery ps --json <&- 2>&-", {}, {0}),
        ("rookery run --agent demo <&-", {}, {2}),
        ("rookery remove New <&-", {}, {2}),
        ("rookery show nosuch", {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": None}, {2}),
        ("rookery", {"TERM": None}, {0}),
        ("rookery ps", {"HOME": None, "ROOKERY_HOME": None}, {0}),
        ("rookery ps", {"HOME": "/nonexistent", "ROOKERY_HOME": ""}, {0, 1}),
        ("rookery show nosuch >/dev/full", {}, {2}),
        ("rookery help >/dev/full", {}, {1}),
        ("mkdir gone; cd gone; rmdir ../gone; rookery run --agent demo x", {}, {1, 2}),
    ],
    ids=range(12),
)
@pytest.mark.long
def test_a_bad_place_to_run_in_is_answered_with_a_sentence(
    home: Path, session: str, line: str, environment: dict[str, str | None], codes: set[int]
) -> None:
    done = real(line, **environment)
    assert done.returncode in codes, done
    assert "Traceback" not in done.stderr, done.stderr
    assert "internal error" not in done.stderr, done.stderr


def test_a_script_without_yes_changes_nothing_and_exits_with_2(home: Path, session: str) -> None:
    rookery("archive", session)
    for line in (["remove", session], ["prune", "--archived"], ["uninstall"]):
        done = rookery(*line)
        assert done.code == 2, (line, done)
        assert "--yes" in done.err
    assert session in rookery("ps", "--all", "--json").out


def test_whoever_says_no_gets_130(home: Path, session: str) -> None:
    from tests.cli.driving import Terminal

    with Terminal("remove", session) as terminal:
        terminal.read_until("[y/N]")
        terminal.type("n\n")
        assert terminal.end().code == 130


@pytest.mark.parametrize(
    ("word", "near"),
    [("--attch", "--attach"), ("--yol", ""), ("--yollo", ""), ("--cloude", "--cloud")],
)
def test_only_a_near_and_harmless_option_is_suggested(home: Path, word: str, near: str) -> None:
    done = rookery("run", word, "x")
    assert done.err.startswith(f"rookery: There is no option {word}.")
    assert ("Did you mean" in done.err) == bool(near)
    assert near in done.err
    assert "yolo" not in done.err
    assert "Usage: rookery run" in done.err.splitlines()[1]


def test_force_is_never_suggested(home: Path) -> None:
    assert "Did you mean" not in rookery("remove", "--forc", "x").err
    made({"text": "hi"})
    assert "Did you mean" not in rookery("cancel", "--forcee", "x").err
