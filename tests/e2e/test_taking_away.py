"""Nothing that descends from an agent of this home takes away, hides, empties or ends what another
session has: `burglar.py` tries, from inside a real agent; with Landlock and by descent alone."""

import pytest

from rookery.client.trash import moves
from rookery.core.json.events import kind_of
from tests.e2e.house import CALM, GUARDS, House, unconfine
from tests.worker.aviary import Aviary

TAKINGS = 36


@pytest.mark.long
@pytest.mark.parametrize("guard", GUARDS)
async def test_an_agent_takes_nothing_away_from_another_session(aviary: Aviary, guard: str) -> None:
    unconfine(aviary, guard, "player")
    house = House(aviary)
    await house.lock()
    await house.other.prompt([{"text": "later"}])
    worker = house.other.worker
    own, lost = aviary.hatch(), aviary.hatch()
    moves.remove(aviary.home, lost.id)
    aviary.birds.remove(lost)
    begun = await own.prompt([{"spawn": [*house.argv(own), "takes"]}, *CALM])
    await own.ask(begun)
    tries = await house.tries()
    assert len(tries) == TAKINGS
    taken = {name: came for name, came in tries.items() if not _is_no(came)}
    assert not taken
    house.check(own)
    assert house.other.worker == worker
    assert [row["id"] for row in moves.listed(aviary.home)] == [lost.id]
    header = house.other.header()
    assert len(header.queue) == 1
    for bird in (house.other, house.asleep):
        assert not bird.header().archived
        assert not bird.header().snoozed
        assert not [event for event in bird.events() if kind_of(event.update) == "_context"]


def _is_no(came: str) -> bool:
    return any(
        sign in came for sign in ("An agent cannot", "from_the_agent", "not waited for", "unshare")
    ) or came.startswith("PermissionError")


async def test_an_agent_ends_what_it_began_itself_and_no_more(aviary: Aviary) -> None:
    unconfine(aviary, "lineage", "player")
    house = House(aviary)
    own = aviary.hatch()
    begun = await own.prompt([{"spawn": [*house.argv(own), "its own session"]}, *CALM])
    await own.ask(begun)
    [came] = (await house.tries()).values()
    assert [each.strip()[:1] for each in came.split("|")] == ["0", "0", "0", "1"], came
    assert "An agent cannot delete sessions" in came
