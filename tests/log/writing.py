"""A writer in a process of its own, to be read while it writes, and to be killed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Says the last seq after each append that returned, until it has `events`, then waits to be ended.
CHILD = """
import random, sys
from rookery.log.store import Writer
from tests.log.drafts import chunk, idle, prompt, usage
directory, seed, events = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
writer = Writer.open(directory, create=True, wait=30)
while writer.last_seq < events:
    seq = writer.last_seq
    batch = [chunk("word " * chance.choice([1, 5, 2000])) for _ in range(chance.randrange(1, 9))]
    if chance.random() < 0.2:
        turn = writer.header.turn
        batch += [usage(seq), idle(turn), prompt(turn + 1, f"cause {seq}"), chunk("a")]
    writer.append(batch, full=chance.random() < 0.1)
    print(writer.last_seq, flush=True)
print("all", flush=True)
sys.stdin.read()
"""


@contextmanager
def writing(directory: str, seed: int, events: int) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, directory, str(seed), str(events)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],  # where `tests` is found
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    return (line.strip() for line in process.stdout)
