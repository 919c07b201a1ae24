"""adoption_s: a daemon is killed while 20 sessions stream to one of its clients; how long it takes
from the start of the next daemon until it lists all of them as awake, and that client, which goes
on from its seq, has heard something new of each.

At the end of all turns it must have every event of every log, in order, else the run counts for
nothing. The worst of five.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bench.daemons import Api, Place, served, started
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.flood import wake
from bench.roost import play, roost, take_turn

SESSIONS = 20
KILLS = 5
EVERY = 0.1
CHUNKS = 300
"""Of each turn: it takes half a minute, longer than all the kills together."""
BETWEEN = 1.0
PATIENCE = 120.0


class Follower:
    """One client of all sessions, over one connection at a time."""

    def __init__(self, sessions: list[str]) -> None:
        self.heard: dict[str, list[int]] = {session: [0] for session in sessions}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def follow(self, place: Place) -> None:
        self._task = asyncio.create_task(self._follow(place), name="follow")

    async def over(self) -> None:
        """Its daemon is gone."""
        assert self._task is not None
        await self._task

    def end(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _follow(self, place: Place) -> None:
        address, headers = place.stream, place.headers
        with suppress(ConnectionClosed):
            async with connect(address, additional_headers=headers, max_size=None) as link:
                for session in self.heard:
                    await self._subscribe(link, session)
                async for message in link:
                    ((kind, body),) = json.loads(message).items()
                    if kind == "lagged":
                        await self._subscribe(link, body["topic"])
                    elif kind == "events":
                        self.heard[body["topic"]] += [event["seq"] for event in body["events"]]
                        self._news.set()
                    else:
                        raise RuntimeError(f"the daemon said {kind}: {body}")

    async def _subscribe(self, link: ClientConnection, session: str) -> None:
        wanted = {"topic": session, "form": "events", "after": self.heard[session][-1]}
        await link.send(json.dumps({"subscribe": wanted}))

    def seqs(self) -> dict[str, int]:
        return {session: seqs[-1] for session, seqs in self.heard.items()}

    async def until(self, holds: Callable[[dict[str, int]], bool]) -> None:
        while not holds(self.seqs()):
            self._news.clear()
            await self._news.wait()


def _awake(place: Place) -> int:
    with Api(place) as api:
        return sum(head["awake"] for head in json.loads(api.get("/api/sessions"))["sessions"])


def _kill(place: Place) -> None:
    os.kill(place.pid, signal.SIGKILL)
    os.waitpid(place.pid, 0)


async def adopted(place: Place, follower: Follower) -> tuple[Place, float]:
    """The next daemon, and the seconds until it has all sessions."""
    began = monotonic()
    place = await asyncio.to_thread(started, place.roost, place.token)
    before = follower.seqs()
    follower.follow(place)
    if await asyncio.to_thread(_awake, place) != SESSIONS:
        raise RuntimeError("not all sessions are awake")
    await follower.until(lambda now: all(now[each] > before[each] for each in before))
    return place, monotonic() - began


async def ordeal(place: Place) -> float:
    sessions = [await wake(place.roost) for _ in range(SESSIONS)]
    clients = [place.roost.client(session) for session in sessions]
    follower = Follower(sessions)
    step = {"flood": CHUNKS, "size": 40, "every": EVERY}
    taken = []
    try:
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            turns = [group.create_task(take_turn(client, play(step))) for client in clients]
            follower.follow(place)
            for _ in range(KILLS):
                await asyncio.sleep(BETWEEN)
                await asyncio.to_thread(_kill, place)
                await follower.over()
                place, seconds = await adopted(place, follower)
                taken.append(seconds)
            if any(turn.done() for turn in turns):
                raise RuntimeError("a turn was over before the last kill")
            await asyncio.gather(*turns)
            ends = {
                session: turn.result().seq for session, turn in zip(sessions, turns, strict=True)
            }
            await follower.until(lambda now: all(now[each] >= ends[each] for each in ends))
    finally:
        follower.end()
        for client in clients:
            client.close()
    for session, seqs in follower.heard.items():
        if seqs != list(range(len(seqs))):
            raise ValueError(f"{session}: an event was lost, or came twice")
    progress(f"adoption: {', '.join(f'{each:.2f}' for each in taken)} s")
    return max(taken)


def measure() -> dict[str, float]:
    with roost() as place, served(place) as there:
        return {"adoption_s": asyncio.run(ordeal(there))}


BENCHMARK = Benchmark((Aim("adoption_s", "s", below=2),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
