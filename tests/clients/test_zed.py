"""A client that offers what Zed does sees terminals, files and forms."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acp.bridging import FILES, FORMS, SCREENS, asked, is_call
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Json, statuses
from tests.acp.whole_session import HERE

ZED: Json = {**FILES, **FORMS, **SCREENS}


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def meta(line: Json, key: str) -> Json:
    update = line.get("params", {}).get("update") or {}
    found: Json = (update.get("_meta") or {}).get(key) or {}
    return found


async def test_zed_sees_a_terminal_live_with_its_exit_code(bridge: Door, tmp_path: Path) -> None:
    """What was written before the command ends comes before it ends; a second window that loads
    the session sees the same; another exit is told as one, too."""
    agent = await bridge.open(**ZED)
    session = await agent.new(str(tmp_path))
    line = "echo first; until [ -e go ]; do sleep 0.05; done; echo second; exit 3"
    prompt = agent.prompt(session, [{"command": line}, {"text": "over"}])
    opened = await agent.until(lambda line: bool(meta(line, "terminal_info")))
    name = meta(opened, "terminal_info")["terminal_id"]
    assert opened["params"]["update"]["sessionUpdate"] == "tool_call"
    assert {"type": "terminal", "terminalId": name} in opened["params"]["update"]["content"]
    wrote = await agent.until(lambda line: "first" in str(meta(line, "terminal_output")))
    assert meta(wrote, "terminal_output")["terminal_id"] == name
    (tmp_path / "go").touch()
    left = await agent.until(lambda line: bool(meta(line, "terminal_exit")))
    assert meta(left, "terminal_exit") == {"terminal_id": name, "exit_code": 3, "signal": None}
    assert (await agent.answer(prompt))["result"]["stopReason"] == "end_turn"
    live = [meta(each, "terminal_output").get("data", "") for each in agent.lines]
    assert "".join(live).split() == ["first", "second"]
    assert statuses(agent.news(session))[-1] == "failed"
    before = len(agent.lines)
    await agent.call("session/load", sessionId=session, **{**HERE, "cwd": str(tmp_path)})
    again = agent.lines[before:]
    assert "".join(meta(each, "terminal_output").get("data", "") for each in again).split() == [
        "first",
        "second",
    ]
    ends = [meta(each, "terminal_exit") for each in again if meta(each, "terminal_exit")]
    assert [each["exit_code"] for each in ends] == [3]


async def test_zed_sees_a_command_end_with_its_turn(bridge: Door, tmp_path: Path) -> None:
    """A cancelled command is told as ended by a signal, before its prompt is answered."""
    agent = await bridge.open(**ZED)
    session = await agent.new(str(tmp_path))
    prompt = agent.prompt(session, [{"command": "echo begun; exec sleep 1000"}])
    await agent.until(lambda line: "begun" in str(meta(line, "terminal_output")))
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(prompt))["result"]["stopReason"] == "cancelled"
    ends = [meta(line, "terminal_exit") for line in agent.lines if meta(line, "terminal_exit")]
    assert [(each["exit_code"], bool(each["signal"])) for each in ends] == [(None, True)]


async def test_zed_has_unsaved_files_and_forms(bridge: Door, tmp_path: Path) -> None:
    """A buffer is read as it is in the editor, an edit is shown in the dialog and written through
    it, and a question is a form."""
    agent = await bridge.open(**ZED)
    session = await agent.new(str(tmp_path))
    agent.answers["fs/read_text_file"] = lambda _: {"content": "unsaved"}
    agent.answers["fs/write_text_file"] = lambda _: {}
    agent.answers["elicitation/create"] = lambda _: {"action": "accept", "content": {"it": "blue"}}
    schema = {"type": "object", "properties": {"it": {"type": "string"}}, "required": ["it"]}
    steps = [
        {"read": "a.py", "content": "saved"},
        {"text": "$content"},
        {"diff": "a.py", "old": "unsaved", "new": "better", "ask": True, "really": True},
        {"question": "Which colour?", "schema": schema},
        {"text": "$answer"},
    ]
    prompt = agent.prompt(session, steps)
    request = await asked(agent)
    [change] = [part for part in request["params"]["toolCall"]["content"] if part["type"] == "diff"]
    assert (change["path"], change["oldText"]) == (str(tmp_path / "a.py"), "unsaved")
    option = request["params"]["options"][0]
    assert (option["name"], option["kind"]) == ("Allow", "allow_once")
    chosen = {"outcome": "selected", "optionId": option["optionId"]}
    agent.send(id=request["id"], result={"outcome": chosen})
    form = await agent.until(is_call("elicitation/create"))
    assert form["params"]["message"] == "Which colour?"
    assert (await agent.answer(prompt))["result"]["stopReason"] == "end_turn"
    said = str(agent.news(session))
    assert "unsaved" in said
    assert "blue" in said
    writes = [line["params"] for line in agent.lines if is_call("fs/write_text_file")(line)]
    assert [(each["path"], each["content"]) for each in writes] == [
        (str(tmp_path / "a.py"), "better")
    ]
