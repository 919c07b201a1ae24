"""log_scale_ratio: whether a long session opens and is followed as quickly as a short one.

A log of a million events against one of a thousand, made of the same turns. Opening is what a
client does first: open the file, read the last turn and the header before it, and fold them.
Tailing is what it does then: read what came after a seq. Medians of runs that take turns; the
figure is the worse of the two ratios.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import NamedTuple

from bench.figures import Aim, Benchmark, progress, run_alone
from rookery.core.json.events import Draft, Json
from rookery.core.view.reduce import fold
from rookery.log.reader import Reader
from rookery.log.store import Writer

SMALL, LARGE = 1_000, 1_000_000
TURN = 100
"""Events in a turn."""
BATCH = 100
"""Turns in one transaction."""
RUNS = 101
NEWS = 10
"""Events that a tail has to read."""


def turn(number: int) -> list[Draft]:
    """A turn as agents have them: a prompt, thoughts, tool calls, an answer in pieces, an end."""
    begin = [
        Draft({"sessionUpdate": "_prompt", "prompt": [_text("Go on, please.")], "turn": number}),
        Draft({"sessionUpdate": "_turn", "state": "running", "turn": number}),
    ]
    end: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": number, "reason": "end_turn"}
    middle: list[Draft] = []
    for call in range((TURN - 3) // 12):
        middle += _step(f"{number}-{call}")
    while len(middle) < TURN - 3:
        middle.append(Draft(_chunk("agent_message_chunk", "And that is how it is done. ")))
    return [*begin, *middle, Draft(end)]


def _step(name: str) -> list[Draft]:
    """A thought, a tool call with its result, and some words about it: 12 events."""
    tool: Json = {"toolCallId": name, "title": "Read src/main.py", "kind": "read"}
    diff = {"type": "content", "content": _text("def main() -> None:\n    pass\n" * 5)}
    updates: list[Json] = [
        *(_chunk("agent_thought_chunk", "I should look at that file first. ") for _ in range(4)),
        {"sessionUpdate": "tool_call", **tool, "status": "pending"},
        {"sessionUpdate": "tool_call_update", **tool, "status": "in_progress"},
        {"sessionUpdate": "tool_call_update", **tool, "status": "completed", "content": [diff]},
        *(_chunk("agent_message_chunk", "The file has what we need, so ") for _ in range(5)),
    ]
    return [Draft(update) for update in updates]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _chunk(kind: str, text: str) -> Json:
    return {"sessionUpdate": kind, "content": _text(text), "messageId": "m1"}


class Log(NamedTuple):
    directory: str
    events: int


def build(directory: str, events: int) -> Log:
    began = perf_counter()
    turns = events // TURN
    with Writer.open(directory, create=True) as writer:
        for first in range(1, turns + 1, BATCH):
            last = min(first + BATCH, turns + 1)
            writer.append([draft for number in range(first, last) for draft in turn(number)])
        if writer.last_seq != events:
            raise ValueError(f"{writer.last_seq} events instead of {events}")
    progress(f"log_scale: {events:,} events in {perf_counter() - began:.1f} s")
    return Log(directory, events)


def open_seconds(log: Log) -> float:
    began = perf_counter()
    with Reader.open(log.directory) as reader:
        document = fold(*reader.part()[:2])
        taken = perf_counter() - began
    if not document.blocks:
        raise ValueError("the last turn is empty")
    return taken


def tail_seconds(log: Log) -> float:
    # Whoever follows knows where it stands, and finds its pages stale after each commit: so with a
    # reader that has read nothing yet, and without asking for the last seq.
    with Reader.open(log.directory) as reader:
        began = perf_counter()
        news = reader.read(log.events - NEWS)
        taken = perf_counter() - began
    if len(news) != NEWS:
        raise ValueError(f"{len(news)} events are news, instead of {NEWS}")
    return taken


def ratio(seconds: Callable[[Log], float], short: Log, long: Log) -> float:
    taken = [(seconds(long), seconds(short)) for _ in range(RUNS)]
    slow, quick = median(large for large, _ in taken), median(small for _, small in taken)
    progress(f"log_scale: {seconds.__name__}: {slow * 1e3:.3f} ms against {quick * 1e3:.3f} ms")
    return slow / quick


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="rkb-") as place:
        small = build(os.path.join(place, "small"), SMALL)
        large = build(os.path.join(place, "large"), LARGE)
        ratios = [ratio(seconds, small, large) for seconds in (open_seconds, tail_seconds)]
    return {"log_scale_ratio": max(ratios)}


BENCHMARK = Benchmark((Aim("log_scale_ratio", "x", below=1.3),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
