"""Leaving ends nothing: Ctrl-C, TERM, a closed terminal or `| head`, and the session goes on."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.driving import RIGGED, ROOKERY, Running, Terminal, made, play, rookery

LONG = play({"text": "begun"}, {"until": "cancel"})


def only_session(home: Path) -> dict[str, object]:
    head = json.loads(rookery("ps", "--json").out)
    assert isinstance(head, dict)
    return head


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGINT, ("run",)),
        (signal.SIGTERM, ("run",)),
        (signal.SIGINT, ("--headless", "--agent", "demo", "-t")),
    ],
    ids=["SIGINT", "SIGTERM", "SIGINT-headless"],
)
def test_a_signal_leaves_the_session_running(
    home: Path, number: signal.Signals, words: tuple[str, ...]
) -> None:
    with Running(*words, LONG) as running:
        running.read_until("begun")
        running.signal(number)
        done = running.end()
    head = only_session(home)
    assert done.code == 128 + number
    assert head["status"] == "running"
    assert f"rookery tail {head['id']}" in done.err
    assert f"rookery cancel {head['id']}" in done.err
    assert rookery("cancel", str(head["id"])).err == "Cancelled.\n"


def test_ctrl_c_in_a_terminal(home: Path) -> None:
    with Terminal("run", LONG) as terminal:
        terminal.read_until("begun")
        terminal.type("\x03")
        done = terminal.end()
    assert done.code == 130
    assert "keeps running" in done.out
    assert only_session(home)["status"] == "running"


def test_a_terminal_that_is_closed(home: Path) -> None:
    with Terminal("run", LONG) as terminal:
        terminal.read_until("begun")
        terminal.process.send_signal(signal.SIGHUP)
        assert terminal.end().code == 128 + signal.SIGHUP
    assert only_session(home)["status"] == "running"


def test_who_left_comes_back_and_hears_the_end(home: Path) -> None:
    with Running("run", LONG) as running:
        running.read_until("begun")
        running.signal()
        running.end()
    session = str(only_session(home)["id"])
    with Running("tail", session) as tail:
        assert "▎ {" in tail.read_until("begun")
        rookery("cancel", session)
        tail.read_until("■ Cancelled\n")
        tail.signal()
        done = tail.end()
    assert done.code == 130
    assert f"Session {session}: idle" in done.err


def test_a_session_that_is_deleted_is_followed_no_longer(home: Path) -> None:
    session = made({"text": "One"})
    with Running("tail", session) as tail:
        tail.read_until("One")
        assert rookery("rm", "--yes", session).code == 0
        done = tail.end()
    assert done.code == 1
    assert "was deleted" in done.err


def test_a_second_ctrl_c_quits_at_once(home: Path) -> None:
    with Running("run", LONG) as running:
        running.read_until("begun")
        running.signal()
        running.signal()
        assert running.end().code in (130, -signal.SIGINT)
    assert only_session(home)["status"] == "running"


def test_leaving_prompt_wait(home: Path) -> None:
    session = made({"text": "One"})
    with Running("prompt", session, "--wait", LONG) as running:
        running.read_until("begun")
        running.signal()
        done = running.end()
    assert done.code == 130
    assert f"rookery tail {session}" in done.err


@pytest.mark.parametrize("flag", [[], ["--json"]], ids=["text", "json"])
def test_nobody_reads_any_more(home: Path, flag: list[str]) -> None:
    session = made({"text": "line\n" * 20_000})
    command = [*ROOKERY, "show", session, *(["--events"] if flag else [])]
    showing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert showing.stdout is not None
    showing.stdout.read(10)
    showing.stdout.close()
    assert showing.stderr is not None
    assert showing.stderr.read() == b""
    showing.stderr.close()
    assert showing.wait(60) in (0, 141)


@pytest.mark.long
def test_an_ignored_cancel_is_not_reported_as_done(home: Path) -> None:
    """The first asks, the second ends."""
    session = rookery("new", *RIGGED).out.strip()
    with Running(
        "prompt", session, "--wait", play({"deaf": True}, {"text": "x"}, {"wait": 60})
    ) as it:
        it.read_until("x")
        first = rookery("cancel", session)
        said = " ".join(first.err.split())
        assert said == (
            "The agent was asked to cancel but is still working. "
            f"To end it, run rookery cancel {session} again."
        )
        assert only_session(home)["status"] == "running"
        assert rookery("cancel", session).err == "The agent ignored the cancel and was killed.\n"
        assert it.end().code == 1
    assert rookery("cancel", session).err == "Nothing was running.\n"


# --- what is said is true: "keeps running" -------------------------------------------------


@pytest.mark.parametrize("command", ["run", "prompt", "tail"])
def test_a_waiting_session_is_not_said_to_keep_running(home: Path, command: str) -> None:
    """An ask is open when a person leaves."""
    steps = play({"text": "begun\n"}, {"ask": "Tidy up", "kind": "edit"})
    words = {
        "run": ("run", "--approve", "ask", steps),
        "prompt": ("prompt", "House", "--wait", steps),
        "tail": ("tail", "House"),
    }[command]
    if command != "run":
        rookery("new", "--title", "House")
    if command == "tail":
        assert rookery("prompt", "House", steps).code == 0
    with Running(*words) as running:
        said = running.read_err_until("rookery answer")
        running.signal()
        done = running.end()
    session = str(only_session(home)["id"])
    assert done.code == 130
    assert "keeps running" not in said + done.err
    assert f"Session {session} is waiting for your answer." in done.err
    assert f"rookery answer {session}" in done.err
    assert only_session(home)["status"] == "needs-you"


def test_leaving_a_running_session_says_what_would_stop_it(home: Path) -> None:
    with Running("run", "--approve", "ask", LONG) as running:
        running.read_until("begun")
        running.signal()
        done = running.end()
    said = " ".join(done.err.split())
    assert "keeps running. If it needs an answer, it waits for you." in said


def test_leaving_an_idle_or_sleeping_session_claims_nothing(home: Path) -> None:
    session = made({"text": "One"})
    for asleep in (False, True):
        if asleep:
            rookery("stop", session)
        with Running("tail", session) as tail:
            tail.read_until("One")
            tail.signal()
            done = tail.end()
        state, show = done.err.splitlines()[-2:]
        assert state == f"Session {session}: {'asleep' if asleep else 'idle'}"
        assert show.split() == ["rookery", "show", session, "to", "read", "it"]
