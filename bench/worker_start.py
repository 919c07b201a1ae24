"""worker_start_ratio: from starting a worker to its first accepted command, in starts of an empty
Python.

The command is a rename, sent to a session that sleeps: the clock stops when the client has seen its
outcome, which the worker has committed by then. Medians of runs that take turns.
"""

import asyncio
import sys
from statistics import median
from time import perf_counter

from bench.figures import Aim, Benchmark, run_alone
from bench.roost import Roost, roost
from bench.version import EMPTY, seconds
from rookery.client import fleet

RUNS = 15
PATIENCE = 30.0


async def start_seconds(place: Roost) -> float:
    session = place.session()
    client = place.client(session)
    try:
        async with asyncio.timeout(PATIENCE):
            began = perf_counter()
            await client.send({"do": "rename", "title": "awake"}, wake=True)
            taken = perf_counter() - began
    finally:
        client.close()
        fleet.kill(place.home, session)
    return taken


def measure() -> dict[str, float]:
    with roost() as place:
        asyncio.run(start_seconds(place))
        taken = [(asyncio.run(start_seconds(place)), seconds(EMPTY)) for _ in range(RUNS)]
    ours, empty = zip(*taken, strict=True)
    return {"worker_start_ratio": median(ours) / median(empty)}


BENCHMARK = Benchmark((Aim("worker_start_ratio", "x", below=15),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
