"""The player's start, and how a script makes it fail. What it does right, test_checklist_*.py
show."""

import asyncio
from typing import Any

import pytest

from tests.acp.conftest import Start


async def test_what_is_not_advertised_does_not_exist(start: Start) -> None:
    """Logging out, and so every method that has a capability."""
    agent = await start({"agent": {"capabilities": {"loadSession": None}}})
    session = await agent.begin()
    for method in ("logout", "session/load", "session/fork"):
        assert await agent.call(method, sessionId=session) == -32601


START: list[tuple[dict[str, Any], list[Any]]] = [
    ({"initialize_error": {"code": 7, "message": "no"}}, [7]),
    ({"version": "echo"}, [99]),
    ({"version": 3}, [3]),
    ({"new_error": {"code": -32000, "message": "log in"}}, [1, -32000]),
    ({"load_error": "gone"}, [1, "ok", -32603]),
    ({"crash": {"code": 3}, "stderr": "dying"}, [EOFError]),
    ({"crash_on": "session/new", "crash": {"signal": "SIGKILL"}}, [1, EOFError]),
    ({"wait": 0.01, "raw": "a banner"}, [1]),
]


@pytest.mark.parametrize(("knobs", "expected"), START, ids=lambda value: str(value)[:40])
async def test_failures_of_the_handshake(
    start: Start, knobs: dict[str, Any], expected: list[Any]
) -> None:
    """What a worker must live with at each point of an agent's start."""
    agent = await start({"start": knobs}, strict=False)
    seen: list[Any] = []
    session = "?"
    for method in ("initialize", "session/new", "session/load"):
        params: dict[str, Any] = {"cwd": "/", "mcpServers": [], "protocolVersion": 99}
        try:
            result = await agent.call(method, sessionId=session, **params)
        except EOFError:
            seen.append(EOFError)
            break
        if isinstance(result, dict):
            session = result.get("sessionId", session)
            result = result.get("protocolVersion", "ok")
        seen.append(result)
    assert seen[: len(expected)] == expected
    if "crash" in knobs:
        assert await agent.process.wait() == (3 if "code" in knobs["crash"] else -9)


async def test_mischief_for_some_starts_only(start: Start) -> None:
    """An agent that dies at its first two starts, and then does not."""
    for attempt in range(3):
        agent = await start({"start": {"crash": 1, "times": 2}})
        if attempt < 2:
            assert await agent.process.wait() == 1
    assert await agent.begin()


async def test_updates_before_the_answer(start: Start) -> None:
    """What a client has to buffer."""
    agent = await start({"start": {"before_answer": [{"usage": 1}], "silence": "session/list"}})
    await agent.begin()
    assert "usage_update" in str(agent.lines[-2])
    agent.ask("session/list")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await agent.read()
