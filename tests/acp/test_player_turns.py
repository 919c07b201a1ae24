"""The player's turns and their cancellation, as a client sees them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.acp.conftest import Start
from tests.acp.driving import Agent, Json, texts

FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}
ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow"}}
ASK = [{"ask": "May I?", "allowed": [{"text": "yes"}], "rejected": [{"text": "no"}]}]


def statuses(updates: list[Json], tool: str) -> list[str]:
    return [u["status"] for u in updates if u.get("toolCallId") == tool and "status" in u]


async def test_turns_in_order_then_otherwise(start: Start) -> None:
    """acp-P1, P4, P17: one message id per message."""
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


async def test_what_is_told(start: Start) -> None:
    """acp-P6, P8, P14, P18: ids unique in the session, absolute paths, complete plans."""
    agent = await start()
    session = await agent.begin(cwd="/tmp/x")
    steps: list[Json] = [
        {
            "tool": "Look",
            "toolCallId": "t",
            "kind": "search",
            "locations": [{"path": "a", "line": 1}],
        },
        {"tool": {"toolCallId": "t", "status": "completed"}},
        {"plan": ["a", "b", {"content": "c", "priority": "high"}], "done": 1},
        {"diff": "new.py", "new": "x"},
        {"usage": 10, "size": 100, "cost": 0.5},
        {"title": "A title"},
        {"commands": [{"name": "c", "description": "d"}]},
    ]
    for suffix in ("", "-2"):
        await agent.turn(session, steps)
        news = agent.news()
        assert [u["sessionUpdate"] for u in news[:2]] == ["tool_call", "tool_call_update"]
        assert news[0]["toolCallId"] == news[1]["toolCallId"] == f"t{suffix}"
        assert news[0]["locations"] == [{"path": "/tmp/x/a", "line": 1}]
        entries = [(entry["status"], entry["priority"]) for entry in news[2]["entries"]]
        assert entries == [("completed", "medium"), ("in_progress", "medium"), ("pending", "high")]
        assert news[3]["content"][0]["oldText"] is None
        assert news[3]["content"][0]["path"] == "/tmp/x/new.py"
    assert agent.news() == []


GARBAGE: list[tuple[Any, str]] = [
    (ALLOW, "yes"),
    ({"outcome": {"outcome": "selected", "optionId": "reject"}}, "no"),
    ({"outcome": {"outcome": "selected", "optionId": "forged"}}, "no"),
    ({"outcome": {"outcome": "alien", "optionId": "allow"}}, "no"),
    ({"outcome": "allow"}, "no"),
    ([], "no"),
    (Exception(-32603, "broken client"), "no"),
]


@pytest.mark.parametrize(("answer", "said"), GARBAGE, ids=lambda value: str(value)[:60])
async def test_asking(start: Start, answer: Any, said: str) -> None:
    """acp-P7, P9, P10: announced before it is asked; whatever is not a clear yes is a no."""
    agent = await start()
    session = await agent.begin()
    agent.answers["session/request_permission"] = lambda _params: answer
    assert (await agent.turn(session, ASK))["result"] == {"stopReason": "end_turn"}
    kinds = [line.get("params", {}).get("update", {}).get("sessionUpdate") for line in agent.lines]
    methods = [line.get("method") for line in agent.lines]
    assert kinds.index("tool_call") < methods.index("session/request_permission")
    news = agent.news()
    assert texts(news) == [said]
    ends = ["pending", "in_progress", "completed"] if said == "yes" else ["pending", "failed"]
    assert statuses(news, "call-1") == ends


async def test_files(start: Start, tmp_path: Path) -> None:
    """acp-P11, P12: really called where offered; a missing file is a new one."""
    agent = await start()
    session = await agent.begin(cwd=str(tmp_path), **FILES)

    def read(params: Json) -> Any:
        path = Path(params["path"])
        return {"content": path.read_text()} if path.exists() else Exception(-32002, "missing")

    def write(params: Json) -> Any:
        Path(params["path"]).write_text(params["content"])
        return {}

    agent.answers |= {"fs/read_text_file": read, "fs/write_text_file": write}
    steps = [{"write": "a.txt", "content": "new"}, {"read": "a.txt"}, {"text": "$content"}]
    await agent.turn(session, [{"read": "a.txt"}, *steps])
    news = agent.news()
    assert (tmp_path / "a.txt").read_text() == "new"
    assert texts(news) == ["new"]
    assert [u["status"] for u in news if u.get("status") in ("completed", "failed")] == [
        "completed"
    ] * 3
    agent.answers["session/request_permission"] = lambda _params: {"outcome": "rejected"}
    await agent.turn(session, [{"write": "a.txt", "content": "worse", "ask": True}])
    assert (tmp_path / "a.txt").read_text() == "new"


async def test_nothing_is_called_that_was_not_offered(start: Start) -> None:
    """acp-P11, acp-I5"""
    agent = await start()
    session = await agent.begin()
    steps = [{"read": "a"}, {"write": "a", "content": "b"}, {"question": "What?"}]
    await agent.turn(session, [*steps, {"command": "ls", "output": "out", "exit": 1}])
    assert not [line for line in agent.lines if "method" in line and "id" in line]
    news = agent.news()
    assert texts(news) == ["(I would ask: What?)"]
    assert news[-1]["rawOutput"] == {"exitCode": 1, "output": "out"}
    assert news[-1]["status"] == "failed"


async def test_terminals_are_released(start: Start) -> None:
    """acp-P13, X4: also when the turn is cancelled while the command runs."""
    agent = await start()
    session = await agent.begin(terminal=True)
    called: list[str] = []

    def answering(method: str, answer: Any) -> None:
        def serve(_params: Json) -> Any:
            called.append(method)
            return answer

        agent.answers[f"terminal/{method}"] = serve

    answering("create", {"terminalId": "t1"})
    answering("wait_for_exit", {"exitCode": 0, "signal": None})
    answering("output", {"output": "hello", "truncated": False})
    answering("release", {})
    answering("kill", {})
    await agent.turn(session, [{"command": ["echo", "hello"]}, {"text": "$output"}])
    news = agent.news()
    assert texts(news) == ["hello"]
    assert statuses(news, "call-1") == ["pending", "in_progress", "completed"]
    assert called == ["create", "wait_for_exit", "output", "release"]
    called.clear()
    answering("wait_for_exit", None)
    running = agent.prompt(session, [{"command": "sleep 600"}])
    await agent.until(lambda line: line.get("method") == "terminal/wait_for_exit")
    agent.notify("session/cancel", sessionId=session)
    assert (await agent.answer(running))["result"] == {"stopReason": "cancelled"}
    assert called == ["create", "wait_for_exit", "kill", "release"]
    assert statuses(agent.news(), "call-2")[-1] == "failed"


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


async def test_cancel(start: Start) -> None:
    """acp-X1, X2, X5, X6, X8: cancelled, open tools failed before the answer, nothing after."""
    agent = await start()
    session = await agent.begin()
    for steps in ([{"wait": 600}], [{"tool": "T", "status": "in_progress"}, {"until": "cancel"}]):
        for _ in range(2):
            agent.notify("session/cancel", sessionId=session)
        id = agent.prompt(session, [{"text": "on"}, *steps])
        await agent.until(lambda line: "on" in str(line))
        for _ in range(2):
            agent.notify("session/cancel", sessionId=session)
        assert (await agent.answer(id))["result"] == {"stopReason": "cancelled"}
    last = agent.news()[-1]
    assert (last["toolCallId"], last["status"]) == ("call-1", "failed")
    assert (await agent.turn(session, "on"))["result"] == {"stopReason": "end_turn"}
    await agent.close()
    answers = [line["id"] for line in agent.lines if "id" in line and "method" not in line]
    assert len(answers) == len(set(answers))


async def test_cancel_before_the_turn_begins(start: Start) -> None:
    """acp-X2, X7: prompt and cancel in one write; exactly one answer each time."""
    agent = await start()
    session = await agent.begin()
    for _ in range(20):
        id = agent.prompt(session, [{"wait": 600}])
        agent.notify("session/cancel", sessionId=session)
        assert (await agent.answer(id))["result"] == {"stopReason": "cancelled"}


@pytest.mark.parametrize("when", ["first", "later", "never"])
async def test_cancel_while_asking(start: Start, when: str) -> None:
    """acp-X3: whether the client answers the ask first, later, or never."""
    agent = await start()
    session = await agent.begin()
    id = agent.prompt(session, ASK)
    ask = (await agent.until(lambda line: line.get("method") == "session/request_permission"))["id"]
    outcome = {"outcome": {"outcome": "cancelled"}}
    if when == "first":
        agent.send(id=ask, result=outcome)
    agent.notify("session/cancel", sessionId=session)
    stop = (await agent.answer(id))["result"]["stopReason"]
    assert stop == "cancelled" or when == "first"
    if when == "later":
        agent.send(id=ask, result=ALLOW)
    assert texts(agent.news()) == []
    assert "result" in await agent.turn(session, "next")


async def test_taking_the_prompt_back(start: Start) -> None:
    """acp-X9"""
    agent = await start()
    session = await agent.begin()
    id = agent.prompt(session, [{"wait": 600}])
    agent.notify("$/cancel_request", requestId=id)
    assert (await agent.answer(id))["result"] == {"stopReason": "cancelled"}


async def test_a_second_prompt_waits(start: Start) -> None:
    """acp-P16; acp-S4: another session's prompt does not."""
    agent = await start()
    session, other = await agent.begin(), await agent.begin()
    first = agent.prompt(session, [{"wait": 0.05}, {"text": "first"}])
    second = agent.prompt(session, [{"text": "second"}])
    await agent.answer(agent.prompt(other, [{"text": "other"}]))
    await agent.answer(first)
    await agent.answer(second)
    assert texts(agent.news()) == ["other", "first", "second"]


async def test_errors_end_the_turn_only(start: Start) -> None:
    """acp-P15; row T1 `failed`, row T11 rate limit."""
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


async def test_concurrent_sessions_keep_apart(start: Start) -> None:
    """acp-S3, S4"""
    agent = await start()
    one, two = await agent.begin(cwd="/tmp"), await agent.begin(cwd="/usr")
    ids = [agent.prompt(session, [{"wait": 0.01}, {"text": "$cwd"}]) for session in (one, two)]
    for id in ids:
        await agent.answer(id)
    said = {
        line["params"]["sessionId"]: line["params"]["update"]["content"]["text"]
        for line in agent.lines
        if line.get("method") == "session/update"
    }
    assert said == {one: "/tmp", two: "/usr"}


async def tour(agent: Agent, answer: Any) -> tuple[list[Json], Json]:
    agent.answers["session/request_permission"] = lambda _params: answer
    session = await agent.begin()
    async with asyncio.timeout(15):
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
