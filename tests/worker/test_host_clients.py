"""Clients of a real worker: many, slow, rude and repetitive ones; a command counts once."""

import asyncio
import json
import os
import signal
import stat
import sys

import pytest

from rookery.client.session import Rejected
from rookery.core.json.events import Event, kind_of
from rookery.processes import tree
from rookery.wire import frames
from tests.worker.aviary import Aviary, Bird, Steps, blocks, is_ask, is_idle
from tests.worker.plug import Plug

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

HELD: Steps = [{"ask": "Go on?", "allowed": [{"text": "went on"}]}]
MEBIBYTE = 1024 * 1024


def flood(count: int) -> Steps:
    """Updates that nothing merges, each a frame of 20 kB."""
    update = {"sessionUpdate": "odd_update", "text": "y" * 20_000}
    return [{"repeat": count, "steps": [{"update": update}]}]


async def test_socket_is_private(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn("hello")
    assert stat.S_IMODE(os.stat(bird.socket).st_mode) == 0o600
    assert len(bird.socket.encode()) <= 100


async def test_welcome_says_how_far_the_log_is(aviary: Aviary) -> None:
    """What is before that, is in the file."""
    bird = aviary.hatch()
    await bird.turn("hello")
    async with Plug.open(bird.socket, name="") as plug:
        await plug.write(frames.hello("test", "plug", 3))
        kind, body = await plug.frame() or ("", None)
    assert (kind, body["session"], body["protocol"]) == ("welcome", bird.id, 1)
    assert body["seq"] == bird.events()[-1].seq


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"no json\n", "malformed"),
        (b'{"command":{"id":"x","do":"cancel"}}\n', "unexpected"),
        (b'{"hello":{"protocol":99}}\n', "protocol"),
        (b"[" * 100_000 + b"\n", "malformed"),
        (b"x" * (frames.COMMAND_BYTES + 2) + b"\n", "too_long"),
    ],
)
async def test_rude_client_is_refused_and_hurts_nobody(
    aviary: Aviary, line: bytes, reason: str
) -> None:
    bird = aviary.hatch()
    await bird.turn("hello")
    worker = bird.worker
    async with Plug.open(bird.socket, name="") as plug:
        await plug.write(line)
        [(kind, body)] = await plug.all()
        assert (kind, body["reason"]) == ("refused", reason)
    assert await bird.reason("again") == "end_turn"
    assert bird.worker == worker


