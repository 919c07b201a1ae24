"""A writer killed -9 at any moment loses no event that it acknowledged, and leaves no half."""

import os
import random
import shutil
from itertools import islice

from rookery.log.lock import is_held
from rookery.log.reader import Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, folded
from tests.log.writing import said, writing

FOREVER = 10**9


def kill_after(directory: str, seed: int, appends: int) -> int:
    """Kill a writer once it has acknowledged so many appends; the last seq that it acknowledged."""
    with writing(directory, seed, FOREVER) as process:
        lines = said(process)
        heard = list(islice(lines, appends))
        process.kill()  # in the midst of a later append
        heard += lines
        process.wait()
    # A number that was cut short by the kill was not acknowledged.
    return max(int(line) for line in heard[:-1] or heard)


def test_no_acknowledged_event_is_lost(directory: str) -> None:
    chance = random.Random(8)
    for seed in range(20):
        acknowledged = kill_after(directory, seed, chance.randrange(2, 40))
        assert not is_held(os.path.join(directory, "lock"))
        with Reader.open(directory) as reader:
            events = reader.read(0, limit=10**6)
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert len(events) >= acknowledged
            before, page = reader.part()[:2]
            assert folded(page, before) == folded(events)
        with Writer.open(directory, wait=0) as writer:
            assert writer.last_seq == len(events)
            assert writer.header == folded(events)
            assert writer.append([chunk("goes on")])[0].seq == len(events) + 1


def test_a_reader_alone_reads_what_a_killed_writer_left(directory: str) -> None:
    """Nobody owns the shared memory any more, and the WAL holds what the file does not."""
    acknowledged = kill_after(directory, 1, 5)
    assert os.path.getsize(os.path.join(directory, "log.db-wal")) > 0
    with Reader.open(directory) as reader:
        assert reader.last_seq() >= acknowledged
        assert len(reader.read(0)) == reader.last_seq()


def test_a_killed_writers_log_is_read_without_its_shared_memory(directory: str) -> None:
    acknowledged = kill_after(directory, 2, 5)
    os.unlink(os.path.join(directory, "log.db-shm"))
    for _ in range(2):
        with Reader.open(directory) as reader:
            assert len(reader.read(0)) == reader.last_seq() >= acknowledged


def test_a_kill_during_a_wal_checkpoint_loses_nothing(directory: str) -> None:
    """Its first page is new and says that there are more pages than there are."""
    killed = f"{directory}-killed"
    os.mkdir(killed)
    with Writer.open(directory, create=True) as writer:
        writer.append([chunk("word " * 20_000) for _ in range(20)])
        for name in ("log.db", "log.db-wal"):
            shutil.copy(os.path.join(directory, name), killed)
    with open(os.path.join(directory, "log.db"), "rb") as emptied:
        first_page = emptied.read(4096)
    with open(os.path.join(killed, "log.db"), "r+b") as half:
        half.write(first_page)
    with Reader.open(killed) as reader:
        assert len(reader.read(0)) == 20
    with Writer.open(killed) as writer:
        assert writer.append([chunk("a")])[0].seq == 21
