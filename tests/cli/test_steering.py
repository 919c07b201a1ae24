"""`queue`, `set`, `prompt --steer` and `--attach`: prompts that wait or steer, an agent's options,
and files that go with a prompt."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import Result, Running, made, play, rookery
from tests.rigs import player as rig

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def player(folder: Path, script: dict[str, Any]) -> list[str]:
    """The words that make a session with an agent of ours."""
    (folder / "script.json").write_text(json.dumps(script))
    return ["--cmd", " ".join(rig.player(str(folder / "script.json"), "--state", str(folder)))]


@contextmanager
def busy(*flags: str, steps: str = play({"text": "working"}, {"ask": "Go on?"})) -> Iterator[str]:
    with Running("run", *flags, "--approve", "ask", "--title", "House", steps) as running:
        running.read_until("working")
        yield "House"


def words(done: Result) -> list[str]:
    return [line.strip() for line in (done.out + done.err).splitlines()]


# --- the queue ---------------------------------------------------------------------------------


@pytest.mark.long
def test_the_queue_is_listed_and_changed(home: Path) -> None:
    with busy() as house:
        assert rookery("queue", house).err == "Nothing is queued.\n"
        first = rookery("prompt", house, "one")
        name = json.loads(rookery("ps", "--json").out)["id"]
        assert words(first) == [
            f"An open question comes first: rookery answer {name}",
            "This is no answer to the open question. The agent reads it when this turn ends.",
        ]
        rookery("prompt", house, "two")
        rookery("prompt", house, "three")
        listed = words(rookery("queue", house))
        assert listed == ["1  one", "2  two", "3  three", "Sent when the turn ends."]
        assert rookery("queue", house, "move", "3", "1").code == 0
        assert rookery("queue", house, "edit", "2", "now", "this").code == 0
        assert rookery("queue", house, "edit", "2", "-", text="from a pipe\n").code == 0
        assert words(rookery("queue", house, "rm", "3")) == ["1  three", "2  from a pipe"]
        assert words(rookery("queue", house, "send", "2")) == ["1  from a pipe", "2  three"]
        items = [json.loads(line) for line in rookery("queue", house, "--json").out.splitlines()]
        assert [item["prompt"][0]["text"] for item in items] == ["from a pipe", "three"]
        assert not any(item["held"] for item in items)
        for verb in (["rm", "9"], ["edit", "0", "x"], ["move", "1", "0"], ["send", "3"]):
            assert rookery("queue", house, *verb).code == 2
        for verb in ("edit", "move", "remove", "send", "clear"):
            assert f"rookery queue 3f2a {verb}" in rookery("queue", house, verb, "--help").out


@pytest.mark.long
def test_a_held_queue_is_sent_by_hand(home: Path) -> None:
    steps = play({"text": "working"}, {"ask": "?", "rejected": [{"error": "No"}]})
    with busy(steps=steps) as house:
        rookery("prompt", house, play({"text": "at last"}))
        rookery("answer", house, "reject")
        with Running("tail", house) as tail:
            tail.read_until("No")
        held = rookery("queue", house)
        assert "at last" in held.out
        assert "Held" in held.err
        assert rookery("queue", house, "send").code == 0
        with Running("tail", house) as tail:
            tail.read_until("at last")
        assert rookery("queue", house, "send").code == 1


def test_a_cancel_says_what_is_held_and_how_to_send_or_clear_it(home: Path) -> None:
    with busy() as house:
        rookery("prompt", house, "one")
        rookery("prompt", house, "two")
        cancelled = words(rookery("cancel", house))
        name = json.loads(rookery("ps", "--json").out)["id"]
        assert cancelled == [
            "Cancelled.",
            "2 queued prompts are held.",
            f"rookery queue {name} send    to send them",
            f"rookery queue {name} clear   to remove them",
        ]
    head = json.loads(rookery("ps", "--json").out)
    assert (head["status"], head["condition"]) == ("idle", "held")
    assert (head["label"], head["group"]) == ("held (2 queued)", "Waiting")
    assert words(rookery("queue", house, "clear")) == ["Removed 2 prompts."]
    assert words(rookery("queue", house, "clear")) == ["Nothing is queued."]
    assert json.loads(rookery("ps", "--json").out)["condition"] in ("idle", "to-read")


# --- steering ----------------------------------------------------------------------------------


def test_a_prompt_is_steered_into_the_turn(home: Path, tmp_path: Path) -> None:
    agent = player(tmp_path, {"agent": {"steering": True}})
    steps = play({"text": "working"}, {"until": "steer", "then": [{"text": "heard $steered"}]})
    with busy(*agent, steps=steps) as house:
        taken = rookery("prompt", house, "--steer", "to the left")
        assert taken.code == 0
        assert taken.err.startswith("Sent into the running turn")
    shown = rookery("show", house).out
    assert "▎ to the left" in shown
    assert "heard to the left" in shown


@pytest.mark.long
def test_where_the_agent_takes_none_it_is_queued(home: Path) -> None:
    with busy() as house:
        rookery("prompt", house, "--steer", "later")
        assert words(rookery("queue", house))[0] == "1  later"


# --- options -----------------------------------------------------------------------------------


def choices(*values: str) -> list[dict[str, str]]:
    return [{"value": value, "name": value.title()} for value in values]


OPTIONS = [
    {
        "id": "mind",
        "name": "Mind",
        "category": "model",
        "type": "select",
        "currentValue": "small",
        "options": choices("small", "large"),
    },
    {
        "id": "tone",
        "name": "Tone",
        "type": "select",
        "currentValue": "dry",
        "options": choices("dry", "warm"),
    },
]


@pytest.mark.long
def test_options_are_shown_and_chosen(home: Path, tmp_path: Path) -> None:
    agent = player(tmp_path, {"agent": {"configOptions": OPTIONS}})
    session = rookery("new", *agent).out.strip()
    early = rookery("set", session)
    assert (early.code, early.out.splitlines()[0]) == (
        0,
        "confirm · Approvals",
    )  # every session has it
    assert "once the agent has started" in early.err
    pinned = rookery("set", session, "model", "large")
    assert pinned.err == "model large will be used at the agent's next start.\n"
    rookery("prompt", session, "--wait", "hello")
    shown = rookery("set", session)
    assert "model · Mind" in shown.out
    assert "▸ large  Large (current)" in shown.out
    assert rookery("set", session, "tone").out.startswith("tone\n")
    assert rookery("set", session, "tone", "Warm").err == "tone is now warm.\n"
    assert rookery("set", session, "model", "small").err == "model is now small.\n"
    listed = [json.loads(line) for line in rookery("set", session, "--json").out.splitlines()]
    values = {each["set"]: each["value"] for each in listed}
    assert values == {"model": "small", "tone": "warm", "confirm": "every"}
    wrong = rookery("set", session, "model", "huge")
    assert (wrong.code, "small, large" in wrong.err) == (1, True)
    assert rookery("set", session, "flavour").code == 2
    assert rookery("set", session, "model", " ").code == 2


# --- attachments -------------------------------------------------------------------------------


@pytest.mark.long
def test_files_go_with_a_prompt(home: Path, tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(PNG)
    (tmp_path / "notes.txt").write_text("a note")
    files = ["--attach", str(tmp_path / "shot.png"), "--attach", str(tmp_path / "notes.txt")]
    assert rookery("run", "--title", "House", *files, play({"text": "seen"})).out == "seen\n"
    shown = rookery("show", "House").out
    assert "▎ ▣ shot.png · image/png · 108 B" in shown
    assert "▎ ↗ notes.txt file://" in shown
    assert rookery("prompt", "House", "--wait", *files).code == 0  # without a word
    assert rookery("show", "House").out.startswith("▎ ▣ shot.png")


@pytest.mark.parametrize("name", ["missing", "empty", "folder", "large"])
def test_a_file_that_cannot_go_is_told_before_anything_is_made(
    home: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name != "missing":
        with path.open("wb") as file:
            file.truncate(0 if name == "empty" else 11 * 1024 * 1024)
    done = rookery("run", "--attach", str(path), "hello")
    assert done.code == 2
    assert name in done.err
    assert not (home / "sessions").exists()


def test_too_many_files_are_too_many(home: Path, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    session = made({"text": "Hi"})
    done = rookery("prompt", session, *["--attach", str(tmp_path / "x")] * 9, "hello")
    assert done.code == 2
    assert "the limit is 8" in done.err
    assert json.loads(rookery("ps", "--json").out)["turn"] == 1


# --- terminals ---------------------------------------------------------------------------------


def test_a_command_shows_its_output_under_its_call(home: Path, tmp_path: Path) -> None:
    done = rookery("run", "--verbose", "--cwd", str(tmp_path), play({"command": "echo hi; exit 3"}))
    assert "✗ run echo hi; exit 3" in done.out
    assert "exit 3\n  hi\n" in done.out
    assert done.out.count("hi\n") == 1
