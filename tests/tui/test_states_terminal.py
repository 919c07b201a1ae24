"""In a real terminal: a model that is tried again, one that cannot be reached, a screen without
colours, and the way from a search to the place of a hit."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import ROOKERY, made, play, rookery
from tests.tui.tmux import Tmux

SLEEPS = {"wait": 600}


def retry(said: str, **about: object) -> dict[str, Any]:
    """As Rookery's own agent says it."""
    content = {"type": "text", "text": said}
    update = {"sessionUpdate": "agent_thought_chunk", "content": content, "messageId": "r"}
    return {"update": {**update, "_meta": {"rookery": {"retry": about}}}}


@pytest.mark.long
def test_a_retried_model_is_shown_until_it_answers(home: Path, tmp_path: Path) -> None:
    """Once that is over, the note about it is gone."""
    waits = retry("The model is overloaded.", attempt=3, of=5, **{"in": 600.0}, kind="overloaded")
    with Tmux(home, size=(80, 24), cwd=tmp_path) as screen:
        screen.ready()
        screen.say(play(waits, SLEEPS))
        screen.wait_for("▲ running: retrying 3 of 5 in", "▲ Demo is trying again")
        screen.press("Escape")
        screen.wait_without("is trying again")
        screen.wait_for("● idle")


@pytest.mark.parametrize("size", [(80, 24), pytest.param((160, 48), marks=pytest.mark.long)])
def test_an_unreachable_model_is_shown_with_what_helps(
    home: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    gone = retry("Connection refused.", attempt=1, of=5, **{"in": 600.0}, kind="network")
    with Tmux(home, size=size, cwd=tmp_path) as screen:
        screen.ready()
        screen.say(play(gone, SLEEPS))
        screen.wait_for("▲ running: model unreachable", "retrying 1 of 5", "cannot reach its model")
        screen.wait_for("Check the network and the model's base URL")
        screen.press("Escape")
        screen.wait_without("model unreachable")


@pytest.mark.long
def test_a_screen_without_colours_tells_states_by_words(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States are told by signs and words; an ask is answered as ever."""
    monkeypatch.setenv("NO_COLOR", "1")
    with Tmux(home, size=(80, 24), cwd=tmp_path) as screen:
        screen.ready()
        screen.say("go")
        screen.wait_for("◆ Demo wants to edit greeting.py", "y  allow once", "◆ needs you")
        screen.press("F2")
        screen.press_until("y", "when you allow it.")
        screen.wait_for("● idle")
        assert not re.findall(r"\x1b\[[\d;]*[34]8[;:]", screen.coloured()), "no colour is set"


@pytest.mark.long
def test_a_search_hit_opens_its_session_at_the_place(home: Path, tmp_path: Path) -> None:
    """From Ctrl+P, over all sessions; and by `rookery open --at`, with the event of `search`."""
    birds = made({"text": "A kestrel hovers."}, title="Birds")
    for number in range(40):
        rookery("prompt", "--wait", birds, play({"text": f"Nothing of that kind, {number}.\n" * 3}))
    made({"text": "A trout swims."}, title="Fish")
    with Tmux(home, size=(80, 24), cwd=tmp_path) as screen:
        screen.ready()
        screen.press("C-p")
        screen.wait_for("Commands and sessions")
        screen.type("everything")
        screen.wait_for("▌Search everything…")
        screen.press("Enter")
        screen.wait_for("Type to search.")
        screen.type("nightingale")
        screen.wait_for("No matches.")
        screen.press("C-u")
        screen.wait_for("Type to search.")
        screen.type("kestrel")
        screen.wait_for("Birds · ", "answer: A kestrel hovers.")
        screen.press("Enter")
        screen.wait_without("Search everything")
        assert "Nothing of that kind, 39." not in screen.wait_for("▌ A kestrel hovers.")
    (hit,) = rookery("search", "--json", "--role", "answer", "kestrel").events
    line = (*ROOKERY, "open", birds, "--at", str(hit["seq"]))
    with Tmux(home, *line, size=(80, 24), cwd=tmp_path) as screen:
        screen.wait_for("▌ A kestrel hovers.")
    with Tmux(home, *ROOKERY, "open", birds, "--at", "99999", cwd=tmp_path) as screen:
        screen.wait_for("Nothing to show at event", "Nothing of that kind, 39.")
    assert "--at needs a session" in rookery("open", "--at", "3").err
