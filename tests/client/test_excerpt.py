"""A session opens at its end, whatever its last turn holds, and what is loaded above fits on."""

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rookery.client.reading import Excerpt, excerpt
from rookery.core.blocks.document import Document, join
from rookery.core.json.events import Draft
from rookery.core.view.reduce import fold, reduce
from rookery.log import marks
from rookery.log.reader import Reader
from rookery.log.store import Writer

type Json = dict[str, Any]

ROOM = 20_000


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def prompt(turn: int) -> Json:
    return {"sessionUpdate": "_prompt", "prompt": [text(f"question {turn}")], "turn": turn}


def idle(turn: int) -> Json:
    return {"sessionUpdate": "_turn", "state": "idle", "turn": turn, "reason": "end_turn"}


def chunk(words: str, kind: str = "agent_message_chunk", name: str = "m") -> Json:
    return {"sessionUpdate": kind, "content": text(words), "messageId": name}


def call(name: str, **fields: object) -> Json:
    return {"sessionUpdate": "tool_call", "toolCallId": name, "title": f"Call {name}", **fields}


def update(name: str, **fields: object) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": name, **fields}


def asked(name: str, about: str = "") -> Json:
    ask: Json = {"sessionUpdate": "_ask", "id": name, "state": "asked", "kind": "permission"}
    ask["options"] = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    return ask | ({"toolCall": {"toolCallId": about, "title": "Remove it"}} if about else {})


def terminal(name: str, state: str, **fields: object) -> Json:
    return {"sessionUpdate": "_terminal", "id": name, "state": state, **fields}


def plan(done: int) -> Json:
    steps = [{"content": f"step {n}", "status": "completed"} for n in range(done)]
    return {"sessionUpdate": "plan", "entries": [*steps, {"content": "the last"}]}


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "session")


def write(directory: str, *updates: Json) -> None:
    with Writer.open(directory, create=True) as writer:
        for at in range(0, len(updates), 7):
            writer.append([Draft(each) for each in updates[at : at + 7]])


def whole(log: Reader, turn: int) -> Document:
    return fold(log.header_before(turn), log.page(turn))


def upward(log: Reader) -> tuple[Document, int]:
    """All of the last turn, joined part by part, and of how many."""
    found, count = excerpt(log, room=ROOM), 1
    document = found.document
    while found.above:
        found, count = excerpt(log, found.first - 1, ROOM), count + 1
        document = join(found.document, document)
    return document, count


# --- parts that are joined are the whole -------------------------------------------------------


def turn_of(seed: int) -> list[Json]:
    """What agents do, in any order: also what was never begun, or begun twice."""
    chance = random.Random(seed)
    found: list[Json] = []
    while len(found) < 400:
        name, other = f"c{chance.randrange(12)}", f"t{chance.randrange(6)}"
        status = chance.choice(["pending", "in_progress", "completed", "failed"])
        output = [{"type": "content", "content": text("out " * chance.randrange(300))}]
        found += chance.choice(
            [
                [chunk("word " * chance.randrange(1, 400)) for _ in range(chance.randrange(1, 30))],
                [chunk("thought ", "agent_thought_chunk", "") for _ in range(3)],
                [call(name, status=status, rawInput={"path": "a"})],
                [update(name, status=status, content=output)],
                [update(name, title="Another title")],
                [call(name, content=[{"type": "terminal", "terminalId": other}])],
                [call(f"sub{len(found)}", _meta={"vendor": {"parentToolUseId": name}})],
                [terminal(other, "started", command="make", toolCallId=name)],
                [terminal(other, "output", text="line\n" * chance.randrange(200))] * 3,
                [terminal(other, "ended", exitCode=0)],
                [asked(f"a{len(found)}", name)],
                [asked("a", name), {**asked("a"), "state": "closed", "outcome": {}}],
                [plan(chance.randrange(5))],
                [{"sessionUpdate": "usage_update", "used": len(found), "size": 9}],
                [{"sessionUpdate": "_turn", "state": "quiet"}],
                [{"sessionUpdate": "something_new", "value": "x" * 50}],
            ]
        )
    return found


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 12))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ended", [True, False])
def test_the_joined_parts_are_the_whole_turn(
    directory: str, monkeypatch: pytest.MonkeyPatch, seed: int, ended: bool
) -> None:
    """The same blocks, in the same order, as if all of the turn had been opened."""
    monkeypatch.setattr(marks, "APART", 9_000)
    write(directory, prompt(1), *turn_of(seed), *([idle(1)] if ended else []))
    with Reader.open(directory) as log:
        document, count = upward(log)
        expected = whole(log, 1)
        assert count > 3
        assert list(document.blocks.items()) == list(expected.blocks.items())
        assert document.header == expected.header
        assert document.carried == {}


