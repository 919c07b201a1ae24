"""open_large_turn_ms: how long until a session is shown whose last turn has 30 MB, the worse of
`rookery show` and the terminal interface's first paint; open_large_turn_ratio: against a session
whose last turn has 30 kB.

Each is opened by a process of its own: `show` until it has ended, the interface in tmux until the
turn's last words are on the screen. Of every shape that a large turn has (one message in many
chunks, many calls with outputs, one call with one output, very many tiny chunks) the median of runs
that take turns with the small one; the figures are the worst of them.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import batched
from statistics import median
from time import perf_counter

from bench.bytecode import HERE
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import Roost, roost
from bench.screen import Screen
from rookery.client.create import create_session
from rookery.core.json.events import Draft, Json
from rookery.home import paths
from rookery.log.store import Writer

LARGE, SMALL = 30_000_000, 30_000
TINY = 200_000
"""Chunks of a word each."""
RUNS = 5
BATCH = 50
"""Events in one transaction, as a worker that is busy commits them."""

ROOKERY = os.path.join(os.path.dirname(HERE), ".venv", "bin", "rookery")
LAST = "Those were the last words."
LINE = "A line of text, as agents write them: neither short nor very long, with a full stop.\n"

type Turn = Callable[[int], Iterator[Json]]


def message(size: int) -> Iterator[Json]:
    return (_chunk(_text(2_000)) for _ in range(size // 2_000))


def calls(size: int) -> Iterator[Json]:
    """About 10 kB each."""
    for number in range(size // 10_000):
        yield from _call(f"c{number}", _text(10_000))


def call(size: int) -> Iterator[Json]:
    return _call("c", _text(size))


def tiny(_size: int) -> Iterator[Json]:
    return (_chunk("word ") for _ in range(TINY))


SHAPES: tuple[Turn, ...] = (message, calls, call, tiny)


def _call(name: str, output: str) -> Iterator[Json]:
    about: Json = {"toolCallId": name, "title": f"Run {name}", "kind": "execute"}
    content = {"type": "content", "content": {"type": "text", "text": output}}
    yield {"sessionUpdate": "tool_call", **about, "status": "in_progress"}
    done: Json = {"toolCallId": name, "status": "completed", "content": [content]}
    yield {"sessionUpdate": "tool_call_update", **done}


def _chunk(text: str, name: str = "m") -> Json:
    content = {"type": "text", "text": text}
    return {"sessionUpdate": "agent_message_chunk", "content": content, "messageId": name}


def _text(size: int) -> str:
    return (LINE * (size // len(LINE) + 1))[:size]


def session(place: Roost, turn: Turn, size: int) -> str:
    name = create_session(place.home, agent="demo", argv=[], cwd=place.home, title=turn.__name__)
    prompt = {"sessionUpdate": "_prompt", "prompt": [{"type": "text", "text": "Go on, please."}]}
    ended: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "end_turn"}
    with Writer.open(paths.session_dir(place.home, name)) as writer:
        writer.append([Draft(prompt), Draft({"sessionUpdate": "_turn", "state": "running"})])
        for some in batched(turn(size), BATCH):
            writer.append([Draft(update) for update in some])
        writer.append([Draft(_chunk(LAST, "last")), Draft(ended)])
    return name


def show_seconds(name: str) -> float:
    began = perf_counter()
    done = subprocess.run([ROOKERY, "show", name], check=True, capture_output=True)
    taken = perf_counter() - began
    if LAST.encode() not in done.stdout:
        raise ValueError(f"show {name} ended without the last words")
    return taken


def paint_seconds(name: str) -> float:
    screen = Screen((ROOKERY, "--resume", name))
    try:
        return screen.wait_for(LAST)
    finally:
        screen.end()


def measure() -> dict[str, float]:
    slowest, ratio = 0.0, 0.0
    with roost() as place:
        small = session(place, message, SMALL)
        for shape in SHAPES:
            large = session(place, shape, LARGE)
            for seconds in (show_seconds, paint_seconds):
                taken = [(seconds(large), seconds(small)) for _ in range(RUNS)]
                slow, quick = (median(column) for column in zip(*taken, strict=True))
                progress(
                    f"open_large: {shape.__name__}, {seconds.__name__}: "
                    f"{slow * 1e3:.0f} ms against {quick * 1e3:.0f} ms"
                )
                slowest, ratio = max(slowest, slow), max(ratio, slow / quick)
    return {"open_large_turn_ms": slowest * 1e3, "open_large_turn_ratio": ratio}


AIMS = (
    Aim("open_large_turn_ms", "ms", below=1000),
    Aim("open_large_turn_ratio", "x", below=3),
)
BENCHMARK = Benchmark(AIMS, measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
