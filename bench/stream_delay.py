"""stream_delay_ms: what we add to the 30 ms window in which text chunks are gathered.

The player writes 200 chunks a second, each with the time of its writing. An event's delay is that
of its OLDEST chunk, from the agent's write to the client's receipt, minus the window: nobody waits
longer than the oldest. An event that holds one chunk and came within a window of its writing went
at once (it opened the window), and its delay counts as it is. The figure is the median.

The oldest chunk of an event may have come some milliseconds after its window opened, and then did
not wait for all of it: the figure is a little too low, by at most the 5 ms between two chunks, and
may be negative. `stream_delay_most_ms` is a little too high instead: it counts from the newest
chunk of the event BEFORE, which came before the window opened. The truth lies between the two.
"""

import asyncio
import sys
from itertools import pairwise
from statistics import median

from bench.figures import Aim, Benchmark, run_alone
from bench.flood import Received, Seen, flood, wake
from bench.roost import roost
from rookery.core.limits import Policy

CHUNKS = 1000
EVERY = 1 / 200
SIZE = 32
PATIENCE = 60.0
WINDOW = Policy().chunk_window * 1e9


async def observe() -> Seen:
    with roost() as place:
        session = await wake(place)
        step = {"flood": CHUNKS, "size": SIZE, "every": EVERY, "stamp": True}
        return await flood(place, session, step, PATIENCE)


def stamps(event: Received) -> list[int]:
    """When each chunk of an event was written."""
    pieces = [event.text[at : at + SIZE] for at in range(0, len(event.text), SIZE)]
    return [int(piece.split()[0]) for piece in pieces]


def delay(event: Received) -> float:
    """Nanoseconds beyond the window."""
    written = stamps(event)
    taken = event.at - written[0]
    return taken if len(written) == 1 and taken < WINDOW else taken - WINDOW


def most(before: Received, event: Received) -> float:
    return event.at - stamps(before)[-1] - WINDOW


def measure() -> dict[str, float]:
    events = asyncio.run(observe()).events
    numbers = [
        int(piece) for event in events for piece in event.text.replace(".", "").split()[1::2]
    ]
    if numbers != list(range(CHUNKS)):
        raise ValueError("the client did not receive all chunks in order")
    delays = [delay(event) for event in events]
    bounds = [most(*pair) for pair in pairwise(events)]
    return {
        "stream_delay_ms": median(delays) / 1e6,
        "stream_delay_most_ms": median(bounds) / 1e6,
    }


BENCHMARK = Benchmark(
    (Aim("stream_delay_ms", "ms", below=5), Aim("stream_delay_most_ms", "ms")), measure
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
