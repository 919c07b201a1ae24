"""How far somebody looked is kept beside the log, and never goes back."""

import os
import stat
from pathlib import Path

from rookery.home import paths
from rookery.home.seen import mark, seen


def test_the_last_seen_event_only_grows(tmp_path: Path) -> None:
    directory = str(tmp_path)
    assert seen(directory) == 0
    mark(directory, 7)
    mark(directory, 3)
    assert seen(directory) == 7
    mark(directory, 8)
    assert seen(directory) == 8
    file = tmp_path / paths.SEEN
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == [paths.SEEN]


def test_a_damaged_seen_file_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / paths.SEEN).write_text('{"seq": "many"}')
    assert seen(str(tmp_path)) == 0
    mark(str(tmp_path), 1)
    assert seen(str(tmp_path)) == 1


def test_looking_in_a_read_only_home_is_no_error(tmp_path: Path) -> None:
    mark(str(tmp_path / "gone"), 5)
    assert seen(str(tmp_path / "gone")) == 0
