"""scale_ps_ms and scale_tui_ms: how long `rookery ps` takes, and how long until the terminal
interface can be written to, while 200 sessions of the home are awake.

The sessions are started one after another, each has had a turn of the player and waits. Medians.
`session_private_mb`: what one of them costs: the private memory of its worker and its warden, a
median; `scale_total_mb`: all of them with their players.
"""

import asyncio
import sys
from statistics import median

from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import Roost, play, private_mb, roost, take_turn
from bench.screen import Screen
from bench.tui_paint import ROOKERY
from bench.version import seconds
from rookery.client import fleet

SESSIONS = 200
RUNS = 7
PATIENCE = 120.0


async def take_one_turn(place: Roost) -> str:
    session = place.session()
    client = place.client(session)
    try:
        async with asyncio.timeout(PATIENCE):
            await take_turn(client, play({"text": "Good morning."}))
    finally:
        client.close()
    return session


async def fill(place: Roost) -> list[str]:
    return [await take_one_turn(place) for _ in range(SESSIONS)]


def paint_seconds() -> float:
    screen = Screen(ROOKERY)
    try:
        return screen.wait_for("Write here")
    finally:
        screen.end()


def measure() -> dict[str, float]:
    with roost(max_workers=SESSIONS) as place:
        workers = [place.worker(session) for session in asyncio.run(fill(place))]
        awake = sum(head["awake"] for head in fleet.heads(place.home))
        if awake != SESSIONS:
            raise RuntimeError(f"only {awake} sessions are awake")
        listed = median(seconds((*ROOKERY, "ps")) for _ in range(RUNS))
        painted = median(paint_seconds() for _ in range(RUNS))
        pairs = [private_mb(worker["pid"], worker["warden"]) for worker in workers]
        players = private_mb(*(worker["agentPid"] for worker in workers))
        progress(f"scale: {min(pairs):.1f} to {max(pairs):.1f} MB for a worker and its warden")
    return {
        "scale_ps_ms": listed * 1e3,
        "scale_tui_ms": painted * 1e3,
        "session_private_mb": median(pairs),
        "scale_total_mb": sum(pairs) + players,
    }


BENCHMARK = Benchmark(
    (
        Aim("scale_ps_ms", "ms", below=500),
        Aim("scale_tui_ms", "ms", below=2_000),
        Aim("session_private_mb", "MB", below=25),
        Aim("scale_total_mb", "MB"),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
