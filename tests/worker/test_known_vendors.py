"""What people see of agents that behave in their vendors' ways, under a real worker."""

import os
import shlex
import signal
import sys
import time
from pathlib import Path

import pytest

from rookery.core.blocks.document import Block
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.worker.agent.process import StderrLog
from tests.worker.aviary import Aviary, Bird, is_agent, is_idle, is_text, text_of
from tests.worker.companions import introduce

AGENT = str(Path(__file__).with_name("vendor_agent.py"))


def vendor(aviary: Aviary, name: str) -> Bird:
    return aviary.hatch(agent=name, argv=[sys.executable, "-P", AGENT, name])


def blocks(bird: Bird) -> list[Block]:
    return list(fold(None, bird.events()).blocks.values())


def is_notice(event: Event, words: str) -> bool:
    update = event.update
    return kind_of(update) == "_notice" and words in f"{update.get('title')} {update['text']}"


async def test_a_configured_agent_gets_its_vendors_profile(
    aviary: Aviary,
) -> None:
    """It says who it is in its answer to initialize, before its mode is chosen."""
    modes = [{"id": "agent", "name": "Agent"}, {"id": "read-only", "name": "Read only"}]
    introduce(aviary, None, work={"agent": {"name": "codex-acp", "modes": modes}})
    bird = aviary.hatch(agent="work", argv=[])
    await bird.turn("hello")
    assert (bird.header().vendor, bird.header().mode) == ("codex", "read-only")


async def test_crow_is_given_the_mcp_server_it_ships_with(aviary: Aviary) -> None:
    """All its tools come from its client; without that server it has none."""
    program = aviary.root / "crow-cli"
    program.write_text(
        f"#!/bin/sh\nexec {shlex.join([sys.executable, '-P', str(AGENT), 'crow-cli'])}\n"
    )
    program.chmod(0o755)
    theirs = {"name": "tracker", "command": "true", "args": [], "env": []}
    bird = aviary.hatch(agent="crow", argv=[str(program), "acp"], mcp_servers=[theirs])
    assert text_of(await bird.turn("servers")) == "tracker crow-mcp"


ASK = {"ask": "Run it", "kind": "execute", "rawInput": {"command": "frobnicate --all"}}


async def test_a_rejections_reason_reaches_codex_before_the_queue(aviary: Aviary) -> None:
    """codex ends the turn as cancelled when a person says no."""
    bird = aviary.hatch({"agent": {"name": "codex-acp"}})
    begun = await bird.prompt([{**ASK, "rejected": [{"stop": "cancelled"}]}])
    ask = await bird.ask(begun)
    await bird.prompt("and then this")
    await bird.answer(ask, "reject", reason="Use the other one")
    await bird.until(lambda event: is_text(event, "and then this"), begun.seq)
    reasons = [event.update["reason"] for event in bird.events() if is_idle(event)][:2]
    assert reasons == ["cancelled", "end_turn"]
    assert text_of(bird.events()) == "You said: Use the other oneYou said: and then this"


async def test_a_cancel_by_the_user_still_holds_the_reason(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([{**ASK, "rejected": [{"text": "no?"}, {"until": "cancel"}]}])
    await bird.answer(await bird.ask(begun), "reject", reason="Use the other one")
    await bird.until(lambda event: is_text(event, "no?"), begun.seq)
    await bird.send("cancel")
    await bird.ended(begun)
    assert [item["prompt"][0]["text"] for item in bird.header().queue] == ["Use the other one"]


async def test_a_killed_agent_is_reported_in_one_block(aviary: Aviary) -> None:
    bird = vendor(aviary, "goose")
    begun = await bird.prompt("complain last words")
    await bird.until(is_text, begun.seq)
    os.kill(bird.agent.pid, signal.SIGKILL)
    assert (await bird.ended(begun)).update["reason"] == "agent_exited"
    [block] = [each for each in blocks(bird) if each["role"] in ("notice", "error")]
    assert block["title"] == "goose was killed (SIGKILL): by hand, or out of memory: last words"
    assert "status" not in block["text"]


async def test_the_details_of_an_error_are_shown(aviary: Aviary) -> None:
    error = {"code": -32603, "data": {"details": "the model is not there"}}
    bird = aviary.hatch()
    await bird.turn([{"error": "Internal error", **error}])
    [block] = [each for each in blocks(bird) if each["role"] == "error"]
    assert block["text"].startswith("Internal error: the model is not there\n")


async def test_a_command_that_outlives_its_cancel_is_reported(aviary: Aviary) -> None:
    bird = vendor(aviary, "crow-cli")
    begun = await bird.prompt("run sleep 543")
    running = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}
    await bird.until(lambda event: event.update == running, begun.seq)
    await bird.send("cancel")
    words = "Still running after the cancel"
    told = await bird.until(lambda event: is_notice(event, words), begun.seq)
    assert "sleep 543" in told.update["text"]
    assert f"rookery restart {bird.id}" in told.update["text"]


async def test_a_retry_is_shown_while_it_lasts(aviary: Aviary) -> None:
    bird = aviary.hatch({"agent": {"name": "@mistralai/mistral-vibe"}})
    params = {"sessionId": "$session", "category": "rate_limited", "detail": "HTTP 429"}
    retry = {"notify": "_session/retrying", "params": params}
    begun = await bird.prompt([retry, {"until": "steer"}, {"text": "recovered"}])
    await bird.until(lambda event: kind_of(event.update) == "_retry", begun.seq)
    document = fold(None, bird.events())
    assert document.header.retrying == "its model is rate limited · HTTP 429"
    titles = [each["title"] for each in document.blocks.values() if each["role"] == "notice"]
    assert "player is trying again" in titles
    await bird.send("cancel")
    await bird.ended(begun)
    assert bird.header().retrying == ""
    assert not [each for each in blocks(bird) if "trying again" in each["title"]]


@pytest.mark.parametrize(("name", "own"), [("openhands", True), ("goose", False)])
async def test_each_openhands_session_has_a_tmux_server_of_its_own(
    aviary: Aviary, monkeypatch: pytest.MonkeyPatch, name: str, own: bool
) -> None:
    monkeypatch.setenv("TMUX_TMPDIR", "/everybodys")
    found = []
    for bird in (vendor(aviary, name), vendor(aviary, name)):
        await bird.send("start")  # it says who it is: from its second start on that is known
        await bird.send("restart")
        await bird.until(lambda event: is_agent(event, "ready"))
        found.append(text_of(await bird.turn("env TMUX_TMPDIR")))
    assert len(set(found)) == (2 if own else 1)
    assert all(os.path.isdir(place) for place in found) is own


def test_only_stderr_of_the_last_seconds_counts(tmp_path: Path) -> None:
    log = StderrLog(str(tmp_path / "agent.log"))
    log.write(b"long ago\n")
    since = time.monotonic()
    log.write(b"just now\nand ")
    log.write(b"open")
    assert log.tail(since) == ["just now", "and open"]
    assert log.tail(0.0) == ["long ago", "just now", "and open"]
    assert log.tail(since + 3600) == []
    log.close()
