"""In a pipe stdout is the answer alone; a terminal shows the transcript."""

import io
import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rookery.cli.output.answer import Answer
from rookery.cli.output.screen import Screen
from rookery.core.blocks.document import Document
from rookery.core.json.events import Event
from rookery.core.view.reduce import reduce
from tests.cli.driving import ROOKERY, Running, Terminal, made, play, rookery

BUSY: list[dict[str, Any]] = [
    {"thought": "Let me see."},
    {"plan": ["Look", "Act"], "done": 1},
    {"text": "First words."},
    {"command": "echo noise", "output": "noise\n"},
    {"ask": "Tidy up", "kind": "edit", "allowed": [{"text": "Then these.\n"}]},
    {"update": {"sessionUpdate": "notice", "title": "Heads up", "severity": "warning"}},
    {"update": {"sessionUpdate": "a_kind_of_tomorrow", "value": 7}},
    {"text": "And the last."},
]
WORDS = "First words.\n\nThen these.\n\nAnd the last.\n"
ASIDES = ("Thought", "✓ Look", "run echo noise", "Tidy up", "Heads up", "tomorrow")


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("--headless", "--agent", "demo", "-t"),
        ("prompt", "OLD", "--wait", "--approve", "all"),
    ],
    ids=["run", "headless", "prompt"],
)
def test_stdout_has_only_the_answer(home: Path, words: tuple[str, ...]) -> None:
    if "OLD" in words:
        made({"text": "before"}, title="OLD")
    done = rookery(*words, play(*BUSY))
    assert (done.code, done.out) == (0, WORDS)
    for aside in ASIDES:
        assert aside in done.err, aside
    assert "\n  noise" not in done.err  # a line each, not the output


def test_errors_and_rejections_are_on_stderr(home: Path) -> None:
    failed = rookery("run", play({"text": "So far."}, {"error": "The model is on fire"}))
    assert (failed.code, failed.out) == (1, "So far.\n")
    assert "The model is on fire" in failed.err
    wipe = {"ask": "Wipe", "kind": "execute", "rawInput": {"command": "rm -rf /data"}}
    refused = rookery("run", play({**wipe, "rejected": [{"text": "kept"}]}))
    assert (refused.code, refused.out) == (3, "kept\n")
    assert "Rejected" in refused.err


@pytest.mark.long
def test_verbose_prints_the_transcript_and_json_the_events(home: Path) -> None:
    said = rookery("run", "--verbose", play(*BUSY))
    for words in (*ASIDES, *WORDS.split("\n\n"), "  noise"):
        assert words.strip("\n") in said.out, words
    resumed = rookery("--headless", "--last", "--verbose", "-t", play(*BUSY))
    assert "run echo noise" in resumed.out
    events = rookery("run", "--json", play(*BUSY)).events
    assert events[-1]["update"]["reason"] == "end_turn"
    for way in (("run", "x"), ("--headless", "-t", "x"), ("prompt", "--last", "x")):
        both = rookery(*way[:-1], "--json", "--verbose", way[-1])
        assert both.code == 2


def test_a_terminal_shows_the_transcript(home: Path) -> None:
    with Terminal("run", play(*BUSY)) as terminal:
        seen = terminal.end().out
    for words in ("Thought", "run echo noise", "First words.", "And the last."):
        assert words in seen, words


def test_a_silent_turn_prints_nothing_on_stdout(home: Path) -> None:
    done = rookery("run", play({"command": "true", "output": ""}, {"text": "\n\n"}))
    assert (done.code, done.out) == (0, "")
    assert "said nothing" in done.err


def test_a_sub_agents_words_are_not_part_of_the_answer(home: Path) -> None:
    def chunk(text: str, **more: Any) -> dict[str, Any]:
        content = {"type": "text", "text": text}
        return {"update": {"sessionUpdate": "agent_message_chunk", "content": content, **more}}

    below = {"_meta": {"claudeCode": {"parentToolUseId": "task-1"}}}
    done = rookery(
        "run",
        play(
            {"tool": "Delegate", "toolCallId": "task-1", "kind": "other"},
            chunk("Mine, "),
            chunk("below", **below),
            chunk("still mine."),
            {"tool": "Delegate", "toolCallId": "task-1", "status": "completed"},
            chunk("below again", **below),
        ),
    )
    assert done.out == "Mine, still mine.\n"


