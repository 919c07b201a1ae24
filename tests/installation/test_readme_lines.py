"""A newcomer's first day: the README's lines, in the order printed, in a clean home, on each
Python. `make install` builds the package and resolves without pins; our own agent plays a turn."""

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from rookery.agent.scripted.demo import NOTE
from tests.installation import readme
from tests.installation.places import PYTHONS, Account, interpreter
from tests.installation.readme import Line


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def begun(account: Account, line: Line, cwd: Path) -> Iterator[str]:
    """A line that goes on: its first words, once it has printed some. Ctrl-C ends it."""
    process = subprocess.Popen(
        ["sh", "-c", f"exec {line.text}"],
        cwd=cwd,
        env=account.environment | {"PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            os.killpg(process.pid, signal.SIGINT)
            rest = process.stdout.read()
        assert process.wait() in line.codes, f"$ {line.text}\n{rest}"
        assert "Traceback" not in rest, rest


def test_comments_and_substitutions_of_its_lines() -> None:
    found = readme.lines(1234, 4321, "/a python")
    assert found[0].text == "make install PYTHON='/a python'"
    assert not [each.text for each in found if "#" in each.text or "8123" in each.text]
    assert {each.way for each in found} == {"run", "serve", "follow", "other"}
    assert any(re.search(r"run --agent rookery", each.text) for each in found)


@pytest.mark.timeout(900)  # it downloads what the cache of uv lacks
@pytest.mark.parametrize("version", PYTHONS)
def test_every_line_works_in_the_order_printed(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if not python:
        pytest.skip(f"there is no Python {version} here")
    account = Account(tmp_path, python)
    readme.prepare(account.home, account.bin)
    work = account.home / "project"
    with ExitStack() as stack:
        stack.callback(account.run, "! command -v rookery || rookery uninstall --yes", cwd=work)
        for line in readme.lines(free_port(), free_port(), python):
            if line.way == "serve" and "model" in line.text:
                assert stack.enter_context(begun(account, line, work)), line.text
            elif line.way in ("serve", "follow"):
                with begun(account, line, work) as words:
                    assert words, line.text
            elif line.way == "run":
                root = readme.ROOT if line.text.startswith("make") else work
                account.run(line.text, cwd=root, codes=line.codes)
        assert (work / NOTE).exists(), "our own agent played a turn"
    tool = account.home / ".local" / "share" / "uv" / "tools" / "rookery-acp" / "bin" / "python"
    found = account.distributions(tool)
    assert found["openhands-sdk"].startswith("1.58.")
    assert found["openhands-sdk"] == found["openhands-tools"]
    assert "rookery" not in found
