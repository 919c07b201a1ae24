"""Law 3: what append returned is in the file; seq, time and turn are the writer's to give."""

import json
import os
import shutil
from collections.abc import Callable

import pytest

from rookery.core.header import EMPTY
from rookery.core.json.events import Draft, kind_of
from rookery.log.errors import Repeated, StoreError
from rookery.log.reader import Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, folded, foreign, idle, prompt, renamed, running, tool, usage

type Write = Callable[..., Writer]
type Read = Callable[..., Reader]


def turn_rows(directory: str) -> list[tuple[int, int, int | None, int | None]]:
    """n, first_seq, last_seq, and the turn of the header that is stored, if one is."""
    rows = foreign(directory, "SELECT n, first_seq, last_seq, header FROM turn ORDER BY n")
    return [
        (n, first, last, json.loads(text)["turn"] if text else None)
        for n, first, last, text in rows
    ]


def test_events_get_their_places(write: Write, read: Read) -> None:
    writer = write(clock=lambda: 1234)
    assert writer.last_seq == 0
    assert writer.header == EMPTY
    events = writer.append([renamed("a"), prompt(1, "c1")]) + writer.append([chunk("b")])
    assert [(event.seq, event.at, event.cause, event.by) for event in events] == [
        (1, 1234, None, None),
        (2, 1234, "c1", "tui"),
        (3, 1234, None, None),
    ]
    assert writer.last_seq == 3
    assert read().read(0) == events
    assert writer.append([]) == []
    assert writer.last_seq == 3


def test_time_never_goes_back(write: Write) -> None:
    times = iter([50, 40, 60, 10])
    writer = write(clock=lambda: next(times))
    assert [writer.append([chunk("a")])[0].at for _ in range(3)] == [50, 50, 60]
    writer.close()
    assert write(clock=lambda: next(times)).append([chunk("a")])[0].at == 60


def test_a_prompt_belongs_to_the_turn_that_it_opens(
    directory: str, write: Write, read: Read
) -> None:
    write().append(
        [renamed("a"), prompt(1), running(1), chunk("b"), idle(1), tool("late", "completed")]
    )
    rows = foreign(directory, "SELECT turn, kind FROM event ORDER BY seq")
    assert rows == [
        (0, "_session"),
        (1, "_prompt"),
        (1, "_turn"),
        (1, "agent_message_chunk"),
        (1, "_turn"),
        (1, "tool_call_update"),
    ]
    assert [event.seq for event in read().page(0)] == [1]
    assert [event.seq for event in read().page(1)] == [2, 3, 4, 5, 6]
    assert read().page(2) == []


def test_a_turn_has_a_row_from_its_prompt_and_a_header_from_its_end(
    directory: str, write: Write
) -> None:
    writer = write()
    writer.append([renamed("a")])
    writer.append([prompt(1)])
    assert turn_rows(directory) == [(0, 1, 1, 0), (1, 2, None, None)]
    writer.append([chunk("b"), idle(1)])
    assert turn_rows(directory) == [(0, 1, 1, 0), (1, 2, 4, 1)]
    writer.append([usage(7)])  # late: it belongs to the turn that ended
    assert turn_rows(directory) == [(0, 1, 1, 0), (1, 2, 4, 1)]
    writer.append([prompt(2)])
    assert turn_rows(directory) == [(0, 1, 1, 0), (1, 2, 5, 1), (2, 6, None, None)]
    [(stored,)] = foreign(directory, "SELECT header FROM turn WHERE n = 1")
    assert json.loads(stored)["usage"] == {"used": 7, "size": 200_000}


def test_turns_may_pass_within_one_batch(directory: str, write: Write, read: Read) -> None:
    batch = [prompt(1), idle(1), usage(7), prompt(2), chunk("a"), idle(2), prompt(3)]
    events = write().append(batch)
    assert turn_rows(directory) == [(0, 1, 0, 0), (1, 1, 3, 1), (2, 4, 6, 2), (3, 7, None, None)]
    assert read().header_before(2) == folded(events[:3])
    assert read().header_before(3) == folded(events[:6])


def test_a_writer_goes_on_where_the_last_one_stopped(directory: str, write: Write) -> None:
    first = write()
    events = first.append([renamed("a"), prompt(1), idle(1), usage(7)])
    header = first.header
    first.close()
    second = write()
    assert second.last_seq == 4
    assert second.header == header == folded(events)
    second.append([prompt(2)])
    assert turn_rows(directory)[1:] == [(1, 2, 4, 1), (2, 5, None, None)]