def test_the_answer_streams(home: Path) -> None:
    with Running("run", play({"text": "one\ntwo"}, {"until": "cancel"})) as running:
        assert running.read_until("two") == "one\ntwo"
        session = json.loads(rookery("ps", "--json").out)["id"]
        rookery("cancel", session)
        done = running.end()
    assert (done.code, done.out) == (130, "\n")
    assert "Cancelled" in done.err


def test_a_closed_pipe_does_not_stop_the_session(home: Path) -> None:
    """SIGPIPE: no word, the code of any program that it ends, and the turn comes to its end."""
    steps = play({"text": "one\n"}, {"ask": "Go on"}, {"text": "two\n"}, {"until": "cancel"})
    line = [*ROOKERY, "run", "--approve", "ask", "--title", "Pipe", steps]
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stderr is not None
    while b"rookery answer" not in running.stderr.readline():
        pass
    assert running.stdout.read(4) == b"one\n"
    running.stdout.close()
    assert rookery("answer", "Pipe", "allow").code == 0
    assert running.wait(60) == 128 + signal.SIGPIPE
    said = running.stderr.read().decode()
    running.stderr.close()
    assert "rookery:" not in said
    assert "Traceback" not in said
    assert json.loads(rookery("ps", "--json").out)["status"] == "running"
    rookery("cancel", "Pipe")
    assert "two" in rookery("show", "Pipe").out


@pytest.mark.parametrize(("place", "code"), [("2>/dev/null", 0), ("2>&-", 0), (">/dev/full", 1)])
def test_a_closed_or_full_output_stream_does_not_stop_the_session(
    home: Path, place: str, code: int
) -> None:
    line = " ".join(ROOKERY) + f" run --title Out '{play(*BUSY)}' {place}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False, timeout=60)
    assert done.returncode == code
    assert done.stdout.decode() == ("" if code else WORDS)
    if code:
        assert done.stderr.endswith(b"rookery: stdout: No space left on device.\n")
    rookery("stop", "Out")
    assert "And the last." in rookery("show", "Out").out


def answer_of(*updates: dict[str, Any]) -> str:
    out, document = io.StringIO(), Document()
    answer = Answer(Screen(out, io.StringIO(), live=False))
    for seq, update in enumerate(updates, 1):
        event = Event(seq, seq, None, None, update)
        answer.hear(event, reduce(document, event))
    answer.close()
    return out.getvalue()


def said(text: str, message: str = "") -> dict[str, Any]:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return update | ({"messageId": message} if message else {})


def test_messages_are_separated_and_end_with_one_newline() -> None:
    assert answer_of(said("\n\na"), said("b\n"), said("\n\n")) == "ab\n"
    assert answer_of(said("a\n", "1"), said("b\n\n", "2"), said("c", "2")) == "a\n\nb\n\nc\n"
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "t"}}
    assert answer_of(said("a"), thought, said("b")) == "a\n\nb\n"
    quiet = {"sessionUpdate": "_turn", "state": "quiet", "turn": 1}
    assert answer_of(said("in the mid"), quiet, said("dle")) == "in the middle\n"
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    picture = {"sessionUpdate": "agent_message_chunk", "content": image}
    assert answer_of(said("a"), picture, said("b")) == "a\n\nb\n"
    assert answer_of(said("x\x1b[2Jy\x07")) == "x␛[2Jy␇\n"
    assert answer_of({"sessionUpdate": "agent_message_chunk", "content": 7}) == ""


def test_make_run_without_a_terminal_still_prints_the_transcript(home: Path) -> None:
    script = Path(__file__).parents[2] / "scripts" / "run"
    done = subprocess.run([script], capture_output=True, check=True, timeout=120)
    assert "✓ Look around" in done.stdout.decode()
    assert "✓ edit greeting.py" in done.stdout.decode()
