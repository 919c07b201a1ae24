"""Disk full: the commit fails cleanly, nothing is half-written, and the same drafts go in later."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from rookery.log.errors import Full, StoreError
from rookery.log.reader import Reader
from rookery.log.store import Writer
from tests.log.drafts import chunk, commands, files, folded, idle, prompt

type Write = Callable[..., Writer]
type Read = Callable[..., Reader]

LARGE = [chunk("x" * 20_000) for _ in range(20)]


def allow(writer: Writer, more: int) -> None:
    """Let the database have so many pages more than it has."""
    [(pages,)] = writer._connection.execute("PRAGMA page_count").fetchall()
    writer._connection.execute(f"PRAGMA max_page_count={pages + more}").fetchall()


@pytest.mark.parametrize("full", [False, True])
def test_a_full_disk_refuses_the_whole_append_and_takes_it_later(
    write: Write, read: Read, full: bool
) -> None:
    writer = write()
    before = writer.append([prompt(1), chunk("a")])
    header = writer.header
    drafts = [idle(1), commands(100), prompt(2, "cause"), *LARGE]
    allow(writer, 3)
    for _ in range(3):
        with pytest.raises(Full, match="no space left"):
            writer.append(drafts, full=full)
        assert writer.last_seq == 2
        assert writer.header is header
        assert writer.knows("cause") is None
        assert read().read(0) == before
    allow(writer, 10_000)
    after = writer.append(drafts, full=full)
    assert [event.seq for event in after] == list(range(3, 3 + len(drafts)))
    assert read().read(0) == before + after
    assert read().header_before(2) == folded(before + after[:2])


def test_a_small_append_still_fits_where_a_large_one_did_not(write: Write) -> None:
    writer = write()
    allow(writer, 3)
    with pytest.raises(Full):
        writer.append(LARGE)
    assert writer.append([chunk("small")])[0].seq == 1


def test_a_blob_that_does_not_fit_is_not_kept(write: Write) -> None:
    writer = write()
    allow(writer, 3)
    with pytest.raises(Full):
        writer.put_blob(b"x" * 100_000)
    allow(writer, 1000)
    assert writer.blob(writer.put_blob(b"x" * 100_000)) == b"x" * 100_000


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file may grow beyond the size: writing to one fails, as on a disk that fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    quiet = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, quiet)


def test_a_failing_disk_refuses_the_whole_append_and_takes_it_later(
    write: Write, read: Read
) -> None:
    writer = write()
    before = writer.append([prompt(1), chunk("a")])
    with files_of_at_most(200_000):
        for _ in range(3):
            with pytest.raises(StoreError):
                writer.append(LARGE)
            assert writer.last_seq == 2
        before += writer.append([chunk("small")])
    after = writer.append(LARGE)
    assert read().read(0) == before + after
    writer.close()
    assert write().last_seq == 3 + len(LARGE)


def test_what_cannot_be_emptied_into_the_file_stays_safe_in_the_wal(
    directory: str, write: Write, read: Read
) -> None:
    writer = write()
    events = writer.append(LARGE)
    with files_of_at_most(100_000):
        writer.close()
    assert os.path.getsize(os.path.join(directory, "log.db-wal")) > 0
    assert read().read(0) == events
    assert write().last_seq == len(events)


def test_a_log_that_cannot_be_made_is_not_there(directory: str, write: Write) -> None:
    """In a process of its own: the limit holds for the lock's file and all."""
    make = (
        "import resource, signal, sys\n"
        "from rookery.log.errors import StoreError\n"
        "from rookery.log.store import Writer\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "try: Writer.open(sys.argv[1], create=True)\n"
        "except StoreError: print('refused')\n"
    )
    ran = subprocess.run([sys.executable, "-c", make, directory], check=True, capture_output=True)
    assert ran.stdout == b"refused\n"
    assert "log.db" not in files(directory)
    assert write().append([chunk("a")])[0].seq == 1
