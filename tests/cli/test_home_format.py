"""Every command reads the home's format first; a home of a newer Rookery is left to the byte."""

import os
import threading
from pathlib import Path

import pytest

from rookery.client import fleet
from rookery.client.create import create_session
from rookery.client.offline import carry_out
from rookery.home import paths
from rookery.log.errors import BadPlace
from tests.cli.driving import rookery
from tests.log.drafts import files

COMMANDS = (
    *(["ps"], ["run", "x"], ["uninstall", "--yes"], ["acp"], ["agent"], ["play"]),
    *(["config"], ["serve", "--status"], ["--headless", "-t", "x"]),
)


def number(home: Path) -> Path:
    return home / paths.FORMAT


def in_home(home: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in home.rglob("*") if each.is_file()}


def test_a_new_home_and_one_of_an_earlier_build_get_the_number(home: Path) -> None:
    rookery("new")
    assert number(home).read_text() == "1\n"
    number(home).unlink()
    rookery("ps")
    assert not number(home).exists(), "to look changes nothing"
    rookery("new")
    assert number(home).read_text() == "1\n"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_home_of_a_newer_rookery_is_refused_in_a_sentence(home: Path, words: list[str]) -> None:
    home.mkdir(exist_ok=True)
    number(home).write_text("2\n")
    before = in_home(home)
    done = rookery(*words)
    assert done.code == 1
    assert done.out == ""
    assert done.err == (
        f"rookery: {home} is of a newer Rookery (home format 2; this one knows 1). "
        "Nothing in it was changed. To update: rookery update\n"
    )
    assert in_home(home) == before


def test_what_helps_to_update_runs_in_any_home(home: Path) -> None:
    home.mkdir(exist_ok=True)
    number(home).write_text("2\n")
    for words in (["--version"], ["help"], ["ps", "--help"], ["completions", "bash"]):
        assert rookery(*words).code == 0
    assert "of a newer Rookery" in rookery("doctor").out
    assert "newer Rookery" not in rookery("update", "--help").err


@pytest.mark.parametrize("content", ["", "two\n", "-1\n", "1 2\n", "9" * 40], ids=repr)
def test_a_damaged_number_says_what_to_do(home: Path, content: str) -> None:
    home.mkdir(exist_ok=True)
    number(home).write_text(content)
    done = rookery("ps")
    assert done.code == 1
    assert f"{number(home)} is damaged" in done.err
    assert "delete that file" in done.err
    assert number(home).read_text() == content


def test_a_number_that_cannot_be_read_is_no_number(home: Path) -> None:
    number(home).mkdir(parents=True)
    done = rookery("ps")
    assert done.code == 1
    assert f"{number(home)} cannot be read: Is a directory" in done.err


def test_two_that_write_it_at_once_never_replace_a_newer_one(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    os.makedirs(home, 0o700)
    threads = [threading.Thread(target=paths.ensure_home, args=(home,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(os.listdir(home)) == [paths.FORMAT, "sessions", "trash"]
    number(tmp_path / "home").write_text("2\n")
    with pytest.raises(paths.PathError, match="home format 2"):
        paths.ensure_home(home)
    paths._write_format(home)  # it looked just before the newer one wrote
    assert number(tmp_path / "home").read_text() == "2\n"
    assert sorted(os.listdir(home)) == [paths.FORMAT, "sessions", "trash"]


def test_a_process_that_ran_before_writes_nothing_after(home: Path, tmp_path: Path) -> None:
    session = create_session(str(home), agent="player", argv=["x"], cwd=str(tmp_path))
    directory = paths.session_dir(str(home), session)
    number(home).write_text("2\n")
    before = files(directory)
    with pytest.raises(BadPlace, match="of a newer Rookery"):
        carry_out(directory, {"id": "c", "do": "rename", "title": "x"}, "test")
    with pytest.raises(BadPlace, match="of a newer Rookery"):
        fleet.remove(str(home), session)
    with pytest.raises(paths.PathError, match="of a newer Rookery"):
        create_session(str(home), agent="player", argv=["x"], cwd=str(tmp_path))
    assert files(directory) == before
