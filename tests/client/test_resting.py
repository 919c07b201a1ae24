"""What is kept of sessions at rest saves reading them, and is not believed once they changed."""

import json
import os
import shutil
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.cli.checkup import logs
from rookery.client import fleet, offline
from rookery.client.create import create_session, write_head
from rookery.client.fleet import heads
from rookery.core.json import Draft, Json
from rookery.home import paths, resting, seen
from rookery.log.store import Writer
from rookery.usage.collection import Filters, collect

ASK: Json = {"sessionUpdate": "_ask", "id": "a", "state": "asked", "kind": "permission"}
SESSIONS = 5

_counted: Counter[str] | None = None


def _count(event: str, arguments: tuple[object, ...]) -> None:
    if _counted is None or event not in ("open", "sqlite3.connect", "socket.connect"):
        return
    if event != "open" or "/sessions/" in str(arguments[0]):
        _counted[event] += 1


sys.addaudithook(_count)


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Files of sessions that are opened, logs that are, and sockets that are tried."""
    global _counted  # noqa: PLW0603 - a hook cannot be taken back
    _counted = found = Counter[str]()
    try:
        yield found
    finally:
        _counted = None


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing changes twice in one tick here."""
    monkeypatch.setattr(resting, "FRESH", 0)


@pytest.fixture
def sessions(home: Path) -> list[Path]:
    """The first is shown, the others are archived; all are known to be at rest."""
    found = [made(home, archived=bool(number)) for number in range(SESSIONS)]
    heads(str(home))
    return found


def made(home: Path, *, archived: bool = False) -> Path:
    name = create_session(str(home), agent="demo", argv=[], cwd="/", title="One")
    if archived:
        write(home, name, {"sessionUpdate": "_session", "archived": True})
    return Path(paths.session_dir(str(home), name))


def write(home: Path, session: str, update: Json) -> None:
    """As a worker does, of any build."""
    directory = paths.session_dir(str(home), session)
    with Writer.open(directory) as writer:
        event = writer.append([Draft(update)])[-1]
        write_head(directory, writer.header, event.seq, event.at)


def plain(found: list[Json]) -> dict[str, Json]:
    return {head["id"]: head for head in found}


def test_a_list_opens_no_file_of_a_session_at_rest(home: Path, sessions: list[Path]) -> None:
    with counting() as counted:
        found = heads(str(home))
    assert not counted
    assert {head["id"] for head in found} == {each.name for each in sessions}
    os.unlink(home / "cache" / resting.FILE)
    assert plain(heads(str(home))) == plain(found)
    assert [head["id"] for head in heads(str(home), hidden=False)] == [sessions[0].name]


def _asked(home: Path, session: Path) -> None:
    write(home, session.name, ASK)


def _running(home: Path, session: Path) -> None:
    record = {"pid": 1, "start": "", "build": "0.1.0"}
    paths.write_atomic(str(session / paths.WORKER), json.dumps(record).encode())


def _renamed(home: Path, session: Path) -> None:
    command = {"do": "rename", "title": "Two", "id": "x"}
    offline.carry_out(str(session), command, "test")


def _seen(home: Path, session: Path) -> None:
    seen.mark(str(session), 1)


def _without_head(home: Path, session: Path) -> None:
    (session / paths.HEAD).unlink()


def _deleted(home: Path, session: Path) -> None:
    shutil.rmtree(session)


def _restored(home: Path, session: Path) -> None:
    """From a backup with its times, after it was archived."""
    shutil.copytree(session, home / "backup", symlinks=True)
    head = json.loads((home / "backup" / paths.HEAD).read_text())
    (home / "backup" / paths.HEAD).write_text(json.dumps(head | {"title": "From the backup"}))
    os.utime(home / "backup", ns=(session.stat().st_atime_ns, session.stat().st_mtime_ns))
    shutil.rmtree(session)
    (home / "backup").rename(session)