def test_above_a_turns_beginning_is_the_turn_before(directory: str) -> None:
    """Upward from a turn's beginning is the end of the turn before."""
    write(directory, prompt(1), chunk("one"), idle(1), prompt(2), chunk("two"), idle(2))
    with Reader.open(directory) as log:
        last = excerpt(log)
        assert (last.above, last.first) == (False, 4)
        before = excerpt(log, last.first - 1)
        assert [block["text"] for block in before.document.blocks.values()] == ["question 1", "one"]
        assert before.first == 1


# --- what began above ---------------------------------------------------------------------------


def long_after(*updates: Json) -> list[Json]:
    """A turn in which these came first, and then more than opens at once."""
    return [prompt(1), *updates, *(chunk("word " * 200, name="long") for _ in range(60))]


def opened(directory: str, *updates: Json) -> Excerpt:
    write(directory, *updates)
    with Reader.open(directory) as log:
        return excerpt(log, room=ROOM)


def test_an_ask_from_far_above_is_shown(directory: str) -> None:
    found = opened(directory, *long_after(asked("a1", "c1")))
    [ask] = [block for block in found.document.blocks.values() if block["role"] == "ask"]
    assert found.above
    assert ask["status"] == "asked"
    assert [action["command"]["ask"] for action in ask["actions"]][:1] == ["a1"]
    assert "Remove it" in ask["title"]


def test_a_call_that_began_above_continues(directory: str) -> None:
    begun = call("c1", kind="execute", status="pending")
    turn = long_after(begun, update("c1", status="in_progress"))
    found = opened(directory, *turn, update("c1", status="completed"))
    [block] = [block for block in found.document.blocks.values() if block["role"] == "tool"]
    assert (block["title"], block["status"], block["above"]) == ("Call c1", "done", True)


def test_a_terminal_shows_its_command_and_the_end_of_its_output(directory: str) -> None:
    said = (terminal("t", "output", text=f"line {n}\n" * 100) for n in range(60))
    found = opened(directory, prompt(1), terminal("t", "started", command="make"), *said)
    [block] = [block for block in found.document.blocks.values() if block["role"] == "terminal"]
    assert "make" in block["title"]
    assert block["text"].endswith("line 59\n")
    assert len(block["text"]) < ROOM


def test_plan_and_usage_are_current(directory: str) -> None:
    usage = {"sessionUpdate": "usage_update", "used": 7, "size": 10}
    found = opened(directory, *long_after(plan(1), plan(3), usage))
    [block] = [block for block in found.document.blocks.values() if block["role"] == "plan"]
    assert block["title"] == "Plan 3/4"
    assert found.document.header.usage == {"used": 7, "size": 10}


def test_half_a_message_is_left_out_if_whole_blocks_follow(directory: str) -> None:
    turn = long_after(call("c1", status="completed"), *(chunk("b " * 100) for _ in range(40)))
    found = opened(directory, prompt(1), *(chunk("a " * 500) for _ in range(40)), *turn[1:])
    assert found.above
    assert not [block for block in found.document.blocks.values() if block["text"][:2] == "a "]


def test_an_overlong_text_is_shown_by_its_end(directory: str) -> None:
    found = opened(directory, prompt(1), chunk("a" * 5 * ROOM + "the end"), idle(1))
    [block] = [block for block in found.document.blocks.values() if block["role"] == "answer"]
    assert found.cut
    assert len(block["text"]) == ROOM
    assert block["text"].endswith("the end")


def test_following_from_the_end_misses_nothing(directory: str) -> None:
    """A message that began above what is opened goes on, and an open ask stands."""
    begun = [asked("a1"), *(chunk("x" * 2_000, name="m") for _ in range(3_000))]
    write(directory, prompt(1), *begun)
    with Reader.open(directory) as log:
        found = excerpt(log, folded=False)
        assert found.above
        for event in log.read(found.first - 1, 10**6):
            reduce(found.document, event)
        ask, message = found.document.blocks.values()
        assert (ask["role"], message["role"]) == ("ask", "answer")
        assert message["text"] == "x" * 2_000 * (found.last - found.first + 1)


# --- logs of earlier builds ---------------------------------------------------------------------


def test_a_log_without_checkpoints_is_read_backwards(directory: str) -> None:
    """What is told of the header is right, however far above it was said."""
    early: list[Json] = [asked("a1"), plan(2), {"sessionUpdate": "_session", "title": "Mine"}]
    write(directory, prompt(1), *early, *(chunk("x" * 20_000) for _ in range(400)))
    connection = sqlite3.connect(f"{directory}/log.db")
    connection.execute("DROP TABLE mark")
    connection.close()
    with Reader.open(directory) as log:
        read: list[str] = []
        log._connection.set_trace_callback(read.append)
        found = excerpt(log)
        header = log.header_before(2)
        log._connection.set_trace_callback(None)
        exact = whole(log, 1).header
    assert found.above
    assert {k: v for k, v in header.raw.items() if k[0] != "_"} == {
        k: v for k, v in exact.raw.items() if k[0] != "_"
    }
    assert found.document.header.title == "Mine"
    assert [b["status"] for b in found.document.blocks.values() if b["role"] == "ask"] == ["asked"]
    assert any("kind NOT IN" in statement for statement in read)
