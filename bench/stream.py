"""stream_chunks_per_s: text chunks per second from an agent's stdout to a client that follows.

The player writes numbered chunks as fast as the pipe takes them; they go through worker and log to
a client in another process. The clock runs in that client, from the turn's beginning to the event
that holds the last chunk. An event is sent when it is committed: what the client has is durable.
Both what it received and what the log holds must be all chunks in their order, else the run counts
for nothing.
"""

import asyncio
import sys
from statistics import median

from bench.figures import Aim, Benchmark, progress, run_alone
from bench.flood import flood, wake
from bench.roost import roost

RUNS = 3
CHUNKS = 200_000
SIZE = 20
"""Characters: a token or two, and the number that tells the chunk's place."""

PATIENCE = 120.0


async def chunks_per_second() -> list[float]:
    expected = "".join(f"{number} ".ljust(SIZE, ".") for number in range(CHUNKS))
    rates = []
    with roost() as place:
        session = await wake(place)
        for _ in range(RUNS):
            seen = await flood(place, session, {"flood": CHUNKS, "size": SIZE}, PATIENCE)
            if "".join(event.text for event in seen.events) != expected:
                raise ValueError("the client did not receive all chunks in order")
            if seen.logged != expected:
                raise ValueError("the log does not hold all chunks in order")
            rates.append(CHUNKS / (seen.events[-1].at - seen.began) * 1e9)
            progress(f"stream: {rates[-1]:,.0f} chunks/s in {len(seen.events)} events")
    return rates


def measure() -> dict[str, float]:
    return {"stream_chunks_per_s": median(asyncio.run(chunks_per_second()))}


BENCHMARK = Benchmark((Aim("stream_chunks_per_s", "chunks/s", least=20_000),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
