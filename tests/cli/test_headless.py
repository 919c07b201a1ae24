"""`rookery --headless`: stdout is the answer, the exit code the truth, and nobody is asked."""

import json
from pathlib import Path

import pytest

from rookery.client.fleet import heads
from tests.cli.driving import made, play, rookery

DEMO = ("--agent", "demo")


def test_stdout_has_only_the_answer(home: Path) -> None:
    done = rookery("--headless", *DEMO, "-t", play({"text": "the answer"}))
    assert done.code == 0
    assert done.out.strip() == "the answer"
    assert "Approve all" in done.err
    (head,) = heads(str(home))
    assert head["title"]


def test_the_task_may_come_from_a_file(home: Path) -> None:
    task = home / "task.txt"
    task.write_text(play({"text": "from a file"}))
    assert rookery("--headless", *DEMO, "-f", str(task)).out.strip() == "from a file"


def test_the_task_may_come_from_a_pipe(home: Path) -> None:
    assert rookery("--headless", *DEMO, text=play({"text": "piped"})).out.strip() == "piped"


def test_json_prints_one_event_per_line(home: Path) -> None:
    done = rookery("--headless", "--json", *DEMO, "-t", play({"text": "hi"}))
    events = [json.loads(line) for line in done.out.splitlines()]
    assert {"_prompt", "_turn"} <= {event["update"]["sessionUpdate"] for event in events}
    assert heads(str(home))


EDIT = {"ask": "Edit a.py", "kind": "edit", "allowed": [{"text": "allowed"}]}
WIPE = {"ask": "Wipe", "kind": "execute", "rawInput": {"command": "rm -rf /data"}}


@pytest.mark.parametrize(
    ("steps", "flags", "code"),
    [
        ([EDIT], (), 0),
        ([EDIT], ("--yolo",), 0),
        ([{"ask": "Look", "kind": "read"}], ("--llm-approve",), 0),
        ([WIPE], (), 3),
        ([WIPE], ("--llm-approve",), 3),
        ([{"stop": "refusal"}], (), 1),
        ([{"error": "The model is on fire"}], (), 1),
        ([{"crash": 3}], (), 1),
        ([{"rate_limit": "2099-01-01T00:00:00Z"}], (), 4),
        ([{"rate_limit": "2099-01-01T00:00:00Z"}], ("--json", "--yolo"), 4),
        ([{"stop": "cancelled"}], (), 130),
    ],
)
def test_the_exit_code_is_true_and_an_ask_hangs_nothing(
    home: Path, steps: list[dict[str, object]], flags: tuple[str, ...], code: int
) -> None:
    done = rookery("--headless", *DEMO, *flags, "-t", play(*steps))
    assert done.code == code, done.err
    assert heads(str(home))


def test_a_session_can_be_continued_headless(home: Path) -> None:
    session = made({"text": "first"}, title="kept")
    done = rookery("--headless", "--resume", session, "-t", play({"text": "second"}))
    assert (done.code, done.out.strip()) == (0, "second")
    assert rookery("--headless", "--last", "-t", play({"text": "third"})).out.strip() == "third"
    for step, code in ((WIPE, 3), ({"rate_limit": "2099-01-01T00:00:00Z"}, 4)):
        assert rookery("--headless", "--resume", session, "-t", play(step)).code == code
    assert len(heads(str(home))) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--headless",), "needs a task"),
        (("--headless", "-t", "  "), "needs a task"),
        (("--headless", "-t", "a", "-f", "/dev/null"), "cannot be combined"),
        (("--headless", "--resume", "-t", "a"), "needs a session"),
        (("--json", "-t", "a"), "--json needs --headless"),
        (("--headless", "-t", "a", "--yolo", "--llm-approve"), "cannot be combined"),
        (("--headless", "-f", "/nowhere/at/all"), "No such file"),
        (("--headless", "--agent", "nobody", "-t", "a"), "nobody"),
        (("--yolo",), "needs a terminal"),
    ],
)
def test_a_usage_error_is_a_sentence_and_code_2(
    home: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = rookery(*arguments)
    assert done.code == 2, done.err
    assert words in done.err
    assert done.out == ""
    assert heads(str(home)) == []
