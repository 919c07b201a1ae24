"""Starting a worker: the ready line, every way to miss it, and two starters at once."""

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from rookery.client.start import (
    Busy,
    Started,
    StartError,
    connectable,
    is_awake,
    reach_worker,
    start_worker,
)
from rookery.client.start import worker_argv as real_argv
from rookery.home import paths
from rookery.home.log_rotation import LOG_BYTES
from rookery.processes import tree as processes
from tests.worker.conftest import Roost

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in reads /proc")


def fail(roost: Roost, mode: str, timeout: float = 30) -> StartError:
    with pytest.raises(StartError) as caught:
        start_worker(roost.home, roost.session, argv=roost.argv(mode), timeout=timeout)
    return caught.value


def note_all(roost: Roost) -> None:
    """Who of the session is there: found by its command line, since nobody told."""
    lines = {row: Path(f"/proc/{row.pid}/cmdline") for row in processes.table()}
    for row, path in lines.items():
        with suppress(FileNotFoundError, ProcessLookupError):
            if roost.session.encode() in path.read_bytes().split(b"\0"):
                roost.started.append(row)


def test_started(roost: Roost) -> None:
    started = start_worker(roost.home, roost.session, argv=roost.argv("echo"))
    roost.see(started)
    assert started.socket == paths.socket_path(str(roost.directory))
    assert connectable(started.socket)


def test_no_zombie_is_left_to_the_starter(roost: Roost) -> None:

    def zombies() -> set[int]:
        rows = processes._scan()
        return {row.pid for row in rows if row.dead and row.parent == os.getpid()}

    before = zombies()  # a daemon that another test started here and stopped
    roost.start("echo")
    fail(roost, "crash")
    assert zombies() <= before


def test_worker_that_falls_over_is_quoted(roost: Roost) -> None:
    (roost.directory / paths.WORKER_LOG).write_text("of yesterday\n")
    error = fail(roost, "crash")
    assert error.reason == "died"
    assert "the stand-in fell over" in str(error)
    assert "of yesterday" not in str(error)


def test_worker_that_ends_without_a_word(roost: Roost) -> None:
    assert fail(roost, "status").reason == "died"


def test_worker_that_refuses(roost: Roost) -> None:
    error = fail(roost, "refuse")
    assert (error.reason, str(error)) == ("too_new", "The log is newer than this build.")


def test_worker_that_talks_nonsense(roost: Roost) -> None:
    assert fail(roost, "garble").reason == "garbled"


def test_worker_that_is_late_is_left_alone(roost: Roost) -> None:
    # Long enough for it to have forked on any machine is not needed: then it is killed instead.
    error = fail(roost, "silent", timeout=0.3)
    assert error.reason == "timeout"
    note_all(roost)


def test_interpreter_that_cannot_run(roost: Roost) -> None:
    with pytest.raises(StartError) as caught:
        start_worker(roost.home, roost.session, argv=["/nowhere/python"])
    assert caught.value.reason == "spawn"


def test_interpreter_that_cannot_start(roost: Roost) -> None:
    with pytest.raises(StartError, match="no-such-option") as caught:
        start_worker(roost.home, roost.session, argv=[sys.executable, "--no-such-option"])
    assert caught.value.reason == "died"


def test_no_such_session(roost: Roost) -> None:
    with pytest.raises(StartError) as caught:
        start_worker(roost.home, "absent")
    assert caught.value.reason == "no_session"


def test_long_log_is_put_aside(roost: Roost) -> None:
    (roost.directory / paths.WORKER_LOG).write_bytes(b"x" * (LOG_BYTES + 1))
    roost.start("echo")
    assert roost.log() == ""
    assert (roost.directory / "worker.log.1").stat().st_size == LOG_BYTES


def test_two_start_at_once(roost: Roost) -> None:
    """One wins, the other is told whom to connect to."""

    def start(_: int) -> Started | Busy:
        try:
            return start_worker(roost.home, roost.session, argv=roost.argv("lock"))
        except Busy as busy:
            return busy

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(start, range(4)))
    won = [outcome for outcome in outcomes if isinstance(outcome, Started)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, Busy)]
    assert (len(won), len(lost)) == (1, 3)
    roost.see(won[0])
    assert {busy.socket for busy in lost} == {won[0].socket}
    assert {busy.reason for busy in lost} == {"busy"}


def test_many_reach_one_worker(roost: Roost) -> None:
    def reach(_: int) -> str:
        return reach_worker(roost.home, roost.session, argv=roost.argv("lock"))

    with ThreadPoolExecutor(4) as pool:
        reached = set(pool.map(reach, range(8)))
    assert reached == {paths.socket_path(str(roost.directory))}
    note_all(roost)


def test_listing_sessions_wakes_nobody(tmp_path: Path) -> None:
    """With 200 sessions awake a list would wait for each of them in turn."""
    path = str(tmp_path / "s")
    assert not is_awake(path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        listener.setblocking(False)
        assert [is_awake(path) for _ in range(5)] == [True] * 5
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert not is_awake(path)


def test_connectable(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    assert not connectable(path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        assert not connectable(path)
        listener.listen(0)
        assert [connectable(path) for _ in range(5)] == [True] * 5  # its queue is full by then
    assert not connectable(path)


def test_real_worker_is_not_broken_by_the_starters_surroundings(
    roost: Roost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither PYTHONPATH nor the directory where somebody stands reaches the interpreter."""
    (tmp_path / "signal.py").write_text("raise SystemExit('the wrong signal')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StartError, match=r"usage: python -m rookery\.worker"):
        start_worker(roost.home, roost.session, argv=[*real_argv(), "--too-much"])


def test_a_worker_finds_the_websocket_library_for_an_address_only() -> None:
    """It has no site-packages. Where the library is missing, the connection says so."""
    code = (
        f"import asyncio, sys; sys.path.insert(0, {real_argv()[-1].rsplit('/', 3)[0]!r}); "
        "from rookery.wire.websocket import client; early, size = {*sys.modules}, len(sys.path)\n"
        "try: asyncio.run(client.connect(client.Target('ws://127.0.0.1:1')))\n"
        "except client.ConnectError as error: why = str(error)\n"
        "print(*['websockets' in each for each in (early, sys.modules)], len(sys.path) - size, why)"
    )
    flags = real_argv()[1:-1]
    (place,) = (n for n, each in enumerate(flags) if each.startswith("websockets="))
    without = flags[: place - 1] + flags[place + 1 :]
    for given, outcome in ((flags, "False True 1 ws://"), (without, "False False 0 ws://")):
        run = [sys.executable, *given, "-c", code]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(outcome)
        assert ("needs the library websockets" in done.stdout) == (given is without)


@pytest.mark.parametrize(
    "module",
    [
        "rookery.worker.agent.remote",
        "rookery.worker.boot",
        "rookery.acp.player.entry",
        "rookery.tui.app",
    ],
)
def test_a_session_does_not_pay_for_tls(module: str) -> None:
    """Its processes use pipes and Unix sockets; what asks for TLS itself still gets it."""
    code = (
        "import sys; from rookery.processes import without_tls; without_tls.load_asyncio(); "
        f"import {module}, asyncio; assert not {{'ssl', 'websockets'}} & set(sys.modules); "
        "asyncio.run(asyncio.sleep(0)); import ssl; print(ssl.OPENSSL_VERSION)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout.startswith("OpenSSL"), told.stderr
