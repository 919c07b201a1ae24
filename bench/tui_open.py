"""tui_open_ratio: whether a session of 100,000 events is shown as quickly as one of 100;
tui_memory_mb: what the program takes with ten sessions visited and the long one scrolled.

In one program, without a terminal: from the wish to open a session until its last line is painted.
"""

import asyncio
import os
import sys
from statistics import median
from time import perf_counter

from bench import log_scale
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import Roost, private_mb, roost
from rookery.client.create import create_session
from rookery.home import paths
from rookery.log.store import Writer
from rookery.tui.app import Rookery
from rookery.tui.shell import Start

SHORT, LONG = 100, 100_000
RUNS = 15


def _session(place: Roost, events: int) -> str:
    name = create_session(place.home, agent="demo", argv=[], cwd=place.home, title=f"{events}")
    with Writer.open(paths.session_dir(place.home, name)) as writer:
        turns = events // log_scale.TURN
        for first in range(1, turns + 1, log_scale.BATCH):
            last = min(first + log_scale.BATCH, turns + 1)
            writer.append([draft for n in range(first, last) for draft in log_scale.turn(n)])
    return name


async def _opened(app: Rookery, session: str) -> float:
    began = perf_counter()
    app.open_session(session)
    while app.window.header.id != session or not app.transcript._items:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    taken = perf_counter() - began
    await asyncio.sleep(0.05)
    return taken


async def _visit(place: Roost) -> dict[str, float]:
    short, long = _session(place, SHORT), _session(place, LONG)
    others = [_session(place, 1_000) for _ in range(8)]
    app = Rookery(Start(place.home, place.home))
    async with app.run_test(size=(160, 50)) as pilot:
        await pilot.pause(1.0)
        times = [(await _opened(app, long), await _opened(app, short)) for _ in range(RUNS)]
        slow, quick = (median(column) for column in zip(*times, strict=True))
        progress(f"tui_open: {slow * 1e3:.1f} ms against {quick * 1e3:.1f} ms")
        for other in others:
            await _opened(app, other)
        await _opened(app, long)
        app.transcript.focus()
        for _ in range(100):
            await pilot.press("home")
        progress(f"tui_open: scrolled over {len(app.window.items())} items")
        memory = private_mb(os.getpid())
        await app.action_quit()
    return {"tui_open_ratio": slow / quick, "tui_memory_mb": memory}


def measure() -> dict[str, float]:
    with roost() as place:
        return asyncio.run(_visit(place))


AIMS = (Aim("tui_open_ratio", "x", below=1.5), Aim("tui_memory_mb", "MB", below=120))
BENCHMARK = Benchmark(AIMS, measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
