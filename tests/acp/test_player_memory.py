"""What the player remembers beyond the protocol: a script's place, forks, no strange names."""

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


async def test_kill_loses_nothing_that_was_sent(start: Start) -> None:
    """The interrupted turn is told again, then the next turn of the script is played."""
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


async def test_unknown_sessions(start: Start) -> None:
    """-32002 and no partial replay; names that are paths find nothing."""
    agent = await again(start)
    for name in ("nobody", "", "../secret", "a/b"):
        for method in ("prompt", "set_mode", "set_config_option", "close"):
            found = await agent.call(f"session/{method}", sessionId=name, prompt=[], **HERE)
            assert found == -32002
        assert await agent.call("session/delete", sessionId=name) == {}
    assert await agent.call("session/load", **HERE) == -32602
    assert agent.news() == []


async def test_fork(start: Start) -> None:
    """Unstable in the protocol: only where the script advertises it."""
    script = {"agent": {"capabilities": {"sessionCapabilities": {"fork": {}}}}}
    agent = await start(script, strict=False)
    session = await agent.begin()
    await agent.turn(session, STEPS)
    forked = (await agent.call("session/fork", sessionId=session, **HERE))["sessionId"]
    await agent.turn(forked, "only here")
    agent.news()
    await agent.call("session/load", sessionId=session, **HERE)
    original = agent.news()
    await agent.call("session/load", sessionId=forked, **HERE)
    assert agent.news()[: len(original)] == original
