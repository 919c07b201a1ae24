"""`rookery acp` comes up at once, and says what is wrong with its arguments before it begins."""

import subprocess
import sys

import pytest

from rookery.acp.bridge.door import parse

SLOW = ["click", "sqlite3", "argparse", "rookery.client.session", "rookery.log", "websockets"]


def test_initialize_needs_nothing_heavy() -> None:
    """Asked as the command does it: what a session needs is loaded with the first one."""
    code = (
        "import sys\nsys.argv = ['rookery', 'acp']\n"
        "import rookery.cli, rookery.acp.bridge.door\n"
        f"print([name for name in {SLOW} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["--agent", "claude"], {"agent": "claude"}),
        (["--agent=claude", "--last"], {"agent": "claude", "last": "yes"}),
        (["--cmd", "x --acp", "--resume=3f"], {"cmd": "x --acp", "resume": "3f"}),
        (["--yolo"], {"yolo": "yes"}),
    ],
    ids=str,
)
def test_arguments(words: list[str], expected: dict[str, str]) -> None:
    assert parse(words) == expected


@pytest.mark.parametrize(
    "words",
    [
        *(["--agent"], ["--bogus"], ["x"], ["--agent", "a", "--cmd", "b"]),
        *(["--last", "--resume", "a"], ["--yolo", "--llm-approve"]),
    ],
    ids=str,
)
def test_wrong_arguments(words: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "rookery", "acp", *words],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert "Usage: rookery acp" in run.stderr
