"""Nothing is lost: kill -9 of anything at any time, again and again, and the log still holds.

A seed makes the run repeatable as to who is killed in which turn and after how long; where exactly
the blow falls is up to the machine. `KILLS_SEED=7 make test-all ARGS=tests/e2e/test_kills.py`
"""

import sys

import pytest

from tests.e2e.ordeal import SEED, undergo
from tests.worker.aviary import Aviary

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.long
async def test_a_dozen_kills_lose_nothing(aviary: Aviary) -> None:
    await undergo(aviary, 12, SEED)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("slice_", range(4))
async def test_kills_of_everything_lose_nothing_and_leave_nothing(
    aviary: Aviary, slice_: int
) -> None:
    """With test_kills_below and test_kills_own a thousand."""
    await undergo(aviary, 110, SEED + 1 + slice_)