@pytest.mark.parametrize(
    "change", [_asked, _running, _renamed, _seen, _without_head, _deleted, _restored]
)
@pytest.mark.parametrize("which", [0, -1], ids=["shown", "archived"])
def test_a_change_shows_at_once(
    home: Path, sessions: list[Path], change: Callable[[Path, Path], None], which: int
) -> None:
    """As if nothing had been kept."""
    change(home, sessions[which])
    for hidden in (True, False):
        found = plain(heads(str(home), hidden=hidden))
        os.unlink(home / "cache" / resting.FILE)
        fresh = plain(heads(str(home), hidden=hidden))
        assert {name: head for name, head in fresh.items() if name in found} == found
        assert all(
            head["archived"] and not head["asks"]
            for name, head in fresh.items()
            if name not in found
        )


def test_a_worker_that_listens_is_seen_though_the_directory_is_as_before(
    home: Path, sessions: list[Path]
) -> None:
    place = paths.socket_path(str(sessions[-1]))
    paths.make_socket_dir(place)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as worker:
        worker.bind(place)
        worker.listen()
        assert [head["id"] for head in heads(str(home)) if head["awake"]] == [sessions[-1].name]
        awake = [head for head in heads(str(home), hidden=False) if head["awake"]]
        assert [head["id"] for head in awake] == [sessions[-1].name]


@pytest.mark.parametrize("damage", [b"", b"\0" * 64, b"1 2 3\n"], ids=["empty", "zeros", "torn"])
def test_what_is_kept_and_damaged_is_not_used(
    home: Path, sessions: list[Path], damage: bytes
) -> None:
    path, found = home / "cache" / resting.FILE, plain(heads(str(home)))
    kept = path.read_bytes()
    for spoilt in (damage, kept[: len(kept) // 2] + damage, kept.replace(b"9", b"8")):
        path.write_bytes(spoilt)
        assert plain(heads(str(home))) == found
    assert path.read_bytes() == kept


def test_a_home_that_was_copied_is_read_anew(home: Path, sessions: list[Path]) -> None:
    copy = home / "copy"
    shutil.copytree(home, copy, ignore=shutil.ignore_patterns("copy"))
    path = copy / "sessions" / sessions[0].name / paths.HEAD
    path.write_text(path.read_text().replace("One", "Two"))  # in place: the times stay
    assert "Two" in {head["title"] for head in heads(str(copy))}


def test_a_time_in_the_future_keeps_nothing(home: Path, sessions: list[Path]) -> None:
    """Of a clock that went back: the next change may get the same time."""
    os.utime(sessions[0], (2**33, 2**33))
    heads(str(home))
    with counting() as counted:
        heads(str(home))
    assert counted["open"]
    assert resting.stamp_of(str(sessions[0])) == ""


def test_a_session_is_found_by_its_id_without_the_others(home: Path, sessions: list[Path]) -> None:
    os.unlink(home / "cache" / resting.FILE)
    with counting() as counted:
        assert fleet.find(str(home), sessions[2].name) == sessions[2].name
    assert not counted


def test_doctor_opens_an_old_log_again_only_after_it_changed(
    home: Path, sessions: list[Path]
) -> None:
    [first] = logs.check(str(home), most=0)
    with counting() as counted:
        [told] = logs.check(str(home), most=0)
    assert not counted["sqlite3.connect"]
    assert f"and {SESSIONS} have not changed" in told.words
    assert first.verdict == told.verdict == "ok"
    with counting() as counted:
        assert logs.check(str(home))[0].words == f"{SESSIONS} logs, none damaged"
    assert counted["sqlite3.connect"] >= SESSIONS
    with (sessions[1] / paths.LOG).open("r+b") as file:
        file.write(b"\xff" * 100)
    for _ in range(2):  # it is not forgotten
        [row] = logs.check(str(home), most=0)
        assert row.verdict == "not ok"
        assert sessions[1].name in row.words


def test_usage_opens_only_logs_that_were_written_in_its_period(
    home: Path, sessions: list[Path]
) -> None:
    for each in sessions[1:]:
        os.utime(each / paths.LOG, (1, 1))
    with counting() as counted:
        collect(str(home), Filters(since=1_000_000))
    assert counted["sqlite3.connect"] == 2  # each log is looked at before it is opened
    with counting() as counted:
        collect(str(home))
    assert counted["sqlite3.connect"] == 2 * (SESSIONS - 1)
