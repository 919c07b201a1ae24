"""api_open_ratio: how long until the end of a session of 100,000 events is there, to its last byte,
against a session of 100 events made of the same turns.

Asked of a daemon in both ways: the session's document over HTTP, and the snapshot of a stream that
subscribes to it. Medians of runs that take turns; the figure is the worse of the two ratios.
"""

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median
from time import perf_counter, sleep

from bench.daemons import Api, served, snapshot, streaming
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.log_scale import TURN, turn
from bench.roost import Roost, roost
from rookery.client.create import create_session
from rookery.home import paths
from rookery.log.store import Writer

SMALL, LARGE = 100, 100_000
BATCH = 100
"""Turns in one transaction."""
RUNS = 101
SETTLE = 8.0
"""Seconds in which the daemon has indexed what it found."""


def session(place: Roost, events: int) -> str:
    name = create_session(place.home, agent="demo", argv=[], cwd=place.home, title=f"{events}")
    with Writer.open(paths.session_dir(place.home, name)) as writer:
        turns = events // TURN
        for first in range(1, turns + 1, BATCH):
            some = range(first, min(first + BATCH, turns + 1))
            writer.append([draft for number in some for draft in turn(number)])
    return name


def seconds(opened: Callable[[str], str | bytes], name: str) -> float:
    began = perf_counter()
    body = opened(name)
    taken = perf_counter() - began
    found = json.loads(body)
    if not found.get("snapshot", found)["blocks"]:
        raise ValueError("nothing can be read")
    return taken


def measure() -> dict[str, float]:
    with roost() as place, ExitStack() as undo:
        small, large = session(place, SMALL), session(place, LARGE)
        there = undo.enter_context(served(place))
        sleep(SETTLE)
        api = undo.enter_context(Api(there))
        link = undo.enter_context(streaming(there))
        ways: dict[str, Callable[[str], str | bytes]] = {
            "document": lambda name: api.get(f"/api/sessions/{name}/document"),
            "stream": lambda name: snapshot(link, name),
        }
        worst = 0.0
        for way, opened in ways.items():
            taken = [(seconds(opened, large), seconds(opened, small)) for _ in range(RUNS)]
            slow, quick = (median(column) * 1e3 for column in zip(*taken, strict=True))
            progress(f"api_open: {way}: {slow:.2f} ms against {quick:.2f} ms")
            worst = max(worst, slow / quick)
    return {"api_open_ratio": worst}


BENCHMARK = Benchmark((Aim("api_open_ratio", "x", below=1.5),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
