"""search_ms, search_index_events_per_s, search_index_ratio: search over everything ever said.

A million events in sessions that overlap in time, each with 200 bytes of text and more: prompts,
answers and thoughts in chunks (English prose), calls with their output (code). The median of 200
queries of one to four words, common and rare, with snippets, after each was asked once. Events per
second of one update from nothing. The size of the index against the text alone, without the JSON
around it. Then the index is deleted, and the same queries must have the same hits in the same
order.
"""

import os
import random
import re
import shutil
import sys
import sysconfig
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.figures import Aim, Benchmark, progress, run_alone
from rookery.core.json import Draft, Json, dumps
from rookery.home import paths
from rookery.log.store import Writer
from rookery.search import index
from rookery.search.query import Answer, query
from rookery.search.update import update

EVENTS = 1_000_000
SESSIONS = 500
TURN = 100
"""Events in a turn."""
BATCH = 10
"""Turns in one transaction."""
LEAST = 200
"""Bytes of text of an event."""
QUERIES = 200
COMPARED = 40

type Words = list[str]


class Text:
    """Pieces of what every Python brings: its manual, as what is said, and the sources of its
    library, as what calls bring."""

    def __init__(self, chance: random.Random) -> None:
        from pydoc_data.topics import topics

        self._chance = chance
        self._said = "\n".join(topics.values())
        self._brought = _sources()
        words = re.findall(r"[A-Za-z]{2,}", (self._said + self._brought[: len(self._said)]).lower())
        self._ranked = [word for word, _ in Counter(words).most_common()]
        self.size = 0

    def said(self) -> str:
        return self._piece(self._said)

    def brought(self) -> str:
        return self._piece(self._brought)

    def _piece(self, source: str) -> str:
        begins = source.index(" ", self._chance.randrange(len(source) - 10_000)) + 1
        text = source[begins : source.index(" ", begins + self._chance.randrange(LEAST, 2 * LEAST))]
        self.size += len(text.encode())
        return text

    def query(self, number: int) -> str:
        """Of one to four words: common ones, rare ones, or both."""
        most = (30, 2000, len(self._ranked))
        chosen = (self._chance.randrange(self._chance.choice(most)) for _ in range(1 + number % 4))
        return " ".join(self._ranked[rank] for rank in chosen)


def _sources() -> str:
    folder = sysconfig.get_path("stdlib")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".py"))
    return "\n".join(Path(folder, name).read_text(encoding="utf-8") for name in names)


def turn(number: int, text: Text) -> list[Draft]:
    updates: list[Json] = [
        {"sessionUpdate": "_prompt", "prompt": [_text(text.said())], "turn": number}
    ]
    for place in range(1, TURN):
        name = f"{number}-{place // 10}"
        match place % 10:
            case 0 | 1:
                updates.append(_chunk("agent_thought_chunk", text.said(), name))
            case 2 | 3 | 4:
                updates.append(_call(f"{number}-{place}", text.brought()))
            case _:
                updates.append(_chunk("agent_message_chunk", text.said(), name))
    return [Draft(update) for update in updates]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _chunk(kind: str, text: str, name: str) -> Json:
    return {"sessionUpdate": kind, "content": _text(text + " "), "messageId": name}


def _call(name: str, text: str) -> Json:
    content = [{"type": "content", "content": _text(text)}]
    call: Json = {"sessionUpdate": "tool_call", "toolCallId": name, "kind": "execute"}
    return call | {"status": "completed", "content": content}


def build(home: str, events: int, sessions: int, text: Text) -> None:
    began = perf_counter()
    for number in range(sessions):
        directory = paths.session_dir(home, f"{number:010x}")
        now = [1_700_000_000_000 + number * 3_600_000]
        with Writer.open(directory, create=True, clock=partial(now.__getitem__, 0)) as writer:
            turns = events // sessions // TURN
            for first in range(0, turns, BATCH):
                now[0] += 7_200_000  # sessions overlap
                drafts = [turn(n + 1, text) for n in range(first, min(first + BATCH, turns))]
                writer.append([draft for each in drafts for draft in each])
        head = dumps({"title": f"session {number}", "agent": "demo", "cwd": "/work"})
        paths.write_atomic(os.path.join(directory, paths.HEAD), head.encode())
    progress(f"search: {events:,} events in {perf_counter() - began:.1f} s")


def updated(home: str, events: int) -> float:
    """Events per second, from nothing."""
    began = perf_counter()
    done = update(home)
    taken = perf_counter() - began
    if not done.done or done.events != events:
        raise ValueError(f"not indexed: {done}")
    return events / taken


def asked(home: str, text: str) -> Answer:
    answer = query(home, text)
    if answer.problem:
        raise ValueError(answer.problem)
    return answer


def seconds(home: str, queries: Words) -> list[float]:
    taken = []
    for text in queries:
        began = perf_counter()
        asked(home, text)
        taken.append(perf_counter() - began)
    return taken


def measure(events: int = EVENTS, sessions: int = SESSIONS) -> dict[str, float]:
    chance = random.Random(14)
    text = Text(chance)
    with tempfile.TemporaryDirectory(prefix="rkb-") as place:
        home = paths.ensure_home(os.path.join(place, "home"))
        build(home, events, sessions, text)
        rate = updated(home, events)
        files = [os.path.join(index.folder(home), name) for name in os.listdir(index.folder(home))]
        ratio = sum(map(os.path.getsize, files)) / text.size
        queries = [text.query(number) for number in range(QUERIES)]
        seconds(home, queries)
        taken = seconds(home, queries)
        compared = queries[:COMPARED]
        before = [asked(home, each) for each in compared]
        found = sum(len(answer.hits) for answer in before)
        progress(f"search: {rate:,.0f} events/s, slowest query {max(taken) * 1e3:.0f} ms")
        shutil.rmtree(index.folder(home))
        again = updated(home, events)
        if not found or [asked(home, each) for each in compared] != before:
            raise ValueError("made again, the index has other hits")
    return {
        "search_ms": median(taken) * 1e3,
        "search_index_events_per_s": max(rate, again),
        "search_index_ratio": ratio,
    }


BENCHMARK = Benchmark(
    (
        Aim("search_ms", "ms", below=50),
        Aim("search_index_events_per_s", "1/s", least=20_000),
        Aim("search_index_ratio", "x", below=0.6),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
