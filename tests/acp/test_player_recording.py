"""Recorded sessions played again: events as lines, a session's log, raw traffic."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rookery.acp.player.entry import main, script_at
from rookery.acp.player.script import ScriptError
from rookery.core.json.events import Draft
from rookery.log.store import Writer
from tests.acp.conftest import Start
from tests.acp.driving import Json, texts
from tests.rigs.rigged import RiggedAgent

TOOL = {"sessionUpdate": "tool_call", "toolCallId": "t9", "title": "T", "status": "pending"}
OPTIONS = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]


def said(text: str) -> Json:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def prompt(text: str, turn: int) -> Json:
    blocks = [{"type": "text", "text": text}]
    return {"sessionUpdate": "_prompt", "prompt": blocks, "turn": turn}


UPDATES: list[Json] = [
    {"sessionUpdate": "_session", "cwd": "/tmp"},
    {"sessionUpdate": "_agent", "state": "ready", "info": {"name": "bird", "version": "9"}},
    {"sessionUpdate": "available_commands_update", "availableCommands": []},
    prompt("one", 1),
    {"sessionUpdate": "_turn", "state": "running", "turn": 1},
    said("hello"),
    TOOL,
    {
        "sessionUpdate": "_ask",
        "id": "a1",
        "state": "asked",
        "kind": "permission",
        "nonce": "n",
        "toolCall": {"toolCallId": "t9"},
        "options": OPTIONS,
    },
    {"sessionUpdate": "_ask", "id": "a1", "state": "closed", "outcome": {"outcome": "cancelled"}},
    {"sessionUpdate": "tool_call_update", "toolCallId": "t9", "status": "completed"},
    {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "max_tokens"},
    said("late"),
    prompt("two", 2),
    {
        "sessionUpdate": "_turn",
        "state": "idle",
        "turn": 2,
        "reason": "failed",
        "error": {"code": -32000, "message": "no", "data": {"x": 1}},
    },
]


async def replay(start: Start, file: str) -> None:
    agent = await start(file)
    agent.answers["session/request_permission"] = lambda params: {
        "outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}
    }
    session = await agent.begin()
    end = await agent.turn(session, "anything")
    assert end["result"] == {"stopReason": "max_tokens"}
    asked = [line for line in agent.lines if line.get("method") == "session/request_permission"]
    assert asked[0]["params"]["options"] == OPTIONS
    assert asked[0]["params"]["toolCall"] == {"toolCallId": "t9"}
    news = [u for u in agent.news() if u["sessionUpdate"] != "available_commands_update"]
    assert news == [UPDATES[5], TOOL, UPDATES[9]]
    await agent.until(lambda line: "late" in str(line))
    assert (await agent.turn(session, "two"))["error"]["data"] == {"x": 1}
    await agent.turn(session, "three")
    assert texts(agent.news())[-1] == "(The recording ends here.)"


async def test_events_as_lines(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    events = [
        {"seq": n, "at": n * 10, "cause": None, "by": None, "update": update}
        for n, update in enumerate(UPDATES, start=1)
    ]
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    await replay(start, str(file))


async def test_a_log(start: Start, tmp_path: Path) -> None:
    directory = tmp_path / "session"
    directory.mkdir()
    writer = Writer.open(str(directory), create=True)
    writer.append([Draft(update) for update in UPDATES])
    writer.close()
    await replay(start, os.path.join(directory, "log.db"))


async def test_raw_traffic(start: Start, tmp_path: Path) -> None:
    ask = {"sessionId": "s", "toolCall": {"toolCallId": "t9"}, "options": OPTIONS}
    error = {"code": -32000, "message": "no", "data": {"x": 1}}
    lines: list[tuple[str, Json]] = [
        ("send", {"id": 0, "method": "initialize", "params": {}}),
        ("recv", {"id": 0, "result": {"agentInfo": {"name": "bird", "version": "9"}}}),
        ("send", {"id": 1, "method": "session/prompt", "params": {}}),
        ("recv", {"method": "session/update", "params": {"update": UPDATES[5]}}),
        ("recv", {"method": "session/update", "params": {"update": TOOL}}),
        ("recv", {"id": 0, "method": "session/request_permission", "params": ask}),
        ("send", {"id": 0, "result": {}}),
        ("recv", {"method": "session/update", "params": {"update": UPDATES[9]}}),
        ("recv", {"id": 1, "result": {"stopReason": "max_tokens"}}),
        ("recv", {"method": "session/update", "params": {"update": said("late")}}),
        ("send", {"id": 2, "method": "session/prompt", "params": {}}),
        ("recv", {"id": 2, "error": error}),
    ]
    file = tmp_path / "traffic.jsonl"
    meta = [json.dumps({"t": 0, "dir": "meta", "pid": 1}), json.dumps({"t": 0, "dir": "stderr"})]
    rows = [json.dumps({"t": n / 100, "dir": d, "msg": m}) for n, (d, m) in enumerate(lines)]
    file.write_text("\n".join(meta + rows) + "\n")
    await replay(start, str(file))


ASK: Json = {"toolCall": {"toolCallId": "t9"}, "options": OPTIONS}
ANNOUNCED = {"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Helper"}


def traffic_of_a_child() -> list[Json]:
    told = ((said("mine"), "s"), (ANNOUNCED, "s"), (TOOL, "child"), (said("its"), "child"))
    lines: list[tuple[str, Json]] = [
        ("send", {"id": 1, "method": "session/prompt", "params": {"sessionId": "s"}}),
        *(
            ("recv", {"method": "session/update", "params": {"update": each, "sessionId": who}})
            for each, who in told
        ),
        (
            "recv",
            {
                "id": 0,
                "method": "session/request_permission",
                "params": {**ASK, "sessionId": "child"},
            },
        ),
        ("recv", {"id": 1, "result": {"stopReason": "end_turn"}}),
    ]
    return [{"t": n / 100, "dir": way, "msg": message} for n, (way, message) in enumerate(lines)]


def events_of_a_child() -> list[Json]:
    below = [
        {"sessionUpdate": "_child", "session": "child", "update": u} for u in (TOOL, said("its"))
    ]
    ask = {"sessionUpdate": "_ask", "id": "a", "state": "asked", "kind": "permission", **ASK}
    end = {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "end_turn"}
    told = [prompt("one", 1), said("mine"), ANNOUNCED, *below, {**ask, "session": "child"}, end]
    return [{"seq": n, "at": n * 10, "update": update} for n, update in enumerate(told, start=1)]


@pytest.mark.parametrize("recorded", [traffic_of_a_child, events_of_a_child])
async def test_a_sub_agent_speaks_in_its_own_session(
    start: Start, tmp_path: Path, recorded: Callable[[], list[Json]]
) -> None:
    file = tmp_path / "recorded.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in recorded()))
    agent = await start(str(file))
    agent.answers["session/request_permission"] = lambda _: {"outcome": {"outcome": "cancelled"}}
    session = await agent.begin()
    await agent.turn(session, "anything")
    heard = [
        (line["params"]["sessionId"], line["params"].get("update", {}).get("sessionUpdate", "ask"))
        for line in agent.lines
        if line.get("method") in ("session/update", "session/request_permission")
    ]
    assert [each for each in heard if each[1] != "available_commands_update"] == [
        (session, "agent_message_chunk"),
        (session, "subagent_update"),
        ("child", "tool_call"),
        ("child", "agent_message_chunk"),
        ("child", "ask"),
    ]


def test_gaps_are_short_unless_a_speed_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    updates = [prompt("one", 1), said("a"), said("b")]
    rows = [{"seq": n, "at": n * 4000, "update": update} for n, update in enumerate(updates)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def waits(speed: float | None) -> list[Any]:
        steps = script_at(str(file), speed).turns[0]
        return [step["wait"] for step in steps if "wait" in step]

    assert waits(None) == [0.2, 0.2]
    assert waits(2) == [2, 2]


WRONG = [
    "{",
    "[]",
    '{"turns": 4}',
    '{"turns": [[{"alien": 1}]]}',
    '{"turns": [[{"ask": "x", "allowed": [{"nope": 1}]}]]}',
    '{"otherwise": [{}]}',
    '{"match": [{"steps": []}]}',
    '{"match": [4]}',
    '{"extra": 1}',
]


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_script_is_told_at_the_start(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "script.json"
    file.write_text(text)
    with pytest.raises(ScriptError):
        script_at(str(file), None)
    assert main([str(file)]) == 2
    assert capsys.readouterr().err.startswith("rookery: ")


@pytest.mark.parametrize("name", ["nowhere.json", "nowhere.jsonl", "log.db", "empty.jsonl"])
def test_a_missing_file_is_told(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    assert main([str(tmp_path / name)]) == 2


SCRIPTS = sorted((Path(__file__).parents[2] / "fixtures" / "scripts").glob("*.json"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_scripts_of_this_repository_are_scripts(path: Path) -> None:
    assert script_at(str(path), None, RiggedAgent)