async def test_many_clients_hear_the_same(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt(HELD)
    ask = await bird.ask(begun)

    async def watch(since: int) -> list[Event]:
        seen = []
        async with bird.client() as client:
            async for event in client.follow(since):
                seen.append(event)
                if is_idle(event):
                    return seen
        return seen

    watching = [asyncio.create_task(watch(since)) for since in [0] * 10 + [begun.seq] * 10]
    await bird.answer(ask, "allow")
    seen = await asyncio.gather(*watching)
    ended = await bird.ended(begun)
    for since, events in zip([0] * 10 + [begun.seq] * 10, seen, strict=True):
        assert events == bird.events(since, ended.seq)


@linux
async def test_slow_client_is_told_that_it_lags(aviary: Aviary) -> None:
    """40 MB of news wait for nobody; the worker's memory stays as it was."""
    bird = aviary.hatch()
    await bird.turn(flood(20))
    before = tree.private_memory(bird.worker.pid)
    async with Plug.open(bird.socket) as plug:
        events = await bird.turn(flood(2000))
        after = tree.private_memory(bird.worker.pid)
        assert before is not None
        assert after is not None
        assert after - before < 16 * MEBIBYTE
        _, seq = await plug.until("lagged")
        assert seq <= events[-1].seq + 1  # the snapshot that follows the turn
        # From there on it hears all the news again.
        await bird.send("rename", title="Heard")
        _, body = await plug.until("event")
    assert body["update"] == {"sessionUpdate": "_session", "title": "Heard"}


async def test_slow_follower_catches_up_from_the_file(aviary: Aviary) -> None:
    """Each event once, in order, whatever the socket left out."""
    bird = aviary.hatch()
    await bird.turn("hello")
    async with bird.client() as client:
        following = client.follow(0)
        seen = [await anext(following)]
        events = await bird.turn(flood(300))
        while seen[-1].seq < events[-1].seq:
            seen.append(await anext(following))
        await following.aclose()  # type: ignore[attr-defined]
    assert seen == bird.events(0, events[-1].seq)


async def test_event_too_large_for_a_frame_is_read_from_the_file(aviary: Aviary) -> None:
    """Frames are capped, storage is not."""
    bird = aviary.hatch()
    await bird.turn("hello")
    huge = {"sessionUpdate": "odd_update", "text": "z" * 200_000}
    async with Plug.open(bird.socket) as plug:
        events = await bird.turn([{"update": huge}])
        behind = [await plug.until("behind") for _ in range(2)]
    large = [event.seq for event in events if len(json.dumps(event)) > frames.NEWS_BYTES]
    assert [seq for _, seq in behind] == large  # the prompt itself, and what it brought
    assert huge in [event.update for event in events]


async def test_first_answer_wins(aviary: Aviary) -> None:
    """From any client; the second is quietly told, and the log says who answered."""
    bird = aviary.hatch()
    begun = await bird.prompt([{"ask": "?", "allowed": [{"text": "yes"}], "rejected": []}])
    ask = await bird.ask(begun)
    answers = await asyncio.gather(
        bird.answer(ask, "allow", id="first"), bird.answer(ask, "reject", id="second")
    )
    closed = [event for event in answers if kind_of(event.update) == "_ask"]
    done = [event for event in answers if kind_of(event.update) == "_done"]
    assert (len(closed), len(done)) == (1, 1)
    assert closed[0].by == f"test:{os.getpid()}"
    assert closed[0].update["outcome"]["outcome"] == "selected"
    await bird.ended(begun)
    late = await bird.answer(ask, "allow")
    assert kind_of(late.update) == "_done"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"nonce": "guessed"}, "wrong_nonce"), ({"option": "whatever"}, "unknown_option")],
)
async def test_wrong_answer_is_refused_and_the_ask_stays(
    aviary: Aviary, fields: dict, reason: str
) -> None:
    bird = aviary.hatch()
    ask = await bird.ask(await bird.prompt(HELD))
    with pytest.raises(Rejected) as refused:
        await bird.send(
            "answer", **{"ask": ask["id"], "nonce": ask["nonce"], "option": "allow"} | fields
        )
    assert refused.value.reason == reason
    assert ask["id"] in bird.header().asks


def prompts(bird: Bird, id: str) -> list[Event]:
    return [event for event in bird.events() if event.cause == id]


async def test_command_that_is_sent_twice_counts_once(aviary: Aviary) -> None:
    bird = aviary.hatch()
    one, other = await asyncio.gather(
        bird.prompt("hello", id="twice"), bird.prompt("hello", id="twice")
    )
    assert one == other == prompts(bird, "twice")[0]
    await bird.ended(one)
    async with Plug.open(bird.socket) as plug:
        for _ in range(3):
            await plug.command({"id": "twice", "do": "prompt", "prompt": blocks("hello")})
        await plug.command({"id": "after", "do": "rename", "title": "After"})
        await bird.until(lambda event: event.cause == "after")
    assert len(prompts(bird, "twice")) == 1
    assert sum(kind_of(event.update) == "_prompt" for event in bird.events()) == 1


async def test_command_that_is_sent_again_after_a_kill_counts_once(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt(HELD, id="mine")
    await bird.ask(begun)
    worker, warden = bird.worker, bird.warden
    tree.kill([worker])
    await bird.gone(worker, warden)
    assert await bird.prompt(HELD, id="mine") == begun
    assert len(prompts(bird, "mine")) == 1
    assert (await bird.ended(begun)).update["reason"] == "interrupted"


async def test_prompt_to_a_worker_that_dies_of_it_is_sent_again(aviary: Aviary) -> None:
    """Law 5: the client owns the retry; a worker that is stopped and killed loses no command."""
    bird = aviary.hatch()
    await bird.turn("hello")
    os.kill(bird.worker.pid, signal.SIGSTOP)
    sending = asyncio.create_task(bird.prompt("survive", id="survivor"))
    async with Plug.open(bird.socket, name=""):  # the prompt is on its way meanwhile
        pass
    tree.kill([bird.worker])
    begun = await sending
    assert begun.cause == "survivor"
    assert (await bird.ended(begun)).update["reason"] == "end_turn"
    assert len(prompts(bird, "survivor")) == 1


async def test_ask_is_heard_by_who_comes_later(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.prompt(HELD)
    first = await bird.until(is_ask)
    again = await bird.until(is_ask)
    assert json.dumps(first) == json.dumps(again)
