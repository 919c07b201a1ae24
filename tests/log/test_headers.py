"""One small header is stored per turn; whatever happens to the rows, the fold is the same."""

import json
from collections.abc import Callable

import pytest

from rookery.core.header import EMPTY, VERSION, Header
from rookery.core.json import Draft
from rookery.log import headers, rows
from rookery.log.reader import Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, commands, folded, foreign, idle, prompt, running, usage

type Write = Callable[..., Writer]
type Read = Callable[..., Reader]

LARGE = "x" * 5000


@pytest.fixture
def five_turns(write: Write) -> Writer:
    """Turn n has used n tokens when it ends, and n + 100 a little later."""
    writer = write()
    writer.append([commands(3)])
    for n in range(1, 6):
        writer.append([prompt(n), chunk("a"), usage(n), idle(n)])
        writer.append([usage(100 + n)])
    return writer


def assert_pages_fold(reader: Reader) -> None:
    everything = reader.read(0, limit=10**6)
    for n in range(reader.turns() + 2):
        before = [event for event in everything if event.seq < first(reader, n)]
        assert reader.header_before(n) == folded(before)


def first(reader: Reader, n: int) -> int:
    page = reader.page(n)
    return page[0].seq if page else 10**9


def test_large_fields_are_stored_once(directory: str, write: Write, read: Read) -> None:
    writer = write()
    writer.append([commands(200)])
    for n in range(1, 21):
        writer.append([prompt(n), idle(n)])
    [(blobs, size)] = foreign(directory, "SELECT count(*), sum(length(data)) FROM blob")
    assert blobs == 1
    assert size > 20_000
    [(longest,)] = foreign(directory, "SELECT max(length(header)) FROM turn")
    assert longest < 2000
    assert read().header_before(20) == read().header_before(20)
    assert len(read().header_before(20).commands) == 200
    writer.append([commands(201), prompt(21)])
    assert foreign(directory, "SELECT count(*) FROM blob") == [(2,)]


@pytest.mark.parametrize(
    "value",
    [
        {"$blob": "a"},
        {"$$blob": "a"},
        {"$$$blob": {"$blob": "a"}},
        {"$blob": LARGE},
        {"$$blob": LARGE},
        {"$blob": None, "b": 1},
        {"$other": 1},
        {"": 1},
        {},
        [{"$blob": "a"}],
        "$blob",
        LARGE,
        None,
        "\ud800" * 1000,
    ],
)
def test_a_value_that_looks_like_a_reference_survives(write: Write, value: object) -> None:
    connection = write()._connection
    header = {"v": VERSION, "one": value, "two": 2}
    text, blobs = rows.pack(Header(header))
    assert len(text) < 2 * rows.LARGE
    connection.executemany("INSERT INTO blob VALUES (?, ?)", blobs.items())
    assert rows.unpack(connection, text) == header


def test_header_before_is_the_row_before(five_turns: Writer, read: Read) -> None:
    reader = read()
    assert reader.header_before(0) == EMPTY
    assert reader.header_before(-1) == EMPTY
    assert [reader.header_before(n).usage.get("used") for n in range(1, 7)] == [
        None,
        *range(101, 106),
    ]
    assert_pages_fold(reader)


def test_header_before_a_turn_without_events_is_the_last_one(
    five_turns: Writer, read: Read
) -> None:
    assert read().header_before(6) == read().header_before(99) == five_turns.header


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM turn",
        "DELETE FROM turn WHERE n IN (2, 4)",
        "UPDATE turn SET header = NULL WHERE n > 1",
        "UPDATE turn SET header = 'no JSON' WHERE n = 3",
        "UPDATE turn SET header = '[]'",
        "UPDATE turn SET header = CAST(x'ff00' AS TEXT)",
        "UPDATE turn SET header = x'ff'",
        "UPDATE turn SET last_seq = NULL",
        """UPDATE turn SET header = json_set(header, '$.v', 0)""",
        """UPDATE turn SET header = json_set(header, '$.commands', json('{"$blob": "gone"}'))""",
        """UPDATE turn SET header = json_set(header, '$.commands', json('{"$blob": [1]}'))""",
        "DELETE FROM blob",
    ],
)
def test_rows_of_turns_are_a_fold_and_may_be_lost(
    directory: str, five_turns: Writer, read: Read, damage: str
) -> None:
    """Law 1: what is a fold may be deleted; another version of the header is folded anew."""
    header = five_turns.header
    five_turns.close()
    foreign(directory, damage)
    reader = read()
    assert_pages_fold(reader)
    assert reader.part()[:2] == (reader.header_before(5), reader.page(5))
    with Writer.open(directory) as writer:
        assert writer.header == header
        writer.append([prompt(6), idle(6)])
        assert_pages_fold(reader)


def test_a_long_way_is_folded_in_batches(directory: str, write: Write, read: Read) -> None:
    writer = write()
    writer.append([prompt(1)])
    writer.append([usage(n) for n in range(2 * headers.BATCH + 10)])
    writer.append([prompt(2)])
    foreign(directory, "DELETE FROM turn")
    assert read().header_before(2).usage["used"] == 2 * headers.BATCH + 9
    assert read().header_before(3) == writer.header


def test_a_stored_header_is_json_of_the_header(
    directory: str, five_turns: Writer, read: Read
) -> None:
    [(text,)] = foreign(directory, "SELECT header FROM turn WHERE n = 2")
    assert json.loads(text) == read().header_before(3).raw


THOUGHT = {"type": "text", "text": "Hm."}
ADDED: list[dict[str, object]] = [
    {"sessionUpdate": "_done", "command": "cancel"},
    {"sessionUpdate": "agent_thought_chunk", "content": THOUGHT},
    {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"},
    {"sessionUpdate": "plan_update", "planId": "p", "plan": {"entries": []}},
    {"sessionUpdate": "_session", "resumes": True},
]


@pytest.mark.parametrize("update", ADDED, ids=lambda update: str(update["sessionUpdate"]))
def test_a_stored_header_is_used_whatever_a_turn_adds_to_it(
    write: Write, read: Read, update: dict[str, object]
) -> None:
    """Some fields come only with the event that they tell of. Else each look at a session would
    begin at its beginning."""
    writer = write()
    writer.append([prompt(1), running(1), Draft(update), chunk("a"), idle(1)])
    ended = writer.last_seq
    writer.append([prompt(2), chunk("b")])
    assert writer.header.raw.keys() > EMPTY.raw.keys()
    reader = read()
    assert headers.nearest(reader._connection, reader.last_seq()).seq == ended
