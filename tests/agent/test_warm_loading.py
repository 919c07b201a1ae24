"""A warm process that is killed while it loads the SDK, and the next one."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.processes import cgroups, home_tag, roots, tree
from tests.agent.conftest import write_settings
from tests.agent.test_warm import PATIENCE, Warm, until

LONG = pytest.mark.long


@pytest.fixture
def warm(model: ScriptedModel) -> Iterator[Warm]:
    home = Path(tempfile.mkdtemp(prefix="rkw-", dir="/tmp"))
    (home / "person").mkdir()
    (home / "run").mkdir(mode=0o700)
    write_settings(home, model)
    (home / "config.toml").write_text("")
    made = Warm(home)
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.long
def test_I10_what_it_loads_with_goes_though_it_is_killed(warm: Warm) -> None:
    """It takes a turn in a folder of its own; the next one takes away what that one left."""
    place = Path(f"{warm.socket}.heat")
    warm.begin()
    until(place.is_dir, "it did not begin")
    os.kill(warm.pid, signal.SIGKILL)
    assert place.is_dir()
    warm.start()
    assert not place.exists()


@pytest.mark.parametrize(
    "loading", [pytest.param(False, id="waits"), pytest.param(True, id="loads", marks=LONG)]
)
def test_I10_one_that_is_ended_before_it_listens_leaves_nothing(warm: Warm, loading: bool) -> None:
    """Its record and its group were left for the next worker of the home to find."""
    warm.begin(*([] if loading else ["600"]))
    roots_of = Path(roots.directory(str(warm.home)))
    until(lambda: roots_of.is_dir() and any(roots_of.iterdir()), "it did not begin")
    if loading:
        until(Path(f"{warm.socket}.heat").is_dir, "it did not load")
    group, process = f"{cgroups.PREFIX}{home_tag(str(warm.home))}.", tree.process(warm.pid)
    assert process
    os.kill(process.pid, signal.SIGTERM)
    assert not tree.wait_gone([process], PATIENCE)
    assert not list(roots_of.iterdir())
    assert not list((warm.home / "run").glob("*.heat"))
    assert not [
        name
        for parent in cgroups._parents()
        for name in os.listdir(parent)
        if name.startswith(group)
    ]
