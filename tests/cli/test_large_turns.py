"""A turn of any size opens at its end, in every face: real agents said it, real workers kept it."""

import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from rookery.home import paths
from rookery.log.reader import Reader
from tests.cli.driving import RIGGED, ROOKERY, SECONDS, Running, made, play, rookery
from tests.tui.tmux import Tmux

SHOWN = 5 * 1024 * 1024
CHUNK = 20_000
CHUNKS = 500
"""Together 10 MB: twice what opens."""

FLOOD = {"flood": CHUNKS, "size": CHUNK, "messageId": "m"}
REST = [{"tool": "Look"}, {"text": "The end."}]


@pytest.fixture
def session(home: Path) -> str:
    """Its last turn is one message of 10 MB, and a few words."""
    return made({"text": "The very first words."}, FLOOD, *REST, flags=RIGGED)


def directory(home: Path, session: str) -> str:
    return paths.session_dir(str(home), session)


def test_show_prints_the_end_and_says_there_is_more(home: Path, session: str) -> None:
    done = rookery("show", session)
    assert done.code == 0
    assert SHOWN // 2 < len(done.out) <= SHOWN
    assert done.out.rstrip().endswith("The end.")
    assert "The very first words." not in done.out
    assert "To print all of it: --turn 1" in done.err
    whole = rookery("show", session, "--turn", "1")
    assert len(whole.out) > CHUNKS * CHUNK
    assert "The very first words." in whole.out
    assert "the end of a long turn" not in whole.err
    assert rookery("show", session, "--all").out == whole.out


def test_show_json_has_the_end_and_the_log_has_every_event(home: Path, session: str) -> None:
    shown = rookery("show", session, "--json")
    blocks = json.loads(shown.out)["blocks"]
    assert sum(len(block["text"]) for block in blocks) <= SHOWN
    assert [block["text"] for block in blocks][-1] == "The end."
    assert "the end of a long turn" in shown.err
    with Reader.open(directory(home, session)) as log:
        kept = [event.seq for event in log.page(1)]
    events = rookery("show", session, "--events").events  # a snapshot may come in between
    assert [event["seq"] for event in events][: len(kept)] == kept


@pytest.mark.long
def test_tail_begins_at_the_end_and_follows(home: Path) -> None:
    """Also in the middle of a message that began far above."""
    session = rookery("new", *RIGGED).out.strip()
    more = {"flood": 2, "size": 40, "messageId": "m"}
    steps = [{"text": "First."}, FLOOD, {"until": "cancel", "then": [more, {"text": "Over."}]}]
    rookery("prompt", session, play(*steps))
    with Running("tail", session) as tail:
        tail.read_until(f"{CHUNKS - 1} ")  # all of it is there
    with Running("tail", session) as tail:
        assert f"More above: rookery show {session} --turn 1" in tail.read_err_until("--turn 1")
        seen = tail.read_until(f"{CHUNKS - 1} ")
        assert len(seen) <= SHOWN
        assert "First." not in seen
        rookery("cancel", session)
        assert "1 " in tail.read_until("Over.")


@pytest.mark.long
def test_a_session_killed_in_mid_turn_opens_at_its_end(home: Path) -> None:
    """There are marks inside the turn, and no header row of it; the next worker goes on from
    them."""
    session = rookery("new", *RIGGED).out.strip()
    rookery(
        "prompt", session, play({"text": "First."}, FLOOD, {"text": "Half."}, {"until": "cancel"})
    )
    with Running("tail", session) as tail:
        tail.read_until("Half.")
    worker = paths.read_json(os.path.join(directory(home, session), paths.WORKER)) or {}
    os.kill(worker["pid"], signal.SIGKILL)
    done = rookery("show", session)
    assert len(done.out) <= SHOWN
    assert "Half." in done.out
    again = rookery("prompt", session, "--wait", play({"text": "Awake again."}))
    assert (again.code, "Awake again." in again.out) == (0, True)
    with Reader.open(directory(home, session)) as log:
        assert "interrupted" in [e.update.get("reason") for e in log.page(1)]


@pytest.mark.long
def test_an_ask_from_far_above_can_be_seen_and_answered(home: Path) -> None:
    """The agent asks, and talks on for longer than what opens."""
    no_wait = "[worker]\nsnapshots = false\n"  # else the ask waits for one, and comes later
    (home / "config.toml").write_text(no_wait)
    options = [{"optionId": "y", "name": "Yes, do", "kind": "allow_once"}]
    call = {"toolCallId": "c9", "title": "Water the plants"}
    params = {"sessionId": "$session", "toolCall": call, "options": options}
    frame = {"jsonrpc": "2.0", "id": "q1", "method": "session/request_permission", "params": params}
    session = rookery("new", *RIGGED).out.strip()
    steps = [{"raw": json.dumps(frame)}, FLOOD, {"text": "Waiting."}, {"until": "cancel"}]
    rookery("prompt", session, play(*steps))
    with Running("tail", session) as tail:
        tail.read_until("Waiting.")
    with Running("tail", session) as tail:
        assert "Yes, do" in tail.read_until("Waiting.")
    shown = rookery("show", session)
    assert len(shown.out) <= SHOWN + 1000
    assert "Water the plants" in shown.out
    assert "Water the plants" in rookery("asks").out
    with Tmux(home, *ROOKERY, "--resume", session) as screen:
        screen.wait_for("needs you")
        screen.press("BTab")
        screen.wait_for("Water the plants", "Yes, do")
    assert rookery("answer", session, "Yes, do").code == 0
    assert "No open questions" in rookery("asks").err


@pytest.mark.long
def test_the_terminal_interface_opens_at_the_end_and_grows_upward(home: Path, session: str) -> None:
    with Tmux(home, *ROOKERY, "--resume", session) as screen:
        shown = screen.wait_for("The end.")
        assert "The very first words." not in shown
        screen.press("BTab")
        for _ in range(60):
            screen.press("Home")
            if "The very first words." in screen.screen():
                break
        screen.wait_for("The very first words.")


@pytest.mark.long
def test_a_log_of_an_earlier_build_opens_and_gets_checkpoints(home: Path, session: str) -> None:
    rookery("stop", session)
    log = os.path.join(directory(home, session), "log.db")
    with closing(sqlite3.connect(log)) as connection:
        connection.execute("DROP TABLE mark")
    assert len(rookery("show", session).out) <= SHOWN
    rookery("prompt", session, "--wait", play({"text": "A short turn."}))
    until = time.monotonic() + SECONDS
    while marked(log) < CHUNKS * CHUNK // 2**21:  # a step at a time, between all else
        assert time.monotonic() < until
        time.sleep(0.05)


def marked(log: str) -> int:
    with closing(sqlite3.connect(log)) as connection:
        return int(connection.execute("SELECT count(*) FROM mark").fetchone()[0])


def test_each_of_thousands_of_calls_is_a_card(home: Path) -> None:
    """Of a turn with more calls than are remembered, each is a card."""
    calls = 3_000
    session = made({"repeat": calls, "steps": [{"tool": "Look", "status": "completed"}]})
    shown = rookery("show", session, "--turn", "1", "--json")
    blocks = json.loads(shown.out)["blocks"]
    assert sum(block["role"] == "tool" for block in blocks) == calls
    assert {block["status"] for block in blocks if block["role"] == "tool"} == {"done"}
