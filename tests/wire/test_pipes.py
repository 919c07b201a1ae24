"""A reader that rests takes many small writes at once, and loses nothing."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from rookery.wire.pipes import FULL, PipeReader

LONG = 3600.0
"""Seconds: longer than any test."""


class Pipe:
    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        self.heard: list[bytes] = []
        self.more = asyncio.Event()
        self.end = asyncio.Event()

    def reader(self, rest: float) -> PipeReader:
        return PipeReader(self.reading, self._take, self.end.set, lambda _late: rest)

    def _take(self, data: bytes) -> None:
        self.heard.append(data)
        self.more.set()

    async def next(self) -> bytes:
        await self.more.wait()
        self.more.clear()
        return self.heard[-1]

    def write(self, data: bytes) -> None:
        os.write(self.writing, data)

    def close(self) -> None:
        with suppress(OSError):
            os.close(self.writing)


@pytest.fixture
async def pipe() -> Iterator[Pipe]:  # type: ignore[misc]
    made = Pipe()
    yield made
    made.close()


async def test_what_is_written_while_it_rests_comes_together(pipe: Pipe) -> None:
    reader = pipe.reader(LONG)
    pipe.write(b"one\n")
    assert await pipe.next() == b"one\n"
    for word in (b"two\n", b"three\n", b"four\n"):
        pipe.write(word)
        await asyncio.sleep(0)
    assert pipe.heard == [b"one\n"]
    reader.resume()
    await asyncio.sleep(0)
    assert pipe.heard == [b"one\n"], "who lets it go on does not cut its rest"
    reader.end_rest()
    assert await pipe.next() == b"two\nthree\nfour\n"
    reader.close()


async def test_it_looks_again_by_itself(pipe: Pipe) -> None:
    pipe.reader(0.001)
    for word in (b"one\n", b"two\n"):
        pipe.write(word)
        assert await pipe.next() == word
    pipe.close()
    await pipe.end.wait()


async def test_a_full_pipe_is_read_on_without_a_rest(pipe: Pipe) -> None:
    pipe.reader(LONG)
    pipe.write(b"x" * FULL)
    assert len(await pipe.next()) == FULL
    pipe.close()
    await pipe.end.wait()


async def test_a_resting_reader_hands_over_what_is_there_and_closes(pipe: Pipe) -> None:
    reader = pipe.reader(LONG)
    pipe.write(b"one\n")
    await pipe.next()
    pipe.write(b"two\n")
    reader.take_now()
    reader.close()
    assert pipe.heard == [b"one\n", b"two\n"]
    assert not pipe.end.is_set()


async def test_a_bug_in_what_hears_it_does_not_end_the_reading(pipe: Pipe) -> None:
    """Neither while it is polled nor after a rest."""
    faults = list[BaseException | None]()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, context: faults.append(context.get("exception")))

    def take(data: bytes) -> None:
        pipe._take(data)
        if data == b"bad":
            raise ValueError

    reader = PipeReader(pipe.reading, take, pipe.end.set, lambda _late: 0.001)
    for word in (b"bad", b"bad", b"good"):
        pipe.write(word)
        assert await pipe.next() == word
    assert [type(fault) for fault in faults] == [ValueError, ValueError]
    reader.close()


async def test_it_says_how_late_it_looked(pipe: Pipe) -> None:
    told = list[float]()

    def rest(late: float) -> float:
        told.append(late)
        return 0.001

    reader = PipeReader(pipe.reading, pipe._take, pipe.end.set, rest)
    pipe.write(b"one")
    await pipe.next()
    time.sleep(0.05)  # noqa: ASYNC251 (the loop is held up for longer than the rest)
    pipe.write(b"two")
    await pipe.next()
    reader.close()
    assert told[0] == 0.0
    assert told[1] >= 0.04
