"""Anyone may read at any time; a reader sees one moment, and never stands in the writer's way."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable

import pytest

from rookery.core.json.events import kind_of
from rookery.log.reader import LONG_TURN, Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, folded, foreign, idle, prompt, usage
from tests.log.writing import said, writing

type Write = Callable[..., Writer]
type Read = Callable[..., Reader]


def seqs(reader: Reader, *args: int | None, **options: int | None) -> list[int]:
    return [event.seq for event in reader.read(*args, **options)]  # type: ignore[arg-type]


def test_pages_of_the_log(write: Write, read: Read) -> None:
    write().append([chunk(str(n)) for n in range(10)])
    reader = read()
    assert seqs(reader, 0) == list(range(1, 11))
    assert seqs(reader, 0, limit=3) == [1, 2, 3]
    assert seqs(reader, 3, limit=3) == [4, 5, 6]
    assert seqs(reader, 3, upto=5) == [4, 5]
    assert seqs(reader, 10) == []
    assert seqs(reader, 99, upto=5) == []


def test_pages_backward_are_whole_turns(write: Write, read: Read) -> None:
    write().append(
        [event for n in (1, 2, 3) for event in (prompt(n), *map(chunk, "abcdef"), idle(n))]
    )
    reader, length = read(), 8
    for limit, expected in ((5, 1), (8, 1), (9, 1), (15, 1), (16, 2), (99, 3)):
        first = (3 - expected) * length + 1
        found = [event.seq for event in reader.before(3 * length + 1, limit)]
        assert found == list(range(first, 3 * length + 1)), limit
    assert [event.seq for event in reader.before(12, 2)] == [9, 10, 11]  # what stands before it


def test_a_very_long_turn_is_split(write: Write, read: Read) -> None:
    write().append([prompt(1), *(chunk("x") for _ in range(LONG_TURN + 10))])
    reader = read()
    assert len(reader.before(LONG_TURN + 5, 7)) == 7
    assert len(reader.before(LONG_TURN, 7)) == LONG_TURN - 1


def test_an_empty_log_reads_as_empty(write: Write, read: Read) -> None:
    write()
    reader = read()
    assert (reader.last_seq(), reader.turns(), reader.read(0)) == (0, 0, [])
    assert reader.part()[:2] == (reader.header_before(0), [])


def test_a_log_that_was_closed_is_read_without_its_wal(
    directory: str, write: Write, read: Read
) -> None:
    writer = write()
    events = writer.append([prompt(1, "c"), chunk("a"), idle(1)])
    writer.close()
    assert sorted(os.listdir(directory)) == ["lock", "log.db"]
    reader = read()
    assert reader.part()[:2][1] == events
    # And goes on when a writer comes.
    later = write().append([prompt(2), chunk("b")])
    assert reader.part()[:2] == (folded(events), later)


def test_a_reader_cannot_write(write: Write, read: Read) -> None:
    write()
    with pytest.raises(sqlite3.OperationalError, match=r"readonly|read-only"):
        read()._connection.execute("DELETE FROM event")


def test_a_reader_follows_a_writer_at_work(directory: str, read: Read) -> None:
    with writing(directory, seed=3, events=3000) as process:
        lines = said(process)
        next(lines)  # the log is there
        reader = read()
        seen = []
        while not seen or len(seen) < 3000:
            seen += reader.read(len(seen), limit=100)
            before, page = reader.part()[:2]
            assert page[0].seq == 1 or kind_of(page[0].update) == "_prompt"
            assert [event.seq for event in page] == list(range(page[0].seq, page[-1].seq + 1))
            assert before.turn == max(folded(page, before).turn - 1, 0)
        assert [event.seq for event in seen[:3000]] == list(range(1, 3001))
        assert list(iter(lambda: next(lines), "all"))


def test_open_readers_do_not_make_the_wal_grow(directory: str, write: Write, read: Read) -> None:
    """A forgotten cursor grew one to 32 MB: a reader leaves none open, whatever it was asked."""
    writer, reader = write(), read()
    wal, largest = os.path.join(directory, "log.db-wal"), 0
    for n in range(1, 31):
        writer.append([prompt(n, f"c{n}"), *(chunk("x" * 10_000) for _ in range(100)), idle(n)])
        reader.last_seq(), reader.turns(), reader.read(0, limit=2), reader.find(f"c{n}")
        reader.part()[:2], reader.page(n), reader.header_before(n), reader.blob("0")
        largest = max(largest, os.path.getsize(wal))
    assert os.path.getsize(os.path.join(directory, "log.db")) > 25 * 2**20
    assert largest < 8 * 2**20


def test_the_cost_of_the_tail_does_not_grow_with_the_log(write: Write, read: Read) -> None:
    """No statement looks through a table: each goes down an index to what it wants."""
    writer = write()
    for n in range(1, 4):
        writer.append([prompt(n, f"c{n}"), chunk("a"), idle(n)])
    reader = read()
    statements: list[str] = []
    reader._connection.set_trace_callback(statements.append)
    reader.part()[:2], reader.last_seq(), reader.read(2), reader.find("c2"), reader.blob("0")
    reader._connection.set_trace_callback(None)
    asked = [statement for statement in statements if statement.startswith("SELECT")]
    assert len(asked) > 8
    for statement in asked:
        plan = reader._connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        for *_, step in plan:
            assert step.startswith("SEARCH"), (statement, step)


def test_looking_at_a_log_leaves_its_writer_its_locks(
    directory: str, write: Write, read: Read
) -> None:
    """A plain open and close of the file would drop them, and a foreign close take the WAL away."""
    writer = write()
    writer.append([chunk("a")])
    read().close()
    touch = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "print(c.execute('SELECT count(*) FROM event').fetchall()); c.close()"
    )
    path = os.path.join(directory, "log.db")
    ran = subprocess.run([sys.executable, "-c", touch, path], check=True, capture_output=True)
    assert ran.stdout == b"[(1,)]\n"
    assert os.path.exists(f"{path}-wal")
    writer.append([chunk("b")])
    assert read().last_seq() == 2


BROKEN = {
    "no JSON": "'{\"sessionUpdate\": '",
    "no object": "'[1, 2]'",
    "nothing": "''",
    "no text": "x'fffe00'",
    "a number": "17",
    "not UTF-8": "CAST(x'7b22ff223a317d' AS TEXT)",
    "NaN": "'{\"a\": NaN}'",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN.keys())
def test_a_row_that_was_damaged_is_shown_raw_and_hides_no_other(
    directory: str, write: Write, read: Read, body: str
) -> None:
    writer = write()
    writer.append([prompt(1), usage(5), chunk("b")])
    foreign(directory, f"UPDATE event SET body = {body} WHERE seq = 2")  # noqa: S608
    reader = read()
    events = reader.read(0)
    assert [event.seq for event in events] == [1, 2, 3]
    assert events[1].update["sessionUpdate"] == "_raw"
    assert "this row of the log is not an update" in events[1].update["why"]
    assert reader.page(1) == events
    writer.close()
    assert write().header == folded(events)


def test_other_damage_in_a_row_is_no_error(directory: str, write: Write, read: Read) -> None:
    write().append([chunk("a"), chunk("b")])
    foreign(
        directory,
        "UPDATE event SET at = 'noon', cause = x'00', by = 5 WHERE seq = 1",
        """UPDATE event SET cause = '"no JSON', by = '"' WHERE seq = 2""",
    )
    first, second = read().read(0)
    assert (first.at, first.cause, first.by) == (0, "b'\\x00'", "5")
    assert (second.cause, second.by) == ('"no JSON', '"')
