"""S5, issue 16: rewind, fork and import from a terminal."""

import json
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from tests.cli.driving import play
from tests.client.test_import import elsewhere
from tests.e2e.house import until
from tests.rigs.player import player
from tests.tui.tmux import Tmux


@pytest.mark.long
def test_S5_a_session_goes_back_and_forth_and_is_forked(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "work"
    place.mkdir()
    file = place / "a.txt"
    with Tmux(home, size=(80, 24), cwd=place) as screen:
        screen.ready()
        for word in ("one", "two"):
            write = {"write": "a.txt", "content": f"{word}\n"}
            screen.say(play(write, {"text": f"schön {word}"}))  # escaped in the prompt
            screen.wait_for(f"schön {word}", "ready")
        screen.say("/rewind 1")
        screen.wait_for("Rewound to turn 1")
        until(lambda: file.read_text() == "one\n", "the file was not put back")
        screen.wait_without("schön two")
        screen.say("/rewind undo")
        screen.wait_for("schön two")
        assert file.read_text() == "two\n"
        screen.say("/rewind")
        screen.wait_for("Rewind to", "the beginning")
        screen.press("Escape")
        screen.wait_without("the beginning")
        screen.say("/fork 1")
        until(lambda: len(heads(str(home))) == 2, "there is no fork")
        screen.wait_without("schön two")
        screen.wait_for("schön one")


@pytest.mark.long
def test_I16_a_session_begun_elsewhere_is_imported(home: Path, tmp_path: Path) -> None:
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
