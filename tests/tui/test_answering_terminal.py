"""Asks in a real terminal: what somebody types while one arrives never answers it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from tests.cli.driving import play
from tests.e2e.house import until
from tests.rigs.player import player
from tests.tui.tmux import Tmux
from tests.worker.aviary import trust

TYPED = "yes please"
EVERY = [(0, 5), pytest.param(range(len(TYPED)), marks=pytest.mark.long)]
ASK = {"ask": "Edit b.py", "kind": "edit", "allowed": [{"text": "APPROVED"}]}


@pytest.mark.parametrize("offsets", EVERY)
def test_typing_while_an_ask_arrives_approves_nothing(home: Path, offsets: Sequence[int]) -> None:
    """At every offset: some letters before it, the others as soon as it is there, in one burst and
    one by one."""
    with Tmux(home) as screen:
        screen.ready()
        for offset in offsets:
            go = home / f"go{offset}"
            wait = {"command": f"until [ -e {go} ]; do sleep 0.05; done"}
            screen.say(play(wait, ASK | {"allowed": [{"command": f"touch {home}/approved"}]}))
            screen.wait_for("running", "Esc cancel")
            if offset:
                screen.type(TYPED[:offset])
                screen.wait_for(f"│ {TYPED[:offset].rstrip()}")
            go.touch()
            screen.wait_for("wants to edit b.py", "needs you")
            if offset % 2:  # the composer has letters: how slowly the others come does not matter
                for letter in TYPED[offset:]:
                    screen.type(letter)
            else:
                screen.type(TYPED[offset:])
            screen.wait_for(f"│ {TYPED}", "F2 answer")
            (head,) = heads(str(home))
            assert head["asks"] == 1
            screen.press("Escape")
            screen.wait_without("needs you")
            screen.press("C-c")
            screen.wait_without(f"│ {TYPED}")
        assert not (home / "approved").exists()


def test_one_key_answers_an_ask_that_took_the_focus(home: Path) -> None:
    with Tmux(home, size=(80, 24)) as screen:
        screen.ready()
        screen.say(play(ASK))
        screen.wait_for("wants to edit b.py", "▌ ┃", "y  allow once", "n  reject")
        screen.wait_without("F2 answer")
        screen.press_until("y", "● idle")  # its first moment takes no key
    (head,) = heads(str(home))
    assert head["asks"] == 0


@pytest.mark.long
def test_a_destructive_ask_is_rejected_and_says_so(home: Path) -> None:
    deletes = {"ask": "Clean up", "kind": "execute", "rawInput": {"command": "rm -rf build"}}
    with Tmux(home, size=(80, 24)) as screen:
        screen.ready()
        screen.say(play(deletes))
        screen.wait_for("This cannot be undone", "▌ ┃")
        for key in ("q", "n", "Escape"):
            screen.press_until("y", "y  to confirm,")
            screen.press(key)
            screen.wait_without("y  to confirm,")
            screen.wait_for("This cannot be undone", "▌ ┃", "needs you")
        screen.press_until("n", "rejected")
    (head,) = heads(str(home))
    assert head["asks"] == 0


@pytest.mark.long
def test_a_draft_and_a_pasted_text_survive_leaving(home: Path) -> None:
    with Tmux(home, size=(80, 24)) as screen:
        screen.ready()
        screen.type("half a thought")
        screen.wait_for("half a thought")
        screen.press("C-q")
        screen.wait_without("half a thought")
    with Tmux(home, size=(80, 24)) as screen:
        screen.wait_for("half a thought")
        screen.press("C-c")
        screen.wait_without("half a thought")
        screen.press("Up")
        screen.wait_for("half a thought")
        screen.paste("\n".join(f"line {n}" for n in range(40)))
        screen.wait_for("half a thought", "pasted text, 40 lines")
        screen.press("C-q")
        screen.wait_without("pasted text")
    with Tmux(home, size=(80, 24)) as screen:
        screen.wait_for("line 39")


def test_a_draft_survives_a_terminal_that_is_killed(home: Path) -> None:
    with Tmux(home, size=(80, 24)) as screen:
        screen.ready()
        screen.type("half a thought")
        kept = home / "drafts.json"
        until(lambda: kept.exists() and "half a thought" in kept.read_text(), "it is not kept")
    # Its terminal went without a word.
    with Tmux(home, size=(80, 24)) as screen:
        screen.wait_for("half a thought")
        screen.press("Enter")
        until(lambda: not kept.exists(), "what was sent is still kept")


@pytest.mark.long
def test_a_key_goes_from_ask_to_ask_in_all_sessions(home: Path) -> None:
    """F2 y F2 y"""
    with Tmux(home) as screen:
        screen.ready()
        for _ in range(2):
            screen.say(play(ASK))
            screen.wait_for("wants to edit b.py", "▌ ┃")
            screen.press("C-n")
            screen.wait_for("new session")
        for _ in range(2):
            screen.press("F2")
            screen.wait_for("wants to edit b.py", "▌ ┃")
            screen.press("y")
            screen.wait_for("● idle")
    assert [head["asks"] for head in heads(str(home))] == [0, 0]


@pytest.mark.long
def test_the_queue_takes_the_focus_on_purpose_and_gives_it_back(home: Path) -> None:
    """While a turn runs Enter queues, as the line below says; the queue's letters act only in it,
    and once it is empty typing writes again."""
    go = home / "go"
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"command": f"until [ -e {go} ]; do sleep 0.05; done"}))
        screen.wait_for("running", "Esc cancel")
        screen.type("then this")
        screen.wait_for("Enter queue")
        screen.press("Enter")
        screen.wait_for("then this", "1 queued")
        screen.type("hello")  # with a queue in sight, outside of it
        screen.wait_for("│ hello")
        screen.press("C-c")
        screen.wait_without("│ hello")
        screen.press("C-t")
        screen.wait_for("e edit")
        go.touch()
        screen.wait_without("1 queued")
        screen.type("see")
        screen.wait_for("│ see")
    (head,) = heads(str(home))
    assert head["queue"] == 0


@pytest.mark.long
def test_enter_steers_an_agent_that_can_be_steered(home: Path) -> None:
    script = home / "script.json"
    script.write_text(json.dumps({"agent": {"steering": True}}))
    words = json.dumps(player(str(script), "--state", str(home / "state")))
    config = f'default_agent = "bird"\n[agents.bird]\ncommand = {words}\n'
    (home / "config.toml").write_text(config)
    trust(str(home))
    with Tmux(home) as screen:
        screen.ready()
        screen.say(play({"text": "begun"}, {"until": "steer", "then": [{"text": "got: $steered"}]}))
        screen.wait_for("begun", "Esc cancel")
        screen.type("to the left")
        screen.wait_for("Enter steer", "Alt+Enter queue")
        screen.press("Enter")
        screen.wait_for("got: to the left", "● idle")
    (head,) = heads(str(home))
    assert head["turn"] == 1


def test_a_reached_budget_is_seen_and_answered(home: Path) -> None:
    (home / "config.toml").write_text('[session]\nbudget_turn = "500 tokens"\n')
    with Tmux(home, size=(80, 24)) as screen:
        screen.ready()
        screen.say(play({"usage": 900}, {"text": "spent"}, {"until": "cancel"}))
        screen.wait_for("This turn has used 900 of 500 tokens. Continue?", "budget reached")
        screen.wait_without("F2 answer")
        screen.wait_for("y continue")
        screen.wait_without("allow once")
        screen.press_until("y", "● idle")
        screen.wait_for("Continue: finish", "continued after the budget pause")
    (head,) = heads(str(home))
    assert (head["paused"], head["turn"]) == ("", 2)
