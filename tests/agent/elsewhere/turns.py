"""Turns that go the same way wherever a conversation runs."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from tests.acp.driving import Agent, statuses
from tests.agent.driving import (
    ALLOW,
    allow_all,
    calls,
    edit,
    permission,
    run,
    shown,
    stop_reason,
    words,
)


async def asked_and_done(agent: Agent, session: str, work: Path) -> None:
    """A tool, asked for before it runs, with a diff; words as they come. The file is the user's."""
    file = work / "a.txt"
    running = agent.prompt(session, [edit(file, "new\n"), {"text": "It is written."}])
    asked = await permission(agent)
    assert not file.exists()
    call = asked["params"]["toolCall"]
    [diff] = [part for part in call["content"] if part["type"] == "diff"]
    assert diff["newText"] == "new\n"
    agent.send(id=asked["id"], result=ALLOW)
    assert stop_reason(await agent.answer(running)) == "end_turn"
    news = agent.news(session)
    assert file.read_text() == "new\n"
    assert file.stat().st_uid == os.getuid()
    assert words(news) == "It is written."
    assert statuses(news)[-2:] == ["in_progress", "completed"]
    assert [each["toolCallId"] for each in calls(news)] == [call["toolCallId"]]


async def cancelled(agent: Agent, session: str, work: Path) -> None:
    """While a command runs: it ends over there, and the next prompt is answered."""
    allow_all(agent)
    running = agent.prompt(session, [run("touch began; sleep 1000"), {"text": "no"}])
    await until_there(agent, work / "began")
    agent.notify("session/cancel", sessionId=session)
    assert stop_reason(await agent.answer(running)) == "cancelled"
    after = await agent.turn(session, [run("echo fine; cat a.txt; pwd"), {"text": "again"}])
    assert stop_reason(after) == "end_turn"
    said = shown(calls(agent.news(session))[-1])
    assert "fine" in said
    assert "new" in said
    assert str(work) in said


async def until_there(agent: Agent, path: Path) -> None:
    """Nothing tells when a file appears; the agent's lines are read meanwhile."""
    async with asyncio.timeout(60):
        while not path.exists():
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await agent.read()
