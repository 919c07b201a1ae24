"""What is killed while it makes a session or a file leaves nothing behind that stays."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.client.create import create_session
from rookery.client.fleet import heads
from rookery.home import paths

MAKE = """
import os, sys
from rookery.client.create import create_session
from rookery.core.json import Draft

def history():
    print("making", flush=True)
    sys.stdin.readline()
    yield Draft({"sessionUpdate": "_notice", "text": "imported"})

class Lazy(list):
    def __iter__(self):
        return history()

create_session(sys.argv[1], agent="demo", argv=[], cwd="/", history=Lazy())
"""
EXPORT = """
import sys
from rookery.export import files

def data():
    yield b"half"
    print("writing", flush=True)
    sys.stdin.readline()
    yield b" and half"

files.keep(sys.argv[1], data, force="force" in sys.argv)
"""


@contextmanager
def at_work(script: str, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that has begun, and waits for a line."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", script, *words], stdin=pipe, stdout=pipe
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process
        process.kill()


def unfinished(home: Path) -> list[str]:
    names = os.listdir(paths.sessions(str(home)))
    return [name for name in names if name.startswith(paths.UNFINISHED)]


def test_a_session_whose_maker_was_killed_is_swept_by_the_next(home: Path) -> None:
    """Not one that another process is making at the moment."""
    paths.ensure_home(str(home))
    with at_work(MAKE, str(home)) as alive:
        with at_work(MAKE, str(home)):
            assert len(unfinished(home)) == 2
        create_session(str(home), agent="demo", argv=[], cwd="/")
        assert len(unfinished(home)) == 1
        assert alive.stdin is not None
        alive.stdin.write(b"\n")
        alive.stdin.close()
        assert alive.wait(60) == 0
    assert unfinished(home) == []
    assert len(heads(str(home))) == 2


@pytest.mark.parametrize("how", ["", "force"])
def test_an_export_that_is_killed_leaves_no_file(tmp_path: Path, how: str) -> None:
    target = tmp_path / "talk.md"
    with at_work(EXPORT, str(target), how):
        pass
    assert os.listdir(tmp_path) == []
    with at_work(EXPORT, str(target), how) as process:
        process.communicate(b"\n", 60)
    assert os.listdir(tmp_path) == ["talk.md"]
    assert target.read_bytes() == b"half and half"