def test_a_cause_is_known_by_its_index(directory: str, write: Write, read: Read) -> None:
    """Law 5: the worker ignores ids it has seen."""
    writer = write()
    assert writer.knows("c1") is None
    writer.append([chunk("a"), prompt(1, "c1")])
    assert writer.knows("c1") == 2
    assert writer.knows("c") is None
    found = read().find("c1")
    assert found is not None
    assert kind_of(found.update) == "_prompt"
    assert read().find("c2") is None
    [(*_, plan)] = foreign(directory, "EXPLAIN QUERY PLAN SELECT seq FROM event WHERE cause = 'c1'")
    assert "USING COVERING INDEX event_cause" in plan


@pytest.mark.parametrize(
    "batch", [[prompt(1, "c")], [chunk("a"), prompt(1, "d"), idle(1)._replace(cause="d")]]
)
def test_a_repeated_cause_is_refused_and_nothing_of_its_batch_is_kept(
    write: Write, read: Read, batch: list[Draft]
) -> None:
    writer = write()
    events = writer.append([prompt(1, "c"), idle(1)])
    header = writer.header
    with pytest.raises(Repeated):
        writer.append(batch)
    assert writer.last_seq == 2
    assert writer.header is header
    assert read().read(0) == events
    assert writer.append([prompt(2, "e")])[0].seq == 3


def test_a_foreign_row_in_the_way_is_an_error_and_no_loss(directory: str, write: Write) -> None:
    writer = write()
    foreign(directory, "INSERT INTO event VALUES (1, 0, '', 0, NULL, NULL, '{}')")
    with pytest.raises(StoreError):
        writer.append([chunk("a")])
    assert writer.last_seq == 0


def test_full_syncs_its_own_transaction_and_no_other(directory: str, write: Write) -> None:
    """Law 3: a prompt, an ask's outcome and a turn's end survive the loss of power."""
    modes = []
    statements: list[str] = []
    writer = write()
    connection = writer._connection
    connection.set_trace_callback(
        lambda statement: statements.append(statement.split()[0] + " " + statement[-4:])
    )
    connection.create_function(
        "level", 0, lambda: modes.append(connection.execute("PRAGMA synchronous").fetchall())
    )
    connection.execute("CREATE TEMP TRIGGER seen AFTER INSERT ON event BEGIN SELECT level(); END")
    for full in (False, True, False):
        statements.clear()
        writer.append([chunk("a")], full=full)
        pragmas = [line for line in statements if line.startswith(("PRAGMA", "BEGIN", "COMMIT"))]
        assert ("PRAGMA FULL" in pragmas) == full
    assert modes == [[(1,)], [(2,)], [(1,)]]


def test_a_failed_full_append_does_not_leave_the_next_ones_slow(write: Write) -> None:
    writer = write()
    writer.append([prompt(1, "c")], full=True)
    with pytest.raises(Repeated):
        writer.append([prompt(1, "c")], full=True)
    assert writer._connection.execute("PRAGMA synchronous").fetchall() == [(1,)]


def test_a_header_shares_nothing_with_the_draft(write: Write, read: Read) -> None:
    writer = write()
    update = {"sessionUpdate": "_rate_limit", "until": [1]}
    writer.append([Draft(update)])
    update["until"] = "changed by its maker"
    assert writer.header.rate_limit["until"] == [1]
    assert read().header_before(1) == writer.header


def test_blobs_are_kept_once(directory: str, write: Write, read: Read) -> None:
    writer = write()
    names = [writer.put_blob(data) for data in (b"\0picture", b"", b"\0picture")]
    assert names[0] == names[2] != names[1]
    assert len(names[0]) == 64
    assert writer.blob(names[0]) == read().blob(names[0]) == b"\0picture"
    assert read().blob(names[1]) == b""
    assert read().blob("0" * 64) is None
    assert read().blob("\ud800") is None
    assert foreign(directory, "SELECT count(*) FROM blob") == [(2,)]


def test_a_writer_learns_that_its_session_was_deleted(directory: str, write: Write) -> None:
    writer = write()
    assert writer.stands()
    shutil.rmtree(directory)
    assert not writer.stands()


def test_closing_empties_the_wal_and_twice_is_once(directory: str, write: Write) -> None:
    writer = write()
    writer.append([chunk("a")])
    assert os.path.getsize(os.path.join(directory, "log.db-wal")) > 0
    writer.close()
    writer.close()
    assert sorted(os.listdir(directory)) == ["lock", "log.db"]
