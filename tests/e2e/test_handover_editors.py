"""A session is handed from editor to terminal to editor in mid-turn, and outlives them all."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json, statuses, texts
from tests.cli.driving import Running, rookery

STORY: list[Json] = [
    {"text": "begun in an editor"},
    {"ask": "May I?", "toolCallId": "t", "allowed": [{"text": "it was allowed"}]},
    {"tool": "Wait", "toolCallId": "w", "status": "in_progress"},
    {"until": "cancel"},
]


@pytest.fixture
async def door(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


async def loaded(agent: Agent, session: str, cwd: Path) -> list[Json]:
    """What an editor is told before the answer to session/load."""
    agent.news()
    here = {"cwd": str(cwd), "mcpServers": []}
    assert isinstance(await agent.call("session/load", sessionId=session, **here), dict)
    return agent.news(session)


async def test_editor_terminal_editor(door: Door, tmp_path: Path) -> None:
    """Begun in an editor, watched with tail, approved with answer, cancelled in another editor:
    each sees all of it, and the dialogs that are not needed any more are withdrawn."""
    first = await door.open()
    session = await first.new(str(tmp_path))
    turn = first.prompt(session, STORY)
    ask = await first.until(lambda line: line.get("method") == "session/request_permission")
    with Running("tail", session, "--json") as tail:
        tail.read_until('"state":"asked"')
        second = await door.open()
        assert texts(await loaded(second, session, tmp_path)) == ["begun in an editor"]
        again = await second.until(lambda line: line.get("method") == "session/request_permission")
        assert rookery("answer", session, "allow").code == 0
        for editor, dialog in ((first, ask), (second, again)):
            withdrawn = await editor.until(lambda line: line.get("method") == "$/cancel_request")
            assert withdrawn["params"] == {"requestId": dialog["id"]}
            editor.send(id=dialog["id"], error={"code": -32800, "message": "cancelled"})
            await editor.until(lambda line: "it was allowed" in str(line))
        tail.read_until("it was allowed")
        second.notify("session/cancel", sessionId=session)
        assert (await first.answer(turn))["result"] == {"stopReason": "cancelled"}
        tail.read_until('"reason":"cancelled"')
        tail.signal()
        tail.end()
    assert statuses(first.news(session), "w") == ["in_progress", "failed"]
    third = await door.open()
    told = await loaded(third, session, tmp_path)
    assert texts(told) == ["begun in an editor", "it was allowed"]
    assert statuses(told, "t") == ["pending", "in_progress", "completed"]


async def test_editor_is_killed_in_mid_turn(door: Door, tmp_path: Path) -> None:
    """The turn goes on; the next load shows all of it, and what still runs."""
    first = await door.open()
    session = await first.new(str(tmp_path))
    numbers = [{"text": f"{number} "} for number in range(20)]
    steps: list[Json] = [{"text": "on "}, *numbers, {"ask": "Go on?"}, {"text": "end"}]
    first.prompt(session, steps)
    await first.until(lambda line: "on " in str(line))
    first.process.kill()
    await first.process.wait()
    second = await door.open()
    told = await loaded(second, session, tmp_path)
    ask = await second.until(lambda line: line.get("method") == "session/request_permission")
    told += second.news(session)
    whole = "on " + "".join(f"{number} " for number in range(20))
    assert "".join(texts(told)) == whole
    assert [u["sessionUpdate"] for u in told].count("user_message_chunk") == 1
    allow = {"outcome": {"outcome": "selected", "optionId": "allow"}}
    second.send(id=ask["id"], result=allow)
    await second.until(lambda line: "'end'" in str(line))
    answer = await second.turn(session, [{"text": "and on"}])
    assert answer["result"]["stopReason"] == "end_turn"
    third = await door.open()
    assert "".join(texts(await loaded(third, session, tmp_path))) == whole + "endand on"


async def test_prompts_of_two_editors(door: Door, tmp_path: Path) -> None:
    """The second waits for the first one's turn; each is answered for its own, and both see what
    the other said."""
    first, second = await door.open(), await door.open()
    session = await first.new(str(tmp_path))
    await loaded(second, session, tmp_path)
    one = first.prompt(session, [{"ask": "Go on?"}, {"text": "one"}])
    dialog = await first.until(lambda line: line.get("method") == "session/request_permission")
    await second.until(lambda line: line.get("method") == "session/request_permission")
    two = second.prompt(session, [{"text": "two"}])
    await second.until(lambda line: "Queued" in str(line))
    first.send(id=dialog["id"], result={"outcome": {"outcome": "selected", "optionId": "allow"}})
    assert (await first.answer(one))["result"]["stopReason"] == "end_turn"
    assert (await second.answer(two))["result"]["stopReason"] == "end_turn"
    await first.until(lambda line: "'two'" in str(line))
    said = texts(first.news(session), "user_message_chunk")
    assert said == ['{"play": [{"text": "two"}]}']
    queued, *answers = texts(second.news(session))
    assert "Queued" in queued
    assert answers == ["one", "two"]
