"""`rookery --daemon URL` in a real terminal."""

from pathlib import Path
from typing import Any

import pytest

from rookery.client.daemon import logins
from rookery.client.daemon.logins import Login
from tests.cli.driving import ROOKERY, play
from tests.daemon.served import Served, awaited, serve
from tests.tui.tmux import Tmux

ASK = {"ask": "Edit b.py", "kind": "edit", "allowed": [{"text": "APPROVED"}]}


def test_a_remote_session_is_opened_prompted_and_answered(
    home: Path, daemon: Served, tmp_path: Path
) -> None:
    """And a daemon that is killed meanwhile: the screen says so, and comes back by itself."""
    mine = tmp_path / "mine"
    session = daemon.create(title="Far away")
    logins.save(str(mine), Login(daemon.address, daemon.token))
    command = (*ROOKERY, "--daemon", daemon.address, "open", "Far away")
    with Tmux(mine, *command, cwd=tmp_path) as screen:
        screen.wait_for("Far away", "No messages yet")
        screen.say(play(ASK))
        screen.wait_for("wants to edit b.py", "Press a key above")
        screen.press_until("y", "Write here")  # one that comes as the ask does answers nothing
        screen.say("!ls")
        screen.wait_for("Do it on that")
        screen.press("F1")
        screen.wait_for("Search keys", "Everywhere")
        screen.type("default")
        screen.wait_for("No matches.")  # of models and agents, which are set up there
        screen.press("Escape")
        screen.wait_without("Search keys")
        port = int(daemon.netloc.rpartition(":")[2])
        daemon.kill()
        screen.wait_for("Trying again")
        daemon.record = serve(home, port=port).record
        screen.wait_for("Connected again")
        screen.say(play({"text": "STILL HERE"}))
        awaited(lambda: "STILL HERE" in said(daemon, session))
    assert said(daemon, session) == ["APPROVED", "STILL HERE"]
    prompts = [each for each in updates(daemon, session) if each["sessionUpdate"] == "_prompt"]
    assert len(prompts) == 2


@pytest.mark.long
def test_search_finds_what_was_said_remotely(daemon: Served, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    daemon.create(title="Far away")
    birds = daemon.create(title="Birds")
    body = {"text": play({"text": "A kestrel hovers."})}
    daemon.own("POST", f"/api/sessions/{birds}/prompt", body)
    awaited(lambda: said(daemon, birds) == ["A kestrel hovers."])
    logins.save(str(mine), Login(daemon.address, daemon.token))
    command = (*ROOKERY, "--daemon", daemon.address, "open", "Far away")
    with Tmux(mine, *command, cwd=tmp_path) as screen:
        screen.wait_for("Far away", "No messages yet")
        screen.press("C-p")
        screen.wait_for("Commands and sessions")
        screen.type("everything")
        screen.wait_for("▌Search everything…")
        screen.press("Enter")
        screen.wait_for("Type to search.")
        screen.type("kestrel")
        screen.wait_for("answer: A kestrel hovers.")
        screen.press("Enter")
        screen.wait_without("Search everything")
        screen.wait_for("▌ A kestrel hovers.")


def said(daemon: Served, session: str) -> list[str]:
    found = updates(daemon, session)
    return [
        each["content"]["text"] for each in found if each["sessionUpdate"] == "agent_message_chunk"
    ]


def updates(daemon: Served, session: str) -> list[dict[str, Any]]:
    found = daemon.own("GET", f"/api/sessions/{session}/events").json()["events"]
    return [each["update"] for each in found]
