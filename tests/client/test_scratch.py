"""Folders of the moment go with the process that made them, or with whoever comes next."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from rookery.home import scratch

MAKES = """
import sys
from rookery.home import scratch
print(scratch.folder(sys.argv[1], "shell-"), flush=True)
sys.stdin.read()
"""


def maker(home: Path) -> tuple[subprocess.Popen[str], Path]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", MAKES, str(home)], stdin=pipe, stdout=pipe, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_lives_as_long_as_its_process(tmp_path: Path) -> None:
    process, made = maker(tmp_path)
    with process:
        scratch.sweep(str(tmp_path))
        assert made.is_dir(), "its maker lives"
        process.send_signal(signal.SIGKILL)
    assert made.is_dir(), "a killed one removes nothing"
    scratch.sweep(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_process_removes_its_folder_when_it_ends(tmp_path: Path) -> None:
    process, made = maker(tmp_path)
    with process:
        pass  # its input ends
    assert not made.exists()


def test_a_folder_whose_maker_was_killed_before_locking_it_is_removed(tmp_path: Path) -> None:
    """Nobody is about to hold it: then it goes, too."""
    (tmp_path / scratch.PLACE / "half-made" / "shell-x").mkdir(parents=True)
    process, made = maker(tmp_path)
    with process:
        assert os.listdir(tmp_path / scratch.PLACE) == [made.parent.name]
    scratch.sweep(str(tmp_path))
    assert os.listdir(tmp_path) == []
