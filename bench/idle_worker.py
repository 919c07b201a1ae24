"""idle_worker_mb: what a session costs that is awake and does nothing: the private memory of its
worker and its warden.

No agent is there yet: the worker was started and has carried out one rename. What it keeps after
its first turn, still without the agent's own memory, is told beside it, as
idle_worker_after_turn_mb. Medians over some sessions.
"""

import asyncio
import sys
from statistics import median

from bench.figures import Aim, Benchmark, run_alone
from bench.roost import Roost, play, private_mb, roost, take_turn

SESSIONS = 5
PATIENCE = 60.0


def pair_mb(place: Roost, session: str) -> float:
    worker = place.worker(session)
    return private_mb(worker["pid"], worker["warden"])


async def session_mb(place: Roost) -> tuple[float, float]:
    """A session's memory before its first turn, and after it."""
    session = place.session()
    client = place.client(session)
    try:
        async with asyncio.timeout(PATIENCE):
            await client.send({"do": "rename", "title": "idle"}, wake=True)
            before = pair_mb(place, session)
            await take_turn(client, play({"text": "Good morning."}))
    finally:
        client.close()
    return before, pair_mb(place, session)


def measure() -> dict[str, float]:
    with roost() as place:
        found = [asyncio.run(session_mb(place)) for _ in range(SESSIONS)]
    before, after = (median(column) for column in zip(*found, strict=True))
    return {"idle_worker_mb": before, "idle_worker_after_turn_mb": after}


BENCHMARK = Benchmark(
    (Aim("idle_worker_mb", "MB", below=25), Aim("idle_worker_after_turn_mb", "MB")), measure
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
