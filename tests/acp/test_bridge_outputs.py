"""What an editor gets of output that an agent tells in `_meta`, results of MCP tools, changes that
only an ask had, and asks that carry nothing but an id."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rookery.acp.bridge.offered import Offered
from rookery.acp.bridge.updates.events import Sharing
from tests.acp.bridging import ALLOW, SCREENS, asked
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Json
from tests.acp.whole_session import HERE
from tests.core import making, recordings
from tests.core.tools.test_call_output import (
    CODEX,
    DIALECTS,
    DIFF,
    MCP,
    WROTE,
    command,
    left,
    piece,
)


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


def shared(*updates: Json, client: Json | None = None) -> list[Json]:
    """What an editor hears of the calls of a session."""
    sharing = Sharing(client or {}, Offered(client or {}, []), lambda _: None)
    events = making.log(making.prompt(), making.running(), *updates)
    told = [each for event in events for each in sharing.take(event, live=True, echo=True)]
    return [each for each in told if each["sessionUpdate"].startswith("tool_call")]


def words(told: list[Json]) -> Any:
    """The text of the last content."""
    content = [each["content"] for each in told if "content" in each][-1]
    return [item["content"]["text"] for item in content if item["type"] == "content"]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_an_editor_with_terminals_gets_the_agents_own_terminals(dialect: list[Json]) -> None:
    told = shared(*dialect, client=SCREENS)
    opens = [each for each in told if "terminal_info" in each.get("_meta", {})]
    assert opens[0]["sessionUpdate"] == "tool_call"
    name = opens[0]["_meta"]["terminal_info"]["terminal_id"]
    assert {"type": "terminal", "terminalId": name} in opens[0]["content"]
    metas = [each["_meta"] for each in told if "_meta" in each]
    output = [meta["terminal_output"] for meta in metas if "terminal_output" in meta]
    assert "".join(each["data"] for each in output) == "one\ntwo\n"
    [ended] = [meta["terminal_exit"] for meta in metas if "terminal_exit" in meta]
    assert ended == {"terminal_id": name, "exit_code": 0, "signal": None}
    assert {each["terminal_id"] for each in output} == {name}
    assert "terminal_output_delta" not in str(told)


def test_an_editor_that_takes_deltas_gets_deltas() -> None:
    told = shared(*CODEX, client={"_meta": {"terminal_output_delta": True}})
    assert "terminal_output_delta" in str(told)
    assert "'terminal_output'" not in str(told)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_an_editor_without_terminals_gets_the_output_as_text(dialect: list[Json]) -> None:
    """Before the call is over, and no id of a terminal with it."""
    told = shared(*dialect)
    assert words(told) == ["one\ntwo\n"]
    assert "terminal" not in str(told)
    assert told[-1]["status"] == "completed"


def test_a_command_without_output_leaves_no_empty_terminal() -> None:
    told = shared(CODEX[0], making.news("c", status="failed", _meta=left(None)))
    assert "not there any more" not in str(told)
    assert [each.get("content") for each in told] == [[], None]
    failed = making.news("c", status="failed", _meta=piece("no") | left(2))
    assert words(shared(command(), failed)) == ["no\n(exit code 2)"]


def test_every_command_of_the_recording_reaches_the_editor() -> None:
    name = "codex-acp.jsonl"
    [session] = recordings.sessions(name)
    updates = recordings.play(name, session).updates
    for client, found in (
        (SCREENS, "'data': 'hi-from-bash\\n'"),
        ({}, "'text': 'hi-from-bash\\n'"),
    ):
        told = str(shared(*updates, client=client))
        assert found in told
        assert "not there any more" not in told


def test_an_mcp_result_reaches_the_editor_as_content() -> None:
    raw = {"result": {"content": [{"type": "text", "text": "2 found"}]}, "error": None}
    told = shared(MCP, making.news("m", status="completed", rawOutput=raw))
    assert words(told) == ["2 found"]


def test_a_diff_from_the_ask_alone_stays_in_the_editor() -> None:
    edit = {"toolCallId": "g", "title": "WriteFile", "kind": "edit", "content": [DIFF]}
    question = making.asked(toolCall=edit, options=[])
    told = shared(question, making.news("g", status="completed", content=WROTE))
    assert [item["type"] for item in told[-1]["content"]] == ["diff", "content"]


async def test_a_whole_codex_turn_in_an_editor(bridge: Door, tmp_path: Path) -> None:
    """Through worker and bridge: an ask that carries only an id says what will run; then the
    output, live and when the session is loaded again."""
    agent = await bridge.open(**SCREENS)
    session = await agent.new(str(tmp_path))
    steps = [{"update": CODEX[0]}, {"ask": "", "toolCall": {"toolCallId": "c"}, "announce": False}]
    steps += [{"update": each} for each in CODEX[1:]]
    prompt = agent.prompt(session, steps)
    request = await asked(agent)
    call = request["params"]["toolCall"]
    assert (call["title"], call["kind"], call["rawInput"]["command"]) == ("make", "execute", "make")
    agent.send(id=request["id"], result=ALLOW)
    assert (await agent.answer(prompt))["result"]["stopReason"] == "end_turn"
    live = [each.get("_meta") for each in agent.news(session) if each.get("_meta")]
    assert "one\\n" in str(live)
    assert live[-1]["terminal_exit"]["exit_code"] == 0
    await agent.call("session/load", sessionId=session, **{**HERE, "cwd": str(tmp_path)})
    again = [each.get("_meta") for each in agent.news(session) if each.get("_meta")]
    assert again == live
