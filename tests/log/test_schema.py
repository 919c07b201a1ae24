"""An older log is brought up; one that is newer, or no log, stays as it is to the byte."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing as closed
from pathlib import Path

import pytest

from rookery.log import schema
from rookery.log.errors import Busy, LogError, NoSession, NotALog, StoreError, TooNew
from rookery.log.lock import Lock
from rookery.log.reader import Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, files, foreign, idle, prompt


def add_by(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE event ADD COLUMN by TEXT")


def add_size(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE event ADD COLUMN size INTEGER")
    connection.execute("UPDATE event SET size = length(body)")


VERSION_0 = schema.Schema(0, schema.TABLES.replace("    by TEXT,\n", ""), {})
FROM_0 = schema.Schema(1, schema.TABLES, {0: add_by})
FROM_0_TO_2 = schema.Schema(2, "", {0: add_by, 1: add_size})


def make_version_0(directory: str) -> None:
    os.mkdir(directory, 0o700)
    schema.create(os.path.join(directory, "log.db"), VERSION_0)
    foreign(
        directory,
        "INSERT INTO event (seq, at, kind, turn, cause, body) VALUES"
        """ (1, 5, '_prompt', 1, 'c', '{"sessionUpdate":"_prompt","prompt":[],"turn":1}')""",
        "INSERT INTO turn (n, first_seq) VALUES (1, 1)",
    )


def test_a_new_log_is_private_and_says_what_it_is(directory: str) -> None:
    Writer.open(directory, create=True).close()
    path = os.path.join(directory, "log.db")
    assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir(directory)) == ["lock", "log.db"]
    assert foreign(directory, "PRAGMA application_id") == [(schema.APPLICATION_ID,)]
    assert foreign(directory, "PRAGMA user_version") == [(1,)]
    assert foreign(directory, "PRAGMA journal_mode") == [("wal",)]
    assert foreign(directory, "SELECT n, first_seq FROM turn") == [(0, 1)]


def test_what_sqlite_makes_beside_a_log_is_private_too(
    directory: str, write: Callable[..., Writer]
) -> None:
    write().append([chunk("a")])
    for name in os.listdir(directory):
        assert stat.S_IMODE(os.stat(os.path.join(directory, name)).st_mode) == 0o600, name


def test_a_log_that_was_being_made_when_its_maker_died_is_made_anew(directory: str) -> None:
    os.mkdir(directory)
    Path(directory, "log.db.new").write_bytes(b"half")
    with pytest.raises(NoSession):
        Writer.open(directory)
    with Writer.open(directory, create=True) as writer:
        assert writer.append([chunk("a")])[0].seq == 1
    assert sorted(os.listdir(directory)) == ["lock", "log.db"]


def test_an_older_log_is_brought_up_and_keeps_its_events(directory: str) -> None:
    make_version_0(directory)
    with Writer.open(directory, form=FROM_0) as writer:
        assert writer.last_seq == 1
        assert writer.header.turn == 1
        assert writer.knows("c") == 1
        writer.append([idle(1)._replace(by="watchdog")])
    assert foreign(directory, "PRAGMA user_version") == [(1,)]
    with Reader.open(directory) as reader:
        assert [(event.seq, event.by) for event in reader.read(0)] == [(1, None), (2, "watchdog")]


def test_several_versions_are_brought_up_in_one_go(directory: str) -> None:
    make_version_0(directory)
    Writer.open(directory, form=FROM_0_TO_2).close()
    assert foreign(directory, "PRAGMA user_version") == [(2,)]
    assert foreign(directory, "SELECT size = length(body) FROM event") == [(1,)]


def test_a_migration_that_fails_leaves_the_older_log(directory: str) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        add_size(connection)
        connection.execute("SELECT no_such_column FROM event")

    make_version_0(directory)
    with pytest.raises(StoreError, match="no_such_column"):
        Writer.open(directory, form=FROM_0_TO_2._replace(migrations={0: add_by, 1: fail}))
    assert foreign(directory, "PRAGMA user_version") == [(0,)]
    columns = [row[1] for row in foreign(directory, "PRAGMA table_info(event)")]
    assert "by" not in columns
    assert "size" not in columns
    Writer.open(directory, form=FROM_0, wait=0).close()  # and the lock was given back


def test_a_reader_reads_an_older_log_as_it_is(directory: str) -> None:
    """A worker of the previous build may be writing it: nothing may be brought up under it."""
    make_version_0(directory)
    with Reader.open(directory, form=FROM_0) as reader:
        header, [event] = reader.part()[:2]
        assert (event.seq, event.cause, event.by) == (1, "c", None)
        assert header.turn == 0
        assert reader.header_before(2).turn == 1
    assert foreign(directory, "PRAGMA user_version") == [(0,)]


def test_an_older_log_without_a_way_up_is_refused(directory: str) -> None:
    make_version_0(directory)
    before = files(directory)
    for opened in (Writer.open, Reader.open):
        with pytest.raises(NotALog, match="log format 0"):
            opened(directory)
    assert files(directory) == before


@pytest.mark.parametrize("opened", [Writer.open, Reader.open])
def test_a_newer_log_is_refused_and_left_to_the_byte(
    directory: str, opened: Callable[..., object]
) -> None:
    with Writer.open(directory, create=True) as writer:
        writer.append([prompt(1), chunk("a")])
    foreign(directory, "PRAGMA user_version=7")
    os.unlink(os.path.join(directory, "lock"))
    before = files(directory)
    assert list(before) == ["log.db"]
    with pytest.raises(TooNew, match=r"newer Rookery \(log format 7; this one knows 2\). Update"):
        opened(directory)
    assert files(directory) == before


def test_a_newer_version_that_only_the_wal_knows_is_seen(directory: str) -> None:
    """A writer that was killed right after it brought the log up."""
    Writer.open(directory, create=True).close()
    path = os.path.join(directory, "log.db")
    killed = os.path.join(os.path.dirname(directory), "killed")
    os.mkdir(killed)
    with closed(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("PRAGMA user_version=3")
        connection.execute("INSERT INTO blob VALUES ('a', 'b')")
        for name in ("log.db", "log.db-wal"):
            shutil.copy(os.path.join(directory, name), killed)
    before = files(killed)
    assert schema.look(os.path.join(killed, "log.db")) == 1, "the file alone knows nothing of it"
    with pytest.raises(TooNew):
        Writer.open(killed)
    assert files(killed) == before
    with pytest.raises(TooNew):
        Reader.open(killed)
    assert {name: files(killed)[name] for name in before} == before


def test_a_wal_that_was_cut_short_or_is_none_says_nothing(directory: str) -> None:
    Writer.open(directory, create=True).close()
    wal = Path(directory, "log.db-wal")
    for content in (b"", b"short", b"\0" * 32, b"\xff" * 5000):
        wal.write_bytes(content)
        assert schema.look(os.path.join(directory, "log.db"), wal=True) == 1


def made_by_another_program(path: str) -> None:
    with closed(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")


@pytest.mark.parametrize("opened", [Writer.open, Reader.open])
@pytest.mark.parametrize(
    "make",
    [
        made_by_another_program,
        lambda path: Path(path).write_bytes(b""),
        lambda path: Path(path).write_bytes(b"hello " * 2000),
        lambda path: Path(path).write_bytes(b"SQLite format 3\0"),
    ],
    ids=["another database", "empty", "text", "cut short"],
)
def test_a_file_that_is_no_log_is_refused_and_left(
    directory: str, opened: Callable[..., object], make: Callable[[str], None]
) -> None:
    os.mkdir(directory)
    make(os.path.join(directory, "log.db"))
    before = files(directory)
    with pytest.raises(NotALog):
        opened(directory)
    if opened is Writer.open:
        with pytest.raises(NotALog):
            Writer.open(directory, create=True)
    assert files(directory) == before


def test_a_directory_in_the_place_of_a_log_is_refused(directory: str) -> None:
    os.makedirs(os.path.join(directory, "log.db"))
    for opened in (Writer.open, Reader.open):
        with pytest.raises(NotALog):
            opened(directory)
    assert os.listdir(directory) == ["log.db"]


@pytest.mark.parametrize("opened", [Writer.open, Reader.open])
def test_where_there_is_no_session_nothing_is_made(
    directory: str, opened: Callable[..., object]
) -> None:
    with pytest.raises(NoSession):
        opened(directory)
    assert not os.path.exists(directory)
    os.mkdir(directory)
    with pytest.raises(NoSession):
        opened(directory)
    assert os.listdir(directory) == []


def test_a_log_that_another_makes_at_the_same_time_is_opened_not_made_again(
    directory: str,
) -> None:
    os.mkdir(directory)
    lock = Lock.acquire(os.path.join(directory, "lock"))
    with pytest.raises(Busy):
        Writer.open(directory, create=True, wait=0)
    schema.create(os.path.join(directory, "log.db"))
    lock.release()
    foreign(directory, "INSERT INTO blob VALUES ('kept', 'x')")
    with Writer.open(directory, create=True) as writer:
        assert writer.last_seq == 0
    assert foreign(directory, "SELECT hash FROM blob") == [("kept",)]


@pytest.mark.parametrize("name", ["a b", "50%25", "why?", "a#b", "né", "\udcff", "a:b&mode=rw"])
def test_any_name_of_a_directory_will_do(tmp_path: Path, name: str) -> None:
    directory = str(tmp_path / name)
    with Writer.open(directory, create=True) as writer:
        writer.append([chunk("a")])
        with Reader.open(directory) as reader:
            assert reader.last_seq() == 1
    assert os.listdir(tmp_path) == [name]
    assert sorted(os.listdir(directory)) == ["lock", "log.db"]


def test_every_error_is_of_one_root() -> None:
    assert all(issubclass(error, LogError) for error in (Busy, NoSession, NotALog, TooNew))
