"""Full, damaged and read-only disks, as a person meets them: what waits is said, what is broken can
be removed, and what can be read is shown."""

import errno
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rookery.cli.checkup import logs
from rookery.cli.errors import explain
from rookery.client import fleet
from rookery.client.session import Trouble
from rookery.home import paths
from rookery.processes import tree
from tests.cli.driving import ROOKERY, Running, made, play, rookery
from tests.client.work_tree.trees import WHO, Tree

HELLO = {"text": "hello"}
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk")


def sessions(home: Path) -> list[str]:
    return sorted(os.listdir(paths.sessions(str(home))))


def folder(home: Path, session: str) -> Path:
    return Path(paths.session_dir(str(home), session))


def asleep(home: Path, session: str) -> None:
    rookery("stop", session)
    worker = json.loads((folder(home, session) / paths.WORKER).read_text())
    assert not tree.wait_gone([tree.Process(worker["pid"], worker["start"])], 30.0)


@contextmanager
def mounted(place: Path, *words: str) -> Iterator[None]:
    subprocess.run(["mount", *words, str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def small(home: Path) -> Iterator[Path]:
    """The home on a disk of 3 MiB."""
    home.mkdir(exist_ok=True)
    with mounted(home, "-t", "tmpfs", "-o", "size=3m,mode=700", "none"):
        yield home
        for name in os.listdir(home / "sessions"):
            if paths.is_id(name):
                fleet.kill(str(home), name)


def fill(home: Path) -> Path:
    filler = home / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
    return filler


def test_doctor_reads_a_bounded_amount_of_logs(home: Path) -> None:
    """Those that changed last, whole; of the others that they open. `--all-logs`: every one."""
    old, _ = (rookery("new").out.strip() for _ in range(2))
    os.utime(folder(home, old) / paths.LOG, (1, 1))
    [told] = logs.check(str(home), most=logs.LEAST)
    assert told.verdict == "ok"
    assert told.words.startswith("2 logs, no damage found; of 1 only the end was read")
    assert "2 logs, none damaged" in rookery("doctor", "--all-logs").out


# --- full ---------------------------------------------------------------------------------------


@ROOT
def test_a_prompt_on_a_full_disk_waits_and_the_exit_code_says_so(small: Path) -> None:
    session = made(HELLO)
    filler = fill(small)
    sent = rookery("prompt", session, play({"text": "after all"}))
    assert sent.code == 5
    assert "The prompt waits in the worker" in sent.err
    assert "do not send it again" in sent.err
    assert "try again" not in sent.err
    assert rookery("show", session).code == 0
    filler.unlink()
    with Running("tail", session) as tail:
        tail.read_until("\nafter all")
    assert "5 waiting for" in rookery("--help").out


@ROOT
def test_on_a_full_disk_the_oldest_in_the_trash_makes_room_and_it_is_said(small: Path) -> None:
    session, old = made(HELLO), made(HELLO)
    (folder(small, old) / "agent.log").write_bytes(b"x" * 600_000)
    assert rookery("remove", "--yes", old).code == 0
    fill(small)
    rookery("prompt", session, play({"text": "after all"}))
    with Running("tail", session) as tail:
        tail.read_until("the oldest in the trash was deleted")
    assert "after all" in rookery("show", session).out
    assert rookery("restore", old).code == 2


@pytest.mark.long
@ROOT
def test_a_full_disk_can_be_freed_by_deleting_a_session(small: Path) -> None:
    """Whether its worker finds room to start or not: either is said as what it is."""
    session = made(HELLO)
    asleep(small, session)
    fill(small)
    refused = rookery("prompt", session, "hello")
    told = {1: "no space left on the disk", 5: "the disk is full"}
    assert told[refused.code] in refused.err
    removed = rookery("rm", "--yes", session)
    assert (removed.code, sessions(small)) == (0, []), removed.err
    freed = rookery("trash", "--empty", "--yes")
    assert (freed.code, os.listdir(small / "trash")) == (0, []), freed.err


@ROOT
@pytest.mark.parametrize("command", [("new",), ("run", "hello")])
def test_new_and_run_leave_no_folder_on_a_full_disk(small: Path, command: tuple[str, ...]) -> None:
    session = made(HELLO)
    fill(small)
    refused = rookery(*command)
    assert refused.code == 1
    assert "no space left" in refused.err.lower()
    assert sessions(small) == [session]


def test_run_leaves_no_empty_session_where_no_worker_starts(home: Path) -> None:
    """As on a disk that has room for the session, and none for its worker."""
    session = rookery("new").out.strip()
    (home / "run").write_text("in the way of the sockets")
    refused = rookery("run", play(HELLO))
    assert (refused.code, "did not start" in refused.err) == (1, True)
    assert sessions(home) == [session]
    assert rookery("prompt", session, play(HELLO)).code == 1
    assert sessions(home) == [session], "one that a person made stays"


@pytest.mark.long
def test_a_session_is_created_whole_or_not_at_all(home: Path) -> None:
    """Where a disk fails at any byte of its making."""
    made(HELLO)
    before = sessions(home)
    for most in (0, 500, 3000, 20_000, 60_000):
        done = subprocess.run(
            [*ROOKERY, "new", "--agent", "demo"],
            capture_output=True,
            check=False,
            preexec_fn=lambda most=most: files_of_at_most(most),
        )
        if done.returncode:
            assert sessions(home) == before
        else:
            before = sessions(home)
            assert rookery("show", done.stdout.decode().strip()).code == 0


def files_of_at_most(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_half_made_sessions_are_removed_by_the_next_command(home: Path) -> None:
    session = made(HELLO)
    half = Path(paths.sessions(str(home)), ".new-0123456789")
    half.mkdir()
    os.utime(half, (time.time() - 7200,) * 2)
    assert rookery("ps").out.count("\n") == 2
    other = rookery("new", "--agent", "demo").out.strip()
    assert sessions(home) == sorted([session, other])


def test_disk_trouble_names_the_waiting_command() -> None:
    assert "The command (stop) waits in the worker" in str(
        Trouble.about("the disk is full", "stop")
    )


# --- damaged ------------------------------------------------------------------------------------


def damage(home: Path, session: str, how: str) -> None:
    log = folder(home, session) / paths.LOG
    match how:
        case "garbage":
            log.write_bytes(b"not a log at all" * 1000)
        case "pages":
            data = bytearray(log.read_bytes())
            data[4096:] = b"\xff" * (len(data) - 4096)
            log.write_bytes(data)
        case "empty":
            log.write_bytes(b"")
        case "gone":
            log.unlink()


@pytest.mark.parametrize("with_head", [True, pytest.param(False, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "how",
    [
        "garbage",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("pages", "empty", "gone")),
    ],
)
def test_a_damaged_log_is_found_reported_and_removed(home: Path, how: str, with_head: bool) -> None:
    session, sound = made(HELLO), made(HELLO)
    asleep(home, session)
    damage(home, session, how)
    if not with_head:
        (folder(home, session) / paths.HEAD).unlink()
    listed = rookery("ps")
    assert (listed.code, session in listed.out) == (0, True), listed.err
    assert ("damaged" in listed.out) is not with_head
    checked = rookery("doctor")
    assert checked.code == 1
    fault, remedy = ("it has no log", "") if how == "gone" else ("its log is damaged", ".recover")
    assert f"{session}: {fault}" in checked.out
    assert remedy in checked.out
    assert f"rookery remove {session}" in checked.out
    assert sound not in checked.out
    assert rookery("show", session).code == 1
    assert rookery("kill", session).code == 0
    assert session in rookery("prune", "--damaged").out
    removed = rookery("prune", "--damaged", "--yes")
    assert (removed.code, sessions(home)) == (0, [sound]), removed.err
    assert rookery("doctor").out.count("damaged:") == 0
    fleet.kill(str(home), sound)


@pytest.mark.parametrize("how", ["garbage", "gone"])
def test_a_damaged_session_is_named_by_its_id_and_deleted(home: Path, how: str) -> None:
    session = made(HELLO)
    asleep(home, session)
    damage(home, session, how)
    (folder(home, session) / paths.HEAD).unlink()
    removed = rookery("rm", "--yes", session[:6])
    assert (removed.code, sessions(home)) == (0, []), removed.err


def test_the_worker_of_a_damaged_log_can_be_killed(home: Path) -> None:
    session = made({"text": "begun"})
    worker = json.loads((folder(home, session) / paths.WORKER).read_text())
    damage(home, session, "garbage")
    killed = rookery("kill", session)
    assert killed.code == 0, killed.err
    assert not tree.alive(worker["pid"], worker["start"])


@pytest.mark.long
def test_a_lost_wal_is_reported(home: Path) -> None:
    """By every look, by doctor, and once in the log itself."""
    session = made(HELLO)
    asleep(home, session)
    rookery("prompt", session, "--wait", play(HELLO))
    worker = json.loads((folder(home, session) / paths.WORKER).read_text())
    tree.kill([tree.Process(worker["pid"], worker["start"])])
    assert not tree.wait_gone([tree.Process(worker["pid"], worker["start"])], 30.0)
    for name in ("log.db-wal", "log.db-shm"):
        (folder(home, session) / name).unlink()
    assert "events of this session are gone" in rookery("show", session).err
    assert "log.db-wal was lost" in rookery("doctor").out
    events = rookery("prompt", session, "--wait", "--json", play(HELLO)).out
    everything = rookery("show", session, "--all", "--events").out
    assert everything.count("of this session are gone") == 1
    assert events
    assert "gone" not in rookery("show", session).err
    fleet.kill(str(home), session)


# --- read-only ----------------------------------------------------------------------------------


@ROOT
@pytest.mark.parametrize(
    "ended",
    ["killed", *(pytest.param(each, marks=pytest.mark.long) for each in ("stopped", "copied"))],
)
def test_a_read_only_home_can_be_read(home: Path, ended: str) -> None:
    """Also where the WAL holds the end of the log, and nothing beside it."""
    session = made({"text": "the last word"}, title="One")
    if ended == "stopped":
        asleep(home, session)
    else:
        worker = json.loads((folder(home, session) / paths.WORKER).read_text())
        own = tree.Process(worker["pid"], worker["start"])
        warden = tree.Process(worker["warden"], worker["wardenStart"])
        tree.kill([own])
        assert not tree.wait_gone([own, warden], 60.0), "it tidies up after its worker"
    if ended == "copied":
        (folder(home, session) / "log.db-shm").unlink()
    before = sorted(path.name for path in home.rglob("*"))
    with mounted(home, "--bind", str(home)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(home)], check=True)
        for command in (("ps",), ("show", session), ("logs", session), ("queue", session)):
            done = rookery(*command)
            assert done.code == 0, done.err
        assert "the last word" in rookery("show", session).out
        with Running("tail", session) as tail:
            tail.read_until("the last word")
        assert "none damaged" in rookery("doctor").out
        refused = rookery("prompt", session, "hello")
        assert refused.code == 1
        assert "the disk is mounted read-only" in refused.err
    assert sorted(path.name for path in home.rglob("*")) == before


# --- what waits, and what is to be done again -----------------------------------------------------


@ROOT
def test_a_merge_on_a_full_disk_says_what_waits_and_what_to_do_again(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the merge nothing is merged, and after it what is missing is a note."""
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    repository = Tree(tmp_path / "repository", a__txt="one\n").place
    session = rookery("new", "--agent", "demo", "--worktree", cwd=repository).out.strip()
    assert rookery("prompt", "--wait", session, play(HELLO)).code == 0
    tree = json.loads((folder(small, session) / paths.HEAD).read_text())["worktree"]["path"]
    Path(tree, "b").write_text("b")
    filler = fill(small)
    refused = rookery("merge", session, "-m", "b")
    assert refused.code == 1
    assert "Nothing was merged: no space left on the disk. Free some." in refused.err
    assert "Then merge again." in refused.err
    assert "do not send it again" not in refused.err
    assert not (repository / "b").exists()
    filler.unlink()
    asleep(small, session)
    done = rookery("merge", session, "-m", "b")
    assert (done.code, (repository / "b").exists()) == (0, True), done.err


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EDQUOT, "your disk quota is used up"),
        (errno.EIO, "the disk failed to read or write (input/output error)"),
        (errno.EROFS, "the disk is mounted read-only"),
    ],
)
def test_what_is_wrong_with_a_disk_is_called_by_its_name(
    home: Path, number: int, words: str
) -> None:
    told, code = explain(OSError(number, os.strerror(number), str(home / "x"))) or ("", 0)
    assert (code, words in told, "space" in told) == (1, True, False)
    told, _ = explain(OSError(number, os.strerror(number))) or ("", 0)
    assert (words in told, "space" in told) == (True, False)


@ROOT
def test_a_disk_that_can_only_be_read_is_not_called_full(small: Path) -> None:
    session = made(HELLO)
    asleep(small, session)
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    try:
        sent = rookery("prompt", session, "hello")
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small)], check=True)
    assert sent.code == 1
    assert "the disk is mounted read-only" in sent.err
    assert "space" not in sent.err


@ROOT
def test_a_full_disk_is_named_when_a_worker_cannot_start(small: Path) -> None:
    """Here it has no room for another file, and the worker cannot even say so in its log."""
    session = made(HELLO)
    asleep(small, session)
    found = os.statvfs(small)
    fill(small)
    used = found.f_files - found.f_ffree + 1
    subprocess.run(["mount", "-o", f"remount,nr_inodes={used}", str(small)], check=True)
    refused = rookery("prompt", session, "hello")
    assert refused.code == 1
    assert "no space left on the disk" in refused.err
    assert "is empty" not in refused.err
