"""`rookery agent` on the command line, before any protocol."""

import subprocess

from tests.agent.conftest import ARGV


def test_bad_arguments() -> None:
    for words in (["--resume"], ["--what"], ["--resume", "x", "--last"]):
        done = subprocess.run(
            [*ARGV, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        assert done.returncode == 2
        assert "Usage: rookery agent" in done.stderr
        assert done.stdout == ""


def test_help() -> None:
    done = subprocess.run([*ARGV, "--help"], capture_output=True, text=True, check=True)
    assert "rookery setup" in done.stdout
    assert "--resume" in done.stdout
