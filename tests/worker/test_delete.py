"""The agent is told of a deletion, and of nothing less."""

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


async def test_an_awake_agent_deletes_its_session(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    assert len(remembered(aviary, "crow")) == 1
    assert await removed(aviary, bird) == "crow deleted its copy of the session"
    assert remembered(aviary, "crow") == []


async def test_agents_from_before_a_switch_delete_their_sessions_too(aviary: Aviary) -> None:
    """And the conversation before a clear; asleep, and whatever one of them says."""
    unheard = {"agent": {"capabilities": {"sessionCapabilities": {"delete": None}}}}
    introduce(aviary, None, crow={"agent": {"commands": []}}, daw={}, jay=unheard)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    await bird.send("clear")
    await bird.turn("hi again")
    assert len(remembered(aviary, "crow")) == 2
    for heir in ("jay", "daw"):
        await bird.send("switch", agent=heir)
        await bird.turn("hi")
    assert (len(remembered(aviary, "jay")), len(remembered(aviary, "daw"))) == (1, 1)
    await bird.send("stop")
    await bird.gone(bird.worker)
    stays: list[str] = []
    await asyncio.to_thread(fleet.remove, aviary.home, bird.id, stays.append)
    assert (remembered(aviary, "crow"), remembered(aviary, "daw")) == ([], [])
    assert len(remembered(aviary, "jay")) == 1, "it cannot, and said so"
    assert stays == []
    assert not await asyncio.to_thread(aviary.wait_empty)


async def test_an_uninstalled_agent_is_named_and_holds_nothing_up(aviary: Aviary) -> None:
    introduce(aviary, None, crow={}, daw={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    await bird.send("switch", agent="daw")
    await bird.turn("hi")
    introduce(aviary, None, daw={})
    stays: list[str] = []
    await asyncio.to_thread(fleet.remove, aviary.home, bird.id, stays.append)
    assert len(stays) == 1
    assert stays[0].startswith("crow could not be reached")
    assert not bird.directory.exists()


async def test_nothing_in_the_home_names_a_deleted_session(aviary: Aviary) -> None:
    """Log, head, environment, staged files, socket, and a word on its critic."""
    introduce(aviary, None, crow={})
    bird, other = (aviary.hatch(agent="crow", argv=[]) for _ in range(2))
    await bird.turn("a-word-of-its-own")
    said = [f'{{"session": "{each.id}", "turn": 1, "critic": "right"}}\n' for each in (bird, other)]
    feedback = Path(aviary.home, "feedback.jsonl")
    feedback.write_text("".join(said) + "not json\n")
    await removed(aviary, bird)
    assert feedback.read_text() == said[1] + "not json\n"
    words = (bird.id.encode(), b"a-word-of-its-own")
    files = [path for path in Path(aviary.home).rglob("*") if path.is_file()]
    assert [path for path in files if any(word in path.read_bytes() for word in words)] == []
    assert [path for path in Path(aviary.home).rglob("*") if bird.id in path.name] == []


async def test_a_session_is_deleted_in_mid_turn_too(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    begun = await bird.prompt([{"text": "begun"}, {"until": "cancel"}])
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    await removed(aviary, bird)
    assert remembered(aviary, "crow") == []


async def test_a_sleeping_agent_is_started_to_delete_if_it_can(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    await bird.send("stop")
    await bird.gone(bird.worker)
    assert await removed(aviary, bird) == "crow deleted its copy of the session"
    assert remembered(aviary, "crow") == []


async def test_a_sleeping_agent_that_cannot_delete_is_left_asleep(aviary: Aviary) -> None:
    introduce(aviary, None, crow=UNABLE)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    await bird.send("stop")
    await bird.gone(bird.worker)
    starts = os.path.getsize(memory(aviary, "crow") / "starts")
    assert "may not support deleting" in await removed(aviary, bird)
    assert os.path.getsize(memory(aviary, "crow") / "starts") == starts


async def test_an_agent_without_session_delete_holds_nothing_up(aviary: Aviary) -> None:
    introduce(aviary, None, crow=UNABLE)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    assert await removed(aviary, bird) == "crow does not know session/delete (-32601)"


async def test_an_agent_that_does_not_answer_holds_nothing_up(aviary: Aviary) -> None:
    introduce(aviary, {"delete_grace": 0.1}, crow=DEAF)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    assert await removed(aviary, bird) == "crow did not answer session/delete in time"


@pytest.mark.long
async def test_an_agent_that_no_longer_starts_holds_nothing_up(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    await bird.send("stop")
    await bird.gone(bird.worker)
    introduce(aviary, None, crow={"start": {"crash": 3, "stderr": "no key"}})
    assert "could not be reached" in await removed(aviary, bird)


async def test_a_session_that_never_had_an_agent_is_deleted(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    assert await removed(aviary, bird) == ""


@pytest.mark.parametrize("how", ["stop", "kill", "restart", "idle", "clear", "switch"])
async def test_only_a_deletion_deletes(aviary: Aviary, how: str) -> None:
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
