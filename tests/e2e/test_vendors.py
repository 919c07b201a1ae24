"""Real vendors' agents under a real worker, against a scripted model.

They are installed where they are missing. One that cannot be installed fails; whoever wants a part
of them names it: ROOKERY_VENDORS="claude codex".
"""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tools.vendors import successions, trials
from tools.vendors.perch import Perch, perched
from tools.vendors.roster import chosen
from tools.vendors.vendor import Vendor

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(1200),  # the first of each installs
    pytest.mark.skipif(sys.platform != "linux", reason="the tests find processes in /proc"),
]


@pytest.fixture(params=chosen(), ids=lambda vendor: vendor.name)
async def perch(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Perch]:
    vendor: Vendor = request.param
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    async with perched(vendor, tmp_path) as perch:
        yield perch


async def test_approval(perch: Perch) -> None:
    await trials.approve(perch)


async def test_rejection(perch: Perch) -> None:
    await trials.reject(perch)


async def test_cancel(perch: Perch) -> None:
    await trials.cancel(perch)


async def test_agent_killed(perch: Perch) -> None:
    await trials.kill_agent(perch)


async def test_worker_killed(perch: Perch) -> None:
    await trials.kill_worker(perch)


async def test_stop(perch: Perch) -> None:
    await trials.stop(perch)


async def test_login_wanted(perch: Perch) -> None:
    await trials.refuse(perch)


async def test_rate_limit(perch: Perch) -> None:
    await trials.limit(perch)


async def test_switch(perch: Perch) -> None:
    await successions.switch(perch)


async def test_clear_and_delete(perch: Perch) -> None:
    await successions.forget(perch)
