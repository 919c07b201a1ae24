"""Nothing is lost and nothing is left with our own agent: its fork, its door, the warm process and
all others are killed at any time. `KILLS_SEED=7 make test-all ARGS=tests/e2e/test_kills_own.py`"""

import sys
from random import Random

import pytest

from rookery.client import warm_agent
from tests.e2e.ordeal import SEED, endure
from tests.e2e.own_fate import OwnFate, WarmFate, Warmth, hatch, own_aviary

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.timeout(1200),
    pytest.mark.long,
]
SESSIONS = 3


async def undergo(kills: int, seed: int) -> None:
    random = Random(seed)
    with own_aviary() as aviary:
        warm = Warmth(aviary.home)
        await warm.come()
        fates = [
            (WarmFate if number == 0 else OwnFate)(
                hatch(aviary), Random(random.random()), aviary.root, warm
            )
            for number in range(SESSIONS)
        ]
        await endure(aviary, fates, kills, seed, end=lambda: warm_agent.end(aviary.home))


@pytest.mark.parametrize("slice_", range(4))
async def test_kills_of_our_agent_lose_nothing_and_leave_nothing(slice_: int) -> None:
    await undergo(50, SEED + 100 + slice_)
