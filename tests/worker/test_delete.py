"""The agent is told of a deletion, and of nothing less (row S3)."""

import asyncio
import os
from pathlib import Path

import pytest

from rookery.client import fleet
from tests.worker.aviary import Aviary, Bird, is_agent, is_text
from tests.worker.companions import introduce, memory, remembered

UNABLE = {"agent": {"capabilities": {"sessionCapabilities": {"delete": None}}}}
DEAF = {"start": {"silence": "session/delete"}}


async def removed(aviary: Aviary, bird: Bird) -> str:
    said = await asyncio.to_thread(fleet.remove, aviary.home, bird.id)
    assert not bird.directory.exists()
    assert not Path(bird.socket).exists()
    assert not await asyncio.to_thread(aviary.wait_empty)
    return said


async def test_S3_an_agent_that_is_awake_forgets_the_session(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    assert len(remembered(aviary, "crow")) == 1
    assert await removed(aviary, bird) == "crow has forgotten the session"
    assert remembered(aviary, "crow") == []


async def test_S3_in_mid_turn_too(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    begun = await bird.prompt([{"text": "begun"}, {"until": "cancel"}])
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    await removed(aviary, bird)
    assert remembered(aviary, "crow") == []


async def test_S3_one_that_sleeps_is_started_for_it_where_it_can_delete(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    await bird.send("stop")
    await bird.gone(bird.worker)
    assert await removed(aviary, bird) == "crow has forgotten the session"
    assert remembered(aviary, "crow") == []


async def test_S3_one_that_sleeps_and_cannot_is_left_asleep(aviary: Aviary) -> None:
    introduce(aviary, None, crow=UNABLE)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    await bird.send("stop")
    await bird.gone(bird.worker)
    starts = os.path.getsize(memory(aviary, "crow") / "starts")
    assert "not known to delete" in await removed(aviary, bird)
    assert os.path.getsize(memory(aviary, "crow") / "starts") == starts


async def test_S3_one_that_does_not_know_the_method_holds_nothing_up(aviary: Aviary) -> None:
    introduce(aviary, None, crow=UNABLE)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    assert await removed(aviary, bird) == "crow does not know session/delete (-32601)"


async def test_S3_one_that_does_not_answer_holds_nothing_up(aviary: Aviary) -> None:
    introduce(aviary, {"delete_grace": 0.1}, crow=DEAF)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    assert await removed(aviary, bird) == "crow did not answer session/delete in time"


async def test_S3_one_that_does_not_start_any_more_holds_nothing_up(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    await bird.send("stop")
    await bird.gone(bird.worker)
    introduce(aviary, None, crow={"start": {"crash": 3, "stderr": "no key"}})
    assert "could not be told" in await removed(aviary, bird)


async def test_S3_a_session_that_never_had_an_agent(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    assert await removed(aviary, bird) == ""


@pytest.mark.parametrize("how", ["stop", "kill", "restart", "idle", "clear", "switch"])
async def test_S3_nothing_but_a_deletion_deletes(aviary: Aviary, how: str) -> None:
    introduce(aviary, {"idle_stop_secs": 1} if how == "idle" else None, crow={}, jay={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    worker = bird.worker
    match how:
        case "kill":
            await asyncio.to_thread(fleet.kill, aviary.home, bird.id)
        case "idle":
            await bird.until(lambda event: is_agent(event, "stopped"))
        case "switch":
            await bird.send("switch", agent="jay")
        case _:
            await bird.send(how)
    if how in ("stop", "kill", "idle"):
        await bird.gone(worker)
    else:
        await bird.turn("again")
    kept = remembered(aviary, "crow")
    assert len(kept) == (2 if how == "clear" else 1)
