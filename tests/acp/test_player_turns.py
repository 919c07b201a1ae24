"""What of a script a prompt plays, and what a step does that is no matter of the protocol."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.acp.conftest import Start
from tests.acp.driving import Agent, Json, texts
from tests.acp.whole_session import ALLOW
from tests.cli.driving import rookery


async def test_turns_in_order_then_otherwise(start: Start) -> None:
    """One message id per message."""
    agent = await start(
        {
            "turns": [[{"text": "one two three", "chunks": 3}], [{"thought": "t"}, {"text": "2"}]],
            "match": [{"regex": "^no+$", "steps": [{"stop": "refusal"}]}],
            "otherwise": [{"text": "$turn: $prompt in $cwd"}],
        }
    )
    session = await agent.begin()
    assert (await agent.turn(session, "a"))["result"] == {"stopReason": "end_turn"}
    first = agent.news()
    assert texts(first) == ["one ", "two ", "three"]
    assert len({update["messageId"] for update in first}) == 1
    await agent.turn(session, "b")
    second = agent.news()
    assert texts(second, "agent_thought_chunk") == ["t"]
    assert len({update["messageId"] for update in first + second}) == 3
    assert (await agent.turn(session, "nooo"))["result"] == {"stopReason": "refusal"}
    await agent.turn(session, "hi")
    assert texts(agent.news()) == ["4: hi in /tmp"]


async def test_what_is_not_offered_is_played(start: Start) -> None:
    """Nothing is called then: test_only_client_methods_on_offer_are_called."""
    agent = await start()
    session = await agent.begin()
    await agent.turn(session, [{"question": "What?"}, {"command": "ls", "output": "o", "exit": 1}])
    news = agent.news()
    assert texts(news) == ["(I would ask: What?)"]
    assert (news[-1]["rawOutput"], news[-1]["status"]) == ({"exitCode": 1, "output": "o"}, "failed")


async def test_questions(start: Start) -> None:
    agent = await start()
    session = await agent.begin(elicitation={"form": {}})
    answer = {"action": "accept", "content": {"answer": "blue"}}
    agent.answers["elicitation/create"] = lambda _params: answer
    ask = {"question": "Colour?", "accepted": [{"text": "$answer"}], "declined": [{"text": "no"}]}
    await agent.turn(session, [ask])
    assert texts(agent.news()) == ['{"answer":"blue"}']
    answer = {"action": "decline"}
    await agent.turn(session, [ask])
    assert texts(agent.news()) == ["no"]


async def test_errors_end_the_turn_only(start: Start) -> None:
    """Plain errors fail the turn; a rate limit is known as one."""
    agent = await start()
    session = await agent.begin()
    error = (await agent.turn(session, [{"error": {"code": 1001, "message": "odd"}}]))["error"]
    assert error == {"code": 1001, "message": "odd"}
    limit = {"rate_limit": "2030-01-01T00:00:00Z"}
    data = (await agent.turn(session, [limit]))["error"]["data"]
    assert data == {"errorKind": "rate_limit", "resetsAt": "2030-01-01T00:00:00Z"}
    for wrong in ([{"alien": 1}], [{"wait": "x"}], [{"tool": 1, "locations": [{}]}], [4]):
        assert "error" in await agent.turn(session, wrong)
    assert "error" in await agent.turn(session, '{"play": nonsense')
    assert "result" in await agent.turn(session, "hi")


async def tour(agent: Agent, answer: Any) -> tuple[list[Json], Json]:
    agent.answers["session/request_permission"] = lambda _params: answer
    session = await agent.begin()
    async with asyncio.timeout(120):
        end = await agent.turn(session, "hello")
    return agent.news(), end


async def test_demo(start: Start) -> None:
    """The tour plays to its end, goes on after a no, and is played once."""
    agent = await start("demo")
    (yes, end), (no, _) = await tour(agent, ALLOW), await tour(agent, {"outcome": "?"})
    assert end["result"] == {"stopReason": "end_turn"}
    for news in (yes, no):
        kinds = {update["sessionUpdate"] for update in news}
        assert kinds >= {"agent_thought_chunk", "plan", "tool_call", "usage_update"}
        assert [e["status"] for u in news if "entries" in u for e in u["entries"]][-3:] == [
            "completed"
        ] * 3
        said = "".join(texts(news))
        assert all(word in said for word in ("rookery ps", "rookery tail", "rookery show"))
    assert "Thank you" in "".join(texts(yes))
    assert "rejected" in "".join(texts(no))
    session = agent.lines[-1]["id"]
    sessions = (await agent.call("session/list"))["sessions"]
    assert {entry["title"] for entry in sessions} == {"A tour of Rookery"}, session
    await agent.turn(sessions[0]["sessionId"], "again")
    assert "only the demo agent" in "".join(texts(agent.news()))


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ({"modes": ["a"]}, 'agent: modes[0] is not an object with "id"'),
        ({"modes": {"availableModes": 1}}, "agent: modes.availableModes is not a list"),
        ({"commands": [{"title": "x"}]}, 'agent: commands[0] is not an object with "name"'),
        ({"configOptions": [{"id": "x"}]}, 'agent: configOptions[0] needs "currentValue"'),
    ],
)
def test_what_an_agent_cannot_offer_is_an_error(
    agent: dict[str, Any], words: str, tmp_path: Path
) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"agent": agent}))
    done = rookery("play", str(file))
    assert done.code == 2
    assert words in done.err


@pytest.mark.parametrize(("where", "key"), [("start", "silence"), ("agent", "pageSize")])
def test_a_setting_that_play_does_not_have_is_an_error(
    where: str, key: str, tmp_path: Path
) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps({where: {key: 1}}))
    done = rookery("play", str(file))
    assert done.code == 2
    assert f"{where}: unknown keys: {key}" in done.err
