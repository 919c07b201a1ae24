"""Rewind, fork and import from a terminal."""

import json
from pathlib import Path

import pytest

from rookery.client.daemon import logins
from rookery.client.daemon.logins import Login
from rookery.client.fleet import heads
from tests.cli.driving import ROOKERY, play
from tests.client.test_import import elsewhere
from tests.daemon.served import serve
from tests.e2e.house import until
from tests.rigs.player import player
from tests.sandbox.test_bwrap import git
from tests.tui.tmux import Tmux


@pytest.mark.long
def test_a_session_is_rewound_undone_and_forked(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "work"
    place.mkdir()
    file = place / "a.txt"
    with Tmux(home, size=(80, 24), cwd=place) as screen:
        screen.ready()
        for word in ("one", "two"):
            write = {"write": "a.txt", "content": f"{word}\n"}
            screen.say(play(write, {"text": f"schön {word}"}))  # escaped in the prompt
            screen.wait_for(f"schön {word}", "● idle")
        (place / "mine.txt").write_text("precious")
        screen.say("/rewind 1")
        screen.wait_for("Rewind to turn 1?", "~ a.txt", "left alone", "- mine.txt")
        assert file.read_text() == "two\n"
        screen.press("Enter")
        screen.wait_for("Rewound to turn 1")
        until(lambda: file.read_text() == "one\n", "the file was not put back")
        screen.wait_without("schön two")
        assert (place / "mine.txt").exists()
        screen.say("/rewind undo")
        screen.wait_for("Undo the rewind?", "Bring back 1 file and the conversation")
        file.write_text("by hand\n")
        screen.press("Enter")
        screen.wait_for("Files changed since this list", "no file")
        file.write_text("one\n")
        screen.press("Enter")
        screen.wait_for("Files changed since this list", "Bring back 1 file")
        screen.press("Enter")
        screen.wait_for("schön two")
        assert file.read_text() == "two\n"
        assert (place / "mine.txt").exists()
        screen.say("/rewind")
        screen.wait_for("Rewind to", "the beginning")
        screen.press("Escape")
        screen.wait_without("the beginning")
        screen.say("/fork 1")
        until(lambda: len(heads(str(home))) == 2, "there is no fork")
        screen.wait_without("schön two")
        screen.wait_for("schön one")


@pytest.mark.long
def test_forks_races_and_imports_through_a_daemon(home: Path, tmp_path: Path) -> None:
    """`rookery --daemon`: nothing of it is on this machine."""
    mine, repository, theirs = tmp_path / "mine", tmp_path / "repository", tmp_path / "theirs"
    repository.mkdir()
    git(repository, "init", "-qb", "main")
    git(repository, "commit", "-q", "--allow-empty", "-m", "first")
    words = player("demo", "--state", str(theirs))
    (home / "config.toml").write_text(f"[agents.mine]\ncommand = {json.dumps(words)}\n")
    elsewhere(words, repository, play({"text": "a kingfisher"}))
    daemon = serve(home)
    try:
        logins.save(str(mine), Login(daemon.address, daemon.token))
        session = daemon.create(title="Far away", cwd=str(repository), agent="mine")
        command = (*ROOKERY, "--daemon", daemon.address, "open", "Far away")
        with Tmux(mine, *command, cwd=tmp_path, size=(100, 30)) as screen:
            screen.wait_for("Far away")
            screen.say(play({"write": "a.txt", "content": "one"}, {"text": "schön eins"}))
            screen.wait_for("schön eins", "● idle")
            screen.say("/fork 1 worktree")
            until(lambda: len(heads(str(home))) == 2, "there is no fork")
            [fork] = [head for head in heads(str(home)) if head["id"] != session]
            until(lambda: Path(fork["cwd"], "a.txt").exists(), "it has not the files of then")
            assert fork["cwd"] != str(repository)
            screen.wait_for("Fork: ")
            task = play({"write": "b.txt", "content": "two"}, {"text": "schön zwei"})
            screen.say(f"/race mine,mine {task}")
            until(lambda: len(heads(str(home))) == 4, "no race")
            screen.wait_for("schön zwei")
            runners = [head for head in heads(str(home)) if head.get("race")]
            until(lambda: all(Path(each["cwd"], "b.txt").exists() for each in runners), "not run")
            screen.say("/race")
            screen.wait_for("Race", "Drop all", "1 file +1")
            screen.press("Enter")
            screen.wait_for("Pick it")
            screen.press("Down", "Enter")
            screen.wait_for("Commit message:")
            screen.press("Enter")
            screen.wait_for("Delete 1 worktree")
            screen.press("y")
            screen.wait_for("Merged into main")
            assert (repository / "b.txt").read_text() == "two"
            screen.say("/import mine")
            screen.wait_for("Import from mine", "already imported")  # the newest
            screen.press("Down", "Enter")
            screen.wait_for("a kingfisher")
    finally:
        daemon.stop()
    assert [head for head in heads(str(home)) if head["id"] == session]
    assert not heads(str(mine))


@pytest.mark.long
def test_a_session_begun_elsewhere_is_imported(home: Path, tmp_path: Path) -> None:
    words = player("demo", "--state", str(tmp_path / "theirs"))
    (home / "config.toml").write_text(f"[agents.mine]\ncommand = {json.dumps(words)}\n")
    elsewhere(words, tmp_path, play({"text": "a kingfisher"}))
    with Tmux(home, size=(80, 24), cwd=tmp_path) as screen:
        screen.ready()
        screen.say("/import mine")
        screen.wait_for("Import from mine")
        screen.press("Enter")
        screen.wait_for("a kingfisher")
    (head,) = heads(str(home))
    assert head["agent"] == "mine"
