"""Marks: headers inside a turn, about one a MiB. A cache, as every stored header: whatever becomes
of them, the fold is the same, and no event is lost for one."""

import sqlite3
from collections.abc import Callable

import pytest

from rookery.log import headers, marks
from rookery.log.reader import Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, folded, foreign, idle, prompt, tool, usage

type Write = Callable[..., Writer]
type Read = Callable[..., Reader]


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "APART", 10_000)


@pytest.fixture
def long_turn(apart: None, write: Write) -> Writer:
    """In the middle of its second turn."""
    writer = write()
    writer.append([prompt(1), chunk("a"), idle(1), prompt(2)])
    for n in range(40):
        writer.append([tool(f"c{n}", "in_progress"), chunk("word " * 300), usage(n)])
    return writer


def stored(directory: str) -> list[int]:
    return [seq for (seq,) in foreign(directory, "SELECT seq FROM mark ORDER BY seq")]


def assert_headers(reader: Reader) -> None:
    """At every point of the log, the stored headers say what the events say."""
    events, header = reader.read(0, limit=10**6), folded([])
    for event in events:
        header = folded([event], header)
        start = headers.nearest(reader._connection, event.seq)
        *_, point = headers.walk(reader._connection, start, event.seq)
        assert (point.seq, point.header) == (event.seq, header)


def test_a_long_turn_has_checkpoints_inside(directory: str, long_turn: Writer, read: Read) -> None:
    found = stored(directory)
    assert len(found) > 5
    assert all(seq > 4 for seq in found)
    assert_headers(read())


def test_a_log_of_short_turns_has_no_checkpoints(apart: None, directory: str, write: Write) -> None:
    writer = write()
    for n in range(1, 50):
        writer.append([prompt(n), chunk("a" * 500), idle(n)])
    assert stored(directory) == []


def test_a_header_in_a_long_turn_is_read_from_its_checkpoint(long_turn: Writer, read: Read) -> None:
    """Not folded from the turn's beginning."""
    reader = read()
    statements: list[str] = []
    reader._connection.set_trace_callback(statements.append)
    assert reader.header_before(3) == long_turn.header
    reader._connection.set_trace_callback(None)
    [pages] = [each for each in statements if "ORDER BY seq LIMIT" in each][:1]
    after = int(pages.partition("seq > ")[2].split()[0])
    assert long_turn.last_seq - after < 30


DAMAGE = (
    "DELETE FROM mark",
    "DROP TABLE mark",
    "DELETE FROM blob",
    "UPDATE mark SET header = 'no JSON'",
    "UPDATE mark SET header = x'ff'",
    "UPDATE mark SET header = substr(header, 1, 40)",
    """UPDATE mark SET header = '{"v":' || json_extract(header, '$.v') || ',"turn":2}'""",
    "UPDATE mark SET header = json_set(header, '$.v', 0)",
    "UPDATE mark SET header = json_set(header, '$.usage', json('{\"used\": 999}'))",
    "UPDATE mark SET header = json_remove(header, '$.asks')",
    "UPDATE mark SET sum = sum + 1",
    "UPDATE mark SET seq = -seq",
    "UPDATE mark SET seq = seq - 1",
    "INSERT INTO mark SELECT seq + 100000, sum, header FROM mark",
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_checkpoints_are_a_cache_and_may_be_lost(
    directory: str, long_turn: Writer, read: Read, damage: str
) -> None:
    """Law 1: they are never believed against the log."""
    header = long_turn.header
    long_turn.close()
    foreign(directory, damage)
    reader = read()
    assert_headers(reader)
    assert reader.header_before(3) == header
    with Writer.open(directory) as writer:
        assert writer.header == header
        writer.append([chunk("more"), idle(2), prompt(3)])


def test_a_failing_checkpoint_loses_no_event(directory: str, long_turn: Writer, read: Read) -> None:
    foreign(directory, "DROP TABLE mark")
    before = long_turn.last_seq
    for _ in range(20):
        long_turn.append([chunk("word " * 300)])
    assert long_turn.last_seq == before + 20
    assert len(read().read(before)) == 20


def test_a_writer_that_returns_in_mid_turn_continues(
    directory: str, long_turn: Writer, read: Read
) -> None:
    """As after kill -9: no end of a turn, no header row of it, marks up to some event."""
    header, before = long_turn.header, stored(directory)
    long_turn.close()
    with Writer.open(directory) as writer:
        assert writer.header == header
        for n in range(10):
            writer.append([chunk("word " * 300), tool(f"c{n}", "completed")])
        assert stored(directory)[: len(before)] == before
        assert len(stored(directory)) > len(before)
    assert_headers(read())


def test_the_lock_holder_adds_checkpoints_to_an_older_log(
    directory: str, long_turn: Writer, read: Read
) -> None:
    """In mid-turn at once, since whoever writes folds the turn anyway."""
    long_turn.close()
    foreign(directory, "DROP TABLE mark")
    with Writer.open(directory) as writer:
        assert len(stored(directory)) > 5
        assert not writer.mark_more()
    assert_headers(read())


def test_an_older_log_of_finished_turns_gets_checkpoints_step_by_step(
    directory: str, long_turn: Writer, read: Read
) -> None:
    long_turn.append([idle(2)])
    long_turn.close()
    foreign(directory, "DROP TABLE mark")
    with Writer.open(directory) as writer:
        assert stored(directory) == []
        steps = 0
        while writer.mark_more():
            steps += 1
            writer.append([chunk("said meanwhile")])
        assert steps > 5
        assert len(stored(directory)) == steps
        assert_headers(read())


def test_a_log_of_another_header_version_gets_checkpoints_once(
    directory: str, long_turn: Writer, read: Read
) -> None:
    """Its rows are of no use; the fold from the beginning is made once, and not at each opening."""
    long_turn.close()
    for table in ("turn", "mark"):
        foreign(directory, f"UPDATE {table} SET header = json_set(header, '$.v', 0)")  # noqa: S608
    Writer.open(directory).close()
    reader = read()
    assert headers.nearest(reader._connection, reader.last_seq()).seq > reader.last_seq() - 30
    assert_headers(reader)


def test_an_earlier_build_reads_and_writes_a_log_with_checkpoints(
    directory: str, long_turn: Writer
) -> None:
    """It knows nothing of the table, and the version of the file is the same."""
    long_turn.close()
    connection = sqlite3.connect(f"{directory}/log.db")
    assert connection.execute("PRAGMA user_version").fetchall() == [(1,)]
    connection.close()


def test_checkpoints_stay_a_small_part_of_the_log(
    apart: None, directory: str, write: Write, read: Read
) -> None:
    """Also where the header is large and always another: a thousand calls with very long names."""
    writer = write()
    writer.append([prompt(1)])
    for n in range(400):
        writer.append([tool(f"{n:0500d}", "in_progress")])
    [(events,)] = foreign(directory, "SELECT sum(length(body)) FROM event")
    [(blobs,)] = foreign(directory, "SELECT sum(length(data)) FROM blob")
    assert stored(directory)
    assert blobs < events
    assert_headers(read())
