"""`rookery export`."""

import json
from pathlib import Path

import pytest

from rookery.cli.commands.look.export import read_turns
from rookery.export import Turns
from tests.cli.driving import made, play, rookery

KEY = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def test_export_writes_a_file_and_prints_its_name(home: Path, tmp_path: Path) -> None:
    session = made({"text": f"Good **morning**, {KEY}."}, title="A walk!")
    done = rookery("export", session, cwd=tmp_path)
    assert (done.code, done.out) == (0, "a-walk.md\n"), done.err
    text = (tmp_path / "a-walk.md").read_text()
    assert "Good **morning**, •••." in text

    again = rookery("export", session, cwd=tmp_path)
    assert again.code == 1
    assert "a-walk.md exists. To replace it: --force" in again.err
    assert rookery("export", session, "--force", cwd=tmp_path).code == 0

    page = rookery("export", session, "-o", "page.html", cwd=tmp_path)
    assert page.out == "page.html\n"
    assert "<strong>morning</strong>" in (tmp_path / "page.html").read_text()
    assert not list(tmp_path.glob("*.tmp"))


def test_export_prints_selected_turns_to_stdout(home: Path, tmp_path: Path) -> None:
    session = made({"text": "first answer"}, title="Walks")
    rookery("prompt", session, play({"text": "second answer"}))
    events = rookery("export", session, "-f", "jsonl", "-o", "-").out.splitlines()
    assert [json.loads(line)["seq"] for line in events] == list(range(1, len(events) + 1))
    last = rookery("export", session, "--turns", "2-", "-o", "-").out
    assert "second answer" in last
    assert "first answer" not in last


def test_export_of_several_sessions(home: Path, tmp_path: Path) -> None:
    ids = [made({"text": f"answer {n}"}, title="Same") for n in (1, 2)]
    wrong = rookery("export", *ids, "-o", "one.md", cwd=tmp_path)
    assert wrong.code == 2
    assert "for several sessions, name a directory: one.md/" in wrong.err
    done = rookery("export", *ids, "-f", "html", "-o", "out/", cwd=tmp_path)
    assert done.code == 0, done.err
    names = done.out.split()
    assert len(set(names)) == 2
    for n, name in enumerate(names, 1):
        assert f"answer {n}" in (tmp_path / name).read_text()


def test_export_says_what_is_wrong(home: Path, tmp_path: Path) -> None:
    assert "no session 'zzzz'" in rookery("export", "zzzz").err
    session = made({"text": "x"})
    assert rookery("export", session, "--turns", "5-2").code == 2
    assert rookery("export", session, "--turns", "x").code == 2
    none = rookery("export", session, "-o", "no/such/file.md", cwd=tmp_path)
    assert none.code == 1
    assert "no/such/file.md" in none.err


@pytest.mark.parametrize(
    ("said", "turns"),
    [("3", Turns(3, 3)), ("2-5", Turns(2, 5)), ("8-", Turns(8)), ("", Turns()), ("0", Turns(0, 0))],
)
def test_the_turns_of_an_export_are_selected(said: str, turns: Turns) -> None:
    assert read_turns(None, None, said) == turns
