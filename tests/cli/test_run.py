"""`run` streams the answer, never hangs on an ask, and exits with the truth."""

from pathlib import Path
from typing import Any

import pytest

from rookery.core.json.events import kind_of
from tests.cli.driving import RIGGED, Running, Terminal, made, play, rookery

ASK = {"ask": "Delete the build", "kind": "delete"}


def test_the_demo_reads_well(home: Path) -> None:
    done = rookery("run", "--verbose", "--agent", "demo", "Show me what you can do")
    assert done.code == 0
    assert "demo agent" in done.out
    assert "✓ Look around" in done.out
    assert "✓ edit greeting.py +" in done.out
    assert "\x1b" not in done.out + done.err
    assert done.err.startswith("Approve all (destructive commands are refused) · ")


def test_stop_puts_the_session_to_sleep_afterwards(home: Path) -> None:
    done = rookery("run", "--stop", "--json", play({"text": "Hi"}))
    assert done.code == 0
    session = done.events[0]["update"]["id"]
    last = rookery("show", session, "--events").events[-1]["update"]
    assert (last["sessionUpdate"], last["state"]) in {("_agent", "stopped"), ("_agent", "exited")}


def test_detached_it_goes_on_in_the_background(home: Path) -> None:
    ask = {"ask": "Delete the build", "kind": "delete", "allowed": [{"text": "Deleted."}]}
    done = rookery("run", "-d", "--approve", "all", play(ask, {"text": "Hi"}))
    assert done.code == 0
    session = done.out.strip()
    assert f"rookery tail {session}" in done.err
    with Running("tail", session) as tail:
        tail.read_until("Hi")
        tail.signal()
    assert "Deleted." in rookery("show", session).out


def test_detached_it_says_that_a_prompt_waits_for_its_turn(home: Path) -> None:
    (home / "config.toml").write_text("[worker]\nmax_workers = 1\n")
    rookery("run", "-d", play({"until": "cancel"}))
    done = rookery("run", "-d", play({"text": "Hi"}))
    assert done.code == 0
    assert "max_workers" in done.err
    assert f"rookery tail {done.out.strip()}" in done.err


@pytest.mark.parametrize("other", ["--json", "--verbose", "--stop"])
def test_what_needs_the_end_is_refused_with_detach(home: Path, other: str) -> None:
    done = rookery("run", "-d", other, "x")
    assert (done.code, done.out) == (2, "")
    assert other in done.err
    assert "No sessions" in rookery("ps").err


def test_stdout_carries_the_result_alone(home: Path) -> None:
    done = rookery("run", "--agent", "demo", play({"text": "Forty-two."}))
    assert done.out == "Forty-two.\n"
    assert done.err.count("\n") == 2, "one line before the turn, one after it"


def test_json_is_one_event_a_line_from_the_first(home: Path) -> None:
    done = rookery("run", "--json", play({"text": "Hi"}))
    assert [event["seq"] for event in done.events] == list(range(1, len(done.events) + 1))
    assert kind_of(done.events[0]["update"]) == "_session"
    assert done.events[-1]["update"]["reason"] == "end_turn"


