"""daemon_idle_percent: the CPU time that the daemon alone takes while nobody does anything, in
percent of one core, over a minute: 1,000 sessions are on disk, 20 of them awake.

api_ps_ms: what it takes to answer `GET /api/sessions` there, a median.
"""

import asyncio
import json
import sys
from statistics import median
from time import perf_counter, sleep

from bench.daemons import Api, served
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.flood import wake
from bench.idle_cpu import spent
from bench.log_scale import turn
from bench.roost import Roost, roost
from rookery.client.create import create_session, write_head
from rookery.home import paths
from rookery.log.store import Writer
from rookery.search.update import update

SESSIONS, AWAKE = 1_000, 20
SECONDS = 60.0
SETTLE = 10.0
"""Seconds in which the daemon has read all heads, and indexed what is new."""
RUNS = 51


def asleep(place: Roost, number: int) -> None:
    title = f"session {number}"
    name = create_session(place.home, agent="demo", argv=[], cwd=place.home, title=title)
    directory = paths.session_dir(place.home, name)
    with Writer.open(directory) as writer:
        last = writer.append(turn(1))[-1]
        write_head(directory, writer.header, last.seq, last.at)


async def fill(place: Roost) -> None:
    for number in range(SESSIONS - AWAKE):
        asleep(place, number)
    for _ in range(AWAKE):
        await wake(place)


def ps_seconds(api: Api) -> float:
    began = perf_counter()
    body = api.get("/api/sessions")
    taken = perf_counter() - began
    found = json.loads(body)
    awake = sum(head["awake"] for head in found["sessions"])
    if (found["total"], awake) != (SESSIONS, AWAKE):
        raise RuntimeError(f"{found['total']} sessions are listed, {awake} awake")
    return taken


def measure() -> dict[str, float]:
    with roost() as place:
        asyncio.run(fill(place))
        update(place.home)
        with served(place) as there, Api(there) as api:
            sleep(SETTLE)
            before = spent([there.pid])[there.pid]
            sleep(SECONDS)
            after = spent([there.pid])[there.pid]
            taken = [ps_seconds(api) for _ in range(RUNS)]
    used, woken = after.seconds - before.seconds, after.wakeups - before.wakeups
    progress(f"daemon_idle: {woken / SECONDS:.1f} wakeups/s; ps at most {max(taken) * 1e3:.0f} ms")
    return {
        "daemon_idle_percent": 100 * used / SECONDS,
        "api_ps_ms": median(taken) * 1e3,
    }


BENCHMARK = Benchmark(
    (Aim("daemon_idle_percent", "%", below=1), Aim("api_ps_ms", "ms", below=50)), measure
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
