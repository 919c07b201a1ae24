"""A warm process that is killed while it loads the SDK, and the next one."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.agent.conftest import write_settings
from tests.agent.test_warm import Warm, until


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
