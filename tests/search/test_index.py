"""The index against what happens to files: deleted, replaced, damaged, full disk, kill -9, two at
once."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rookery.core.json import Draft
from rookery.home import paths
from rookery.log.lock import LOCK_FILE, Lock
from rookery.log.store import Writer
from rookery.search import index
from rookery.search.query import query
from rookery.search.update import update
from tests.search.conftest import Write, call, chunk, idle, prompt


def seqs(home: str, words: str) -> list[tuple[str, int]]:
    return [(hit.session, hit.seq) for hit in query(home, words, limit=1000).hits]


def has_word(home: str, word: str) -> bool:
    """In any volume of the index, whether or not it would be found."""
    link = sqlite3.connect(index.path(home))
    tables = [name for (name,) in link.execute("SELECT name FROM sqlite_master").fetchall()]
    volumes = [name for name in tables if name.startswith("words_") and name.count("_") == 1]
    hits = [
        link.execute(f"SELECT 1 FROM {name} WHERE {name} MATCH ?", (word,)).fetchall()  # noqa: S608
        for name in volumes
    ]
    link.close()
    return any(hits)


def test_a_deleted_session_leaves_nothing(home: str, write: Write) -> None:
    write("aaaa", prompt("a robin"), idle())
    write("bbbb", prompt("a wren"), idle())
    assert update(home).done
    shutil.rmtree(paths.session_dir(home, "aaaa"))
    assert not seqs(home, "robin")  # before the update: its log is gone
    assert update(home).done
    assert not has_word(home, "robin")
    assert seqs(home, "wren") == [("bbbb", 1)]
    for end in ("", "-wal"):
        if os.path.exists(index.path(home) + end):
            assert b"robin" not in Path(index.path(home) + end).read_bytes()


def test_the_other_volumes_stay(home: str, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "ROWS", 4)
    for number in range(12):
        write(f"s{number:02}", prompt(f"bird n{number}"), idle(), at=1000 + number)
        assert update(home).done
    shutil.rmtree(paths.session_dir(home, "s05"))
    progress = update(home)
    assert progress.done
    assert 0 < progress.events < 12
    assert [name for name, _ in seqs(home, "bird")] == [
        f"s{number:02}" for number in range(11, -1, -1) if number != 5
    ]


def test_a_log_that_is_shorter_or_another_one_is_indexed_again(home: str, write: Write) -> None:
    directory = paths.session_dir(home, "aaaa")
    write("aaaa", prompt("a robin"), idle())
    kept = shutil.copytree(directory, f"{home}/kept")
    write("aaaa", prompt("a wren", 2), idle(2))
    assert update(home).done
    shutil.rmtree(directory)
    shutil.copytree(kept, directory)
    assert update(home).done
    assert (seqs(home, "robin"), has_word(home, "wren")) == ([("aaaa", 1)], False)
    write("aaaa", prompt("a heron", 2), chunk("more"), chunk("and more"), idle(2))
    assert update(home).done
    shutil.rmtree(directory)
    shutil.copytree(kept, directory)
    write("aaaa", prompt("a stork", 2), chunk("even"), chunk("more"), chunk("now"), idle(2))
    assert update(home).done
    assert (seqs(home, "stork"), has_word(home, "heron")) == ([("aaaa", 3)], False)
    assert seqs(home, "robin") == [("aaaa", 1)]


def test_events_that_were_pruned_are_no_hits(home: str, write: Write) -> None:
    for turn in range(1, 4):
        write("aaaa", prompt(f"ask {turn}", turn), chunk(f"a robin {turn}"), idle(turn))
    assert update(home).done
    assert len(seqs(home, "robin")) == 3
    with Writer.open(paths.session_dir(home, "aaaa")) as log:
        assert log.prune(3)
    assert update(home).done
    assert seqs(home, "robin") == [("aaaa", 8)]
    shutil.rmtree(index.folder(home))
    assert update(home).done
    assert seqs(home, "robin") == [("aaaa", 8)]


@pytest.mark.parametrize("how", ["garbage", "cut", "empty", "version", "table"])
def test_a_damaged_index_is_made_again(home: str, write: Write, how: str) -> None:
    for number in range(30):
        write("aaaa", prompt(f"robin {number}", number + 1), idle(number + 1))
    assert update(home).done
    before = seqs(home, "robin")
    file = Path(index.path(home))
    link = sqlite3.connect(file)
    if how == "version":
        link.execute("PRAGMA user_version=99")
    if how == "table":
        link.execute("DROP TABLE extent")
        link.commit()
    link.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    link.close()
    data = file.read_bytes()
    if how == "garbage":
        file.write_bytes(data[:4096] + os.urandom(len(data) - 4096))
    elif how == "cut":
        file.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        file.write_bytes(b"")
    query(home, "robin")  # no exception, whatever it finds
    write("bbbb", prompt("other"), idle())
    assert update(home).done
    assert seqs(home, "robin") == before


def test_one_updates_and_others_read(home: str, write: Write) -> None:
    write("aaaa", prompt("a robin"), idle())
    assert update(home).done
    write("aaaa", prompt("a wren", 2), idle(2))
    lock = Lock.acquire(os.path.join(index.folder(home), LOCK_FILE))
    try:
        progress = update(home)
        assert (progress.done, progress.busy) == (False, True)
        assert seqs(home, "robin") == [("aaaa", 1)]
    finally:
        lock.release()
    assert update(home).done
    assert seqs(home, "wren") == [("aaaa", 3)]


def test_an_update_that_is_stopped_goes_on_later(home: str, write: Write) -> None:
    for number in range(5):
        write(f"s{number}", *(call(f"c{n}", title=f"robin {n}") for n in range(50)), idle())
    calls = iter([False] * 6 + [True] * 1000)
    progress = update(home, stop=lambda: next(calls))
    assert not progress.done
    assert progress.left
    assert update(home).done
    assert len(seqs(home, "robin")) == 250
    write("s9", prompt("a wren"), idle())
    assert not update(home, seconds=0).done


def test_the_folder_is_deleted_in_the_middle(home: str, write: Write) -> None:
    for number in range(20):
        write(f"s{number:02}", prompt("a robin"), idle())
    stopped = []

    def stop() -> bool:
        if not stopped:
            stopped.append(True)
            shutil.rmtree(index.folder(home))
        return False

    update(home, stop=stop)
    assert update(home).done
    assert len(seqs(home, "robin")) == 20


def test_a_disk_that_is_full(home: str, write: Write) -> None:
    """A limit on the size of files is a full disk for SQLite."""
    write("aaaa", prompt("a robin"), idle())
    assert update(home).done
    words = [" ".join(f"wren{n}x{m}" for n in range(900)) for m in range(60)]
    write("bbbb", *map(prompt, words), idle())
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "from rookery.search.update import update\n"
        "from rookery.search.query import query\n"
        "progress = update(sys.argv[1])\n"
        "assert not progress.done and progress.problem, progress\n"
        "assert [hit.session for hit in query(sys.argv[1], 'robin').hits] == ['aaaa']\n"
    )
    subprocess.run([sys.executable, "-c", program, home], check=True, timeout=60)
    assert update(home).done
    assert len(seqs(home, "wren1x3")) == 1


def test_kill_9_in_the_middle_leaves_a_sound_index(home: str, write: Write) -> None:
    for number in range(6):
        text = " ".join(f"robin{number} w{n}" for n in range(400))
        write(f"s{number}", *(prompt(f"{text} p{n}") for n in range(30)), idle(), at=1000 + number)
    program = (
        "import sys\n"
        "from rookery.search import update as updating\n"
        "updating.EVENTS = 7\n"
        "def tell(done, every):\n"
        "    print(done, flush=True)\n"
        "updating.update(sys.argv[1], tell=tell)\n"
        "print('end', flush=True)\n"
    )
    killed = 0
    for lines in range(1, 12):
        child = subprocess.Popen(
            [sys.executable, "-c", program, home], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        for _ in range(lines):
            if child.stdout.readline() in ("end\n", ""):
                break
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        killed += 1
        link = sqlite3.connect(index.path(home))
        assert link.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        link.close()
    assert killed
    assert update(home).done
    hits = seqs(home, "w7")
    assert len(hits) == 180
    shutil.rmtree(index.folder(home))
    assert update(home).done
    assert seqs(home, "w7") == hits


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_can_only_be_read(home: str, write: Write) -> None:
    write("aaaa", prompt("a robin"), idle())
    assert update(home).done
    write("aaaa", prompt("a wren", 2), idle(2))
    os.chmod(index.folder(home), 0o500)
    try:
        assert update(home).problem
        assert seqs(home, "robin") == [("aaaa", 1)]
    finally:
        os.chmod(index.folder(home), 0o700)


def test_a_home_without_sessions(tmp_path: Path) -> None:
    home = str(tmp_path / "none")
    assert update(home).done
    assert query(home, "robin").hits == []
    assert not os.path.exists(home)


def test_a_log_that_grows_while_it_is_indexed_and_searched(home: str) -> None:
    """The writer never waits, nothing is lost, and nothing is found twice."""
    directory = paths.session_dir(home, "aaaa")
    over = threading.Event()
    problems: list[str] = []

    def work() -> None:
        while not over.is_set():
            progress = update(home)
            found = query(home, "robin", limit=1000)
            if progress.problem or found.problem:
                problems.append(progress.problem or found.problem)
            places = [hit.seq for hit in found.hits]
            if len(places) != len(set(places)):
                problems.append("twice")

    threads = [threading.Thread(target=work) for _ in range(2)]
    with Writer.open(directory, create=True) as log:
        for thread in threads:
            thread.start()
        for number in range(1, 101):
            drafts = [prompt(f"robin {number}", number), chunk("so"), chunk("me"), idle(number)]
            log.append([Draft(update_) for update_ in drafts])
    over.set()
    for thread in threads:
        thread.join()
    assert not problems
    assert update(home).done
    assert len(seqs(home, "robin")) == 100
    assert len(seqs(home, "some")) == 100
