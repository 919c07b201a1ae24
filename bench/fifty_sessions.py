"""fifty_sessions_mb: what fifty awake sessions cost together, each idle after one turn of the
player: the private memory of their workers, wardens and players."""

import asyncio
import sys

from bench.figures import Aim, Benchmark, run_alone
from bench.roost import Roost, play, private_mb, roost, take_turn

SESSIONS = 50
AT_ONCE = 2
PATIENCE = 120.0


async def take_one_turn(place: Roost, session: str, slots: asyncio.Semaphore) -> None:
    async with slots, asyncio.timeout(PATIENCE):
        client = place.client(session)
        try:
            await take_turn(client, play({"text": "Good morning."}))
        finally:
            client.close()


async def fill(place: Roost) -> list[str]:
    sessions = [place.session() for _ in range(SESSIONS)]
    slots = asyncio.Semaphore(AT_ONCE)
    async with asyncio.TaskGroup() as group:
        for session in sessions:
            group.create_task(take_one_turn(place, session, slots))
    return sessions


def measure() -> dict[str, float]:
    with roost() as place:
        workers = [place.worker(session) for session in asyncio.run(fill(place))]
        pids = [worker[name] for worker in workers for name in ("pid", "warden", "agentPid")]
        return {"fifty_sessions_mb": private_mb(*pids)}


BENCHMARK = Benchmark((Aim("fifty_sessions_mb", "MB", below=1_500),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
