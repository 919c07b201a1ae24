"""From one client to the next: whoever follows a session sees every event once, whoever died."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from rookery.core.json.events import Event, event_from_json
from rookery.processes import tree
from tests.worker.aviary import Aviary, Bird, Steps, is_idle, is_text, text_of

WATCHER = Path(__file__).with_name("watcher.py")
STORY: Steps = [{"text": " ".join(map(str, range(40))), "chunks": 40, "every": 0.04}]


def shown(path: Path) -> list[Event]:
    """By whole lines: a writer that was killed may have left a part of one."""
    lines = path.read_bytes().split(b"\n")[:-1]
    return [event_from_json(json.loads(line)) for line in lines]


async def watch(bird: Bird, path: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, str(WATCHER), bird.home, bird.id, str(path)), stdin=subprocess.PIPE
    )


async def test_client_killed_in_mid_turn_is_followed_by_another(aviary: Aviary) -> None:
    """The second goes on where the first was killed, and the turn never noticed."""
    bird = aviary.hatch()
    await bird.reason("hello")
    seen = aviary.root / "seen"
    first = await watch(bird, seen)
    while not seen.exists() or not shown(seen):  # noqa: ASYNC110 - a file of another process
        await asyncio.sleep(0.01)
    begun = await bird.prompt(STORY)
    await bird.until(lambda event: is_text(event, "10"), begun.seq)
    first.kill()
    await first.wait()
    before = len(shown(seen))
    second = await watch(bird, seen)
    ended = await bird.ended(begun)
    assert second.stdin is not None
    second.stdin.write(json.dumps({"upto": ended.seq}).encode() + b"\n")
    assert await second.wait() == 0
    assert ended.update["reason"] == "end_turn"
    assert 0 < before < len(bird.events())
    assert shown(seen)[: ended.seq] == bird.events(0, ended.seq)
    told = [event for event in shown(seen) if event.seq > begun.seq]
    assert text_of(told) == " ".join(map(str, range(40)))


async def test_client_that_started_everything_is_killed(aviary: Aviary) -> None:
    """The worker that it started, and the turn, live on."""
    bird = aviary.hatch()
    seen = aviary.root / "seen"
    first = await watch(bird, seen)
    assert first.stdin is not None
    prompt = [{"type": "text", "text": json.dumps({"play": STORY})}]
    command = {"do": "prompt", "id": "mine", "prompt": prompt}
    first.stdin.write(json.dumps(command).encode() + b"\n")
    begun = await bird.until(lambda event: event.cause == "mine")
    await bird.until(is_text, begun.seq)
    first.kill()
    await first.wait()
    ended = await bird.ended(begun)
    assert ended.update["reason"] == "end_turn"
    assert text_of(bird.events()) == " ".join(map(str, range(40)))


async def test_follower_of_a_sleeping_session_sees_a_later_prompt(aviary: Aviary) -> None:
    """It waits without waking anybody, over stop and start."""
    bird = aviary.hatch()
    async with bird.client() as client:
        following = client.follow()
        seen = [await anext(following)]  # the session's own making; nobody is awake
        assert not aviary.processes()
        for text in ("first", "second"):
            waiting = asyncio.create_task(read_to_the_end_of_a_turn(following))
            await bird.turn(text)
            seen += await waiting
            await bird.send("stop")
            await bird.gone(bird.worker)
        await following.aclose()  # type: ignore[attr-defined]
    assert seen == bird.events(0, seen[-1].seq)
    said = text_of(seen)
    assert "You said: first" in said
    assert "You said: second" in said


async def read_to_the_end_of_a_turn(following: AsyncIterator[Event]) -> list[Event]:
    seen = []
    async for event in following:
        seen.append(event)
        if is_idle(event):
            break
    return seen


async def test_follower_sees_the_end_of_a_worker_that_was_killed(aviary: Aviary) -> None:
    """Following is enough to have the post-mortem written."""
    bird = aviary.hatch()
    begun = await bird.prompt([{"text": "half"}, {"until": "cancelled"}])
    async with bird.client() as client:
        following = client.follow(begun.seq)
        async for event in following:
            if is_text(event):
                break
        tree.kill([bird.worker])
        [*_, last] = await read_to_the_end_of_a_turn(following)
        await following.aclose()  # type: ignore[attr-defined]
    assert last.update["reason"] == "interrupted"
