"""What the player remembers: load, resume, list, fork, close and delete, also after kill -9."""

from typing import Any

from tests.acp.conftest import Start
from tests.acp.driving import Agent, Json, texts

HERE: Json = {"cwd": "/tmp", "mcpServers": []}
STEPS: list[Any] = [
    {"thought": "hm"},
    {"text": "a b", "chunks": 2},
    {"tool": "T", "toolCallId": "t", "kind": "edit", "status": "completed"},
]


async def again(start: Start, script: Json | None = None) -> Agent:
    agent = await start(script)
    await agent.call("initialize", protocolVersion=1)
    return agent


async def test_load_tells_everything_again(start: Start) -> None:
    """acp-S8, S9, S11, P17: user messages too, the same ids, all before the answer."""
    agent = await start()
    session = await agent.begin()
    await agent.turn(session, STEPS)
    live = agent.news()
    loader = await again(start)
    assert await loader.call("session/load", sessionId=session, **HERE) == {}
    first, *rest = loader.news()
    assert first["sessionUpdate"] == "user_message_chunk"
    assert rest == live
    await loader.turn(session, "next")
    assert texts(loader.news()) == ["You said: next"]
    await loader.close()
    assert "id" in loader.lines[-1]


async def test_kill_loses_nothing_that_was_sent(start: Start) -> None:
    """acp-S10: the interrupted turn is told again, then the next turn of the script is played."""
    script = {"turns": [[*STEPS, {"crash": {"signal": "SIGKILL"}}], [{"text": "second"}]]}
    agent = await start(script)
    session = await agent.begin()
    agent.prompt(session, "go")
    try:
        while True:
            await agent.read()
    except EOFError:
        live = agent.news()
    assert len(live) == 4
    loader = await again(start, script)
    await loader.call("session/load", sessionId=session, **HERE)
    assert loader.news()[1:] == live
    await loader.turn(session, "go on")
    assert texts(loader.news()) == ["second"]


async def test_resume_tells_nothing(start: Start) -> None:
    """acp-S13; acp-S14: also when the session is live in this process."""
    agent = await start()
    session = await agent.begin()
    await agent.turn(session, STEPS)
    other = await again(start)
    for one in (agent, other):
        one.news()
        assert await one.call("session/resume", sessionId=session, cwd="/tmp") == {}
        assert one.news() == []
        assert "result" in await one.turn(session, "hi")


async def test_unknown_sessions(start: Start) -> None:
    """acp-S12: -32002 and no partial replay; names that are paths find nothing."""
    agent = await again(start)
    for name in ("nobody", "", "../secret", "a/b"):
        for method in ("load", "resume", "prompt", "set_mode", "close"):
            found = await agent.call(f"session/{method}", sessionId=name, prompt=[], **HERE)
            assert found == -32002
        assert await agent.call("session/delete", sessionId=name) == {}
    assert await agent.call("session/load", **HERE) == -32602
    assert agent.news() == []


async def test_list(start: Start) -> None:
    """acp-S15, S16: pages by cursor, newest first; what is made meanwhile doubles nothing."""
    agent = await again(start, {"agent": {"pageSize": 2}})
    made = [(await agent.call("session/new", **HERE))["sessionId"] for _ in range(5)]
    found: list[str] = []
    page = await agent.call("session/list")
    while True:
        assert all(
            entry["cwd"] == "/tmp" and "T" in entry["updatedAt"] for entry in page["sessions"]
        )
        found += [entry["sessionId"] for entry in page["sessions"]]
        if "nextCursor" not in page:
            break
        await agent.call("session/new", **HERE)
        page = await agent.call("session/list", cursor=page["nextCursor"])
    assert found == made[::-1]
    assert (await agent.call("session/list", cwd="/nowhere")) == {"sessions": []}
    for wrong in ("nonsense", 4, "9.9.9"):
        assert await agent.call("session/list", cursor=wrong) == -32602


async def test_close_and_delete(start: Start) -> None:
    """acp-S17, S18: the turn in flight and the one that waits end as cancelled."""
    agent = await start()
    session = await agent.begin()
    turns = [agent.prompt(session, [{"deaf": True}, {"wait": 600}]) for _ in range(2)]
    closing = agent.ask("session/close", sessionId=session)
    for id in turns:
        assert (await agent.answer(id))["result"] == {"stopReason": "cancelled"}
    assert (await agent.answer(closing))["result"] == {}
    assert await agent.call("session/prompt", sessionId=session, prompt=[]) == -32002
    await agent.call("session/load", sessionId=session, **HERE)
    for _ in range(2):
        assert await agent.call("session/delete", sessionId=session) == {}
    assert await agent.call("session/list") == {"sessions": []}
    assert await agent.call("session/load", sessionId=session, **HERE) == -32002


async def test_fork(start: Start) -> None:
    """Unstable in the protocol: only where the script advertises it."""
    agent = await start({"agent": {"capabilities": {"sessionCapabilities": {"fork": {}}}}})
    session = await agent.begin()
    await agent.turn(session, STEPS)
    forked = (await agent.call("session/fork", sessionId=session, **HERE))["sessionId"]
    await agent.turn(forked, "only here")
    agent.news()
    await agent.call("session/load", sessionId=session, **HERE)
    original = agent.news()
    await agent.call("session/load", sessionId=forked, **HERE)
    assert agent.news()[: len(original)] == original


async def test_additional_directories(start: Start) -> None:
    """acp-S19: kept where given, none where left out."""
    agent = await again(start)
    roots = ["/usr", "/etc"]
    session = (await agent.call("session/new", additionalDirectories=roots, **HERE))["sessionId"]
    assert (await agent.call("session/list"))["sessions"][0]["additionalDirectories"] == roots
    await agent.call("session/load", sessionId=session, **HERE)
    assert "additionalDirectories" not in (await agent.call("session/list"))["sessions"][0]
    wrong = await agent.call("session/new", additionalDirectories=["here"], **HERE)
    assert wrong == -32602