@pytest.mark.parametrize(
    ("step", "code", "words"),
    [
        ({"stop": "end_turn"}, 0, ""),
        ({"stop": "cancelled"}, 130, "Cancelled"),
        ({"stop": "refusal"}, 1, "refused"),
        ({"stop": "max_tokens"}, 1, "token limit"),
        ({"error": "The model is on fire"}, 1, "The model is on fire"),
        ({"rate_limit": "12:00"}, 4, "Rate limit reached"),
        ({"crash": 3}, 1, "Demo ended with status 3"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_the_exit_code_is_the_turns_end(
    home: Path, step: dict[str, Any], code: int, words: str
) -> None:
    done = rookery("run", play({"text": "Well."}, step))
    assert done.code == code
    assert done.out == "Well.\n"
    assert words in done.err


@pytest.mark.parametrize(("approve", "code"), [("all", 0), ("reject", 3), (None, 0)])
def test_asks_are_answered_by_the_policy_given(home: Path, approve: str | None, code: int) -> None:
    steps = play({**ASK, "allowed": [{"text": "deleted"}], "rejected": [{"text": "kept"}]})
    flag = ["--approve", approve] if approve else []
    done = rookery("run", *flag, steps)
    assert done.code == code
    assert ("kept" if approve == "reject" else "deleted") in done.out


@pytest.mark.parametrize(("option", "words"), [("1", "deleted"), ("reject", "kept")])
def test_an_ask_that_is_left_to_a_person(home: Path, option: str, words: str) -> None:
    steps = play({**ASK, "allowed": [{"text": "deleted"}], "rejected": [{"text": "kept"}]})
    with Running("run", "--approve", "ask", "--title", "House", steps) as running:
        seen = running.read_err_until("┃ 1  ")
        assert "Demo wants to delete" in seen
        listed = rookery("answer", "House")
        assert listed.code == 0
        assert "┃ 1  " in listed.out
        assert rookery("answer", "House", "no such option").code == 2
        assert rookery("answer", "House", option).code == 0
        done = running.end()
    assert words in done.out
    assert done.code == 0
    assert "rookery answer" in seen + done.err
    late = rookery("answer", "House", option)
    assert (late.code, late.err) == (1, "No open questions.\n")


def test_a_question_that_nobody_can_answer_does_not_hang(home: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}
    done = rookery("run", play({"question": "Your name?", "schema": schema}, {"text": "On."}))
    assert "On." in done.out
    assert "Declined: this session never asks you" in done.err


@pytest.mark.long
def test_the_task_comes_from_stdin(home: Path) -> None:
    assert rookery("run", text=play({"text": "piped"})).out == "piped\n"
    assert rookery("run", "-", text=play({"text": "dash"})).out == "dash\n"
    made_of_both = rookery("run", "--title", "Both", "Review:", "-", text="a\nb\n")
    assert made_of_both.code == 0
    assert "▎ Review: a\n▎ b\n" in rookery("show", "Both").out


def test_nothing_to_send_is_a_usage_error(home: Path) -> None:
    assert rookery("run").code == 2
    assert rookery("run", "  ").code == 2
    assert not (home / "sessions").exists()


def test_prompt_goes_on_with_the_session(home: Path) -> None:
    session = made({"text": "One"})
    done = rookery("prompt", session, "--wait", play({"text": "Two"}))
    assert (done.code, done.out) == (0, "Two\n")
    assert rookery("prompt", session, "--wait", play({"error": "No"})).code == 1
    sent = rookery("prompt", session, play({"text": "Three"}))
    assert (sent.code, sent.out) == (0, "")
    every = rookery("show", session, "--all").out
    assert every.index("One") < every.index("Two")


def test_a_prompt_that_waits_its_turn_streams_only_its_own(home: Path) -> None:
    steps = play({"text": "First"}, {"ask": "Go on"}, {"text": "still first"})
    with Running("run", "--approve", "ask", "--title", "Queue", steps) as first:
        first.read_err_until("┃ 1  ")
        with Running("prompt", "Queue", "--wait", "hello") as second:
            _wait_for(second, "queued")
            rookery("answer", "Queue", "1")
            done = second.end()
    assert done.code == 0
    assert "first" not in done.out


def _wait_for(running: Running, word: str) -> None:
    assert running.process.stderr is not None
    line = running.process.stderr.readline().decode()
    assert word in line


def test_hostile_text_reaches_no_terminal(home: Path) -> None:
    steps = play({"text": "a\x1b[2Jb\x07"}, {"text": "\ud800 wide 日本"})
    with Terminal("run", steps) as terminal:
        done = terminal.end()
    assert done.code == 0
    assert "a␛[2Jb␇" in done.out
    assert "\x1b[2Jb" not in done.out
    assert "日本" in done.out


def test_a_terminal_gets_colour_unless_it_is_not_wanted(home: Path) -> None:
    steps = play({"command": "true", "output": "ok\n"})
    with Terminal("run", steps) as terminal:
        assert "\x1b[32m✓" in terminal.end().out
    with Terminal("run", steps, NO_COLOR="1") as terminal:
        assert "\x1b" not in terminal.end().out
    with Terminal("run", steps, TERM="dumb") as terminal:
        assert "\x1b" not in terminal.end().out


def test_the_end_is_told_on_a_line_of_its_own(home: Path) -> None:
    with Terminal("run", play({"text": "Forty-two."})) as terminal:
        assert "Forty-two.\r\ndone · " in terminal.end().out


def test_an_encoding_without_our_signs_is_no_obstacle(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    done = rookery("run", "--verbose", play({"text": "日"}, {"command": "true", "output": "ok\n"}))
    assert done.code == 0
    assert "\\u65e5" in done.out
    assert "ok run true" in done.out


def test_a_plan_is_asked_of_no_agent_without_a_plan_mode(home: Path) -> None:
    made = home / "made"
    step = {"write": str(made), "content": "changed"}
    done = rookery("run", *RIGGED, "--plan", play(step))
    assert (done.code, made.exists()) == (1, False)
    assert "has no plan mode" in done.err
    assert "Choose ask always, ask when risky or approve all" in done.err
    assert "plan" in rookery("ps").out
