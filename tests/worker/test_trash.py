"""A session in the trash, as its agent sees it: nothing, until it is deleted permanently."""

import asyncio

from rookery.client.rewind.fork import fork
from rookery.client.rewind.turns import turns
from rookery.client.trash import moves, store
from tests.worker.aviary import Aviary, Bird, is_text
from tests.worker.companions import introduce, remembered
from tests.worker.test_rewind import turn


async def test_the_agent_keeps_its_copy_until_the_trash_is_emptied(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("hi")
    copies = remembered(aviary, "crow")
    assert len(copies) == 1
    await asyncio.to_thread(moves.remove, aviary.home, bird.id)
    assert not bird.directory.exists()
    assert not await asyncio.to_thread(aviary.wait_empty)
    assert remembered(aviary, "crow") == copies
    await asyncio.to_thread(moves.restore, aviary.home, bird.id)
    await bird.turn("again")
    assert remembered(aviary, "crow") == copies, "it goes on in the same conversation"
    await asyncio.to_thread(moves.remove, aviary.home, bird.id)
    stays: list[str] = []
    await asyncio.to_thread(moves.empty, aviary.home, stays.append)
    assert (remembered(aviary, "crow"), stays) == ([], [])
    assert store.names(aviary.home) == []
    aviary.birds.remove(bird)


async def test_one_in_mid_turn_is_stopped_and_its_log_says_so(aviary: Aviary) -> None:
    introduce(aviary, None, crow={})
    bird = aviary.hatch(agent="crow", argv=[])
    begun = await bird.prompt([{"text": "begun"}, {"until": "cancel"}])
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    await asyncio.to_thread(moves.remove, aviary.home, bird.id)
    assert not await asyncio.to_thread(aviary.wait_empty)
    await asyncio.to_thread(moves.restore, aviary.home, bird.id)
    assert bird.header().state == "idle"
    await bird.turn("on")


async def test_a_fork_and_the_session_it_comes_from_keep_their_snapshots(aviary: Aviary) -> None:
    bird = aviary.hatch()
    for number in (1, 2):
        await turn(bird, [{"write": "a", "content": str(number)}], number)
    branch = Bird(aviary.home, fork(aviary.home, bird.id, 2))
    aviary.birds.append(branch)
    moves.remove(aviary.home, bird.id)
    await branch.send("rewind", turn=1)
    assert (aviary.work / "a").read_text() == "1"
    moves.remove(aviary.home, branch.id)
    moves.delete(aviary.home, branch.id)
    aviary.birds.remove(branch)
    moves.restore(aviary.home, bird.id)
    assert [row["files"] for row in turns(aviary.home, bird.id)] == [True, True, True]
    await bird.send("rewind", turn=1)
    assert (aviary.work / "a").read_text() == "1"
