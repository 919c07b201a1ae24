"""A home of its own for a test, and no process left behind when it ends."""

import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from rookery.client import fleet, warm_agent
from rookery.home import paths
from rookery.log.errors import LogError
from rookery.processes import strays, tree
from tests import sharing
from tests.golden.files import Golden
from tests.rigs import hatchery
from tests.worker.aviary import SOON, Aviary, kill_workers

hatchery.install()
gc.disable()  # until all tests are collected: nothing of them is garbage

SECONDS = 120.0  # within which an ended process must be gone

# How long an example takes says more about the machine than about us; and a run that fails says
# something about the change, not about the dice.
settings.register_profile(
    "quick",
    deadline=None,
    derandomize=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=60)

# A run that a shell put into the background ignores it, and so would all that the run starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # the same of `nohup`
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    sharing.mark_further_cases(items, config)
    sharing.mark_lengthy(items, config)
    items[:] = sharing.in_order(items)


def pytest_collection_finish() -> None:
    """A look for garbage leaves out what stays: half a million objects, in every process."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)  # there is room, and to look for it is dear
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> sharing.Sharing | None:
    return sharing.Sharing(config, log) if config.getoption("dist") == "loadfile" else None


class Telling:
    """Names a failure as soon as it happens: the report comes when all is over, or never."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            words = report.longreprtext.strip().splitlines() or [""]
            errors = [line for line in words if line.startswith("E ")]
            terminal.ensure_newline()
            cause = (errors or words)[0].removeprefix("E ").strip()
            terminal.write_line(f"{report.when} failed: {report.nodeid}: {cause}")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if "hypothesis" in config.option.markexpr else "quick")
    if not hasattr(config, "workerinput"):  # in a process of a parallel run nobody reads it
        config.pluginmanager.register(Telling(config))


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from temporary_home(monkeypatch)


def temporary_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """ROOKERY_HOME, short enough for its sockets. Every process that belongs to it is ended. A test
    begins in an empty directory: each turn in the repository would take a snapshot of its files."""
    directory = Path(tempfile.mkdtemp(prefix="rk-", dir="/tmp"))
    work = Path(tempfile.mkdtemp(prefix="rkw-", dir="/tmp"))
    _begun[directory] = _ticks()
    monkeypatch.chdir(work)
    monkeypatch.setenv("ROOKERY_HOME", str(directory))
    monkeypatch.delenv("ROOKERY_DEBUG", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    yield directory
    try:
        end_all(directory)
    finally:
        del _begun[directory]
        shutil.rmtree(directory, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


@pytest.fixture
def golden(pytestconfig: pytest.Config) -> Golden:
    return Golden(retake=pytestconfig.option.update_snapshots)


@pytest.fixture
def aviary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aviary]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    aviary = Aviary(tmp_path)
    yield aviary
    aviary.end()


def end_all(home: Path) -> None:
    """Kill each session; then nothing that carries this home's name may be alive."""
    try:
        sessions = os.listdir(paths.sessions(str(home)))
    except FileNotFoundError:
        sessions = []
    kill_workers(Path(paths.session_dir(str(home), session)) for session in sessions)
    warm_agent.end(str(home))
    left = tree.wait_gone(belonging_to(home), SOON)
    if left:
        for session in sessions:
            try:
                fleet.kill(str(home), session)
            except LogError:
                strays.sweep(str(home), {session})
        left = tree.wait_gone(belonging_to(home), SECONDS)
    tree.kill(left)
    assert not left, f"still alive after the end: {left}"


_begun: dict[Path, int] = {}
"""When a test's home was made: what was started before it cannot know its name."""


def _ticks() -> int:
    """The present, as /proc tells when a process was started."""
    if sys.platform != "linux":
        return 0
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) - 1


def belonging_to(home: Path) -> list[tree.Process]:
    """Processes with the home in their arguments or their environment (Linux tells them)."""
    begun = _begun.get(home, 0)
    rows = [row for row in tree.table() if not begun or int(row.start.partition("@")[0]) >= begun]
    return [row for row in rows if row.pid != os.getpid() and _names(row.pid, home)]


def _names(pid: int, home: Path) -> bool:
    word = os.fsencode(home)
    for file in ("cmdline", "environ"):
        try:
            with open(f"/proc/{pid}/{file}", "rb", buffering=0) as words:
                data = words.readall()
        except OSError:
            continue
        if word not in data:  # there are hundreds of processes
            continue
        parts = data.split(b"\0")
        if word in parts or b"ROOKERY_HOME=" + word in parts:
            return True
    return False
