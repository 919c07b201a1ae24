"""At most so many workers awake, and so many starting."""

import os

import pytest

from rookery.client.start import StartError, start_worker
from rookery.core.limits import Policy
from rookery.home import paths, slots
from rookery.log.lock import Lock
from rookery.processes import tree
from tests.worker.aviary import Aviary


async def test_a_killed_worker_leaves_its_slot(aviary: Aviary) -> None:
    aviary.configure(max_workers=1)
    first, second = aviary.hatch(), aviary.hatch()
    await first.turn("hello")
    worker, warden = first.worker, first.warden
    tree.kill([worker])
    await first.gone(worker, warden)
    assert await second.reason("hello") == "end_turn"


def test_one_start_too_many_waits_for_its_turn(aviary: Aviary) -> None:
    aviary.configure(max_cold_starts=7, max_workers=1)  # clamped to 1
    bird = aviary.hatch()
    with slots.for_start(aviary.home, 0.0), pytest.raises(StartError) as caught:
        start_worker(bird.home, bird.id, timeout=0.05)
    assert caught.value.reason == "starting"
    assert "1 workers are already starting" in caught.value.message
    assert start_worker(bird.home, bird.id).pid


def test_the_limits_are_twenty_awake_and_four_starting(aviary: Aviary) -> None:
    taken = [slots.for_worker(aviary.home, Policy()) for _ in range(21)]
    assert [slot is None for slot in taken] == [False] * 20 + [True]
    for slot in taken:
        if slot is not None:
            slot.release()
    places = [os.path.join(aviary.home, paths.SLOTS, f"start-{n}") for n in range(4)]
    with slots.for_start(aviary.home, 0.0):
        held = [Lock.acquire(place, wait=0) for place in places[1:]]
        with pytest.raises(slots.Full), slots.for_start(aviary.home, 0.0):
            pass
    for lock in held:
        lock.release()
