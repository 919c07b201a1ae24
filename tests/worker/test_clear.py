"""A conversation begins anew, and its log stays, under a real worker."""

import pytest

from rookery.client.session import Rejected
from rookery.core.json.events import Event, kind_of
from tests.worker.aviary import Aviary, Bird, blocks, is_agent, is_idle, is_text, text_of
from tests.worker.companions import introduce, remembered

MODES = [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}]
FRESH = {"agent": {"modes": MODES, "commands": [{"name": "caw", "description": "x"}]}}
OWN = {
    "agent": {"commands": [{"name": "clear", "description": "x"}], "modes": MODES},
    "match": [{"contains": "/clear", "steps": [{"text": "forgotten"}]}],
}


def cleared(events: list[Event]) -> list[Event]:
    return [event for event in events if event.update.get("state") == "cleared"]


async def clear(bird: Bird) -> Event:
    event = await bird.send("clear")
    assert (kind_of(event.update), event.update["state"]) == ("_context", "cleared")
    return event


async def test_clear_opens_a_new_session_on_the_live_agent(aviary: Aviary) -> None:
    introduce(aviary, None, crow=FRESH)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("one")
    await bird.turn("two")
    await bird.send("set", option="mode", value="plan")
    before, process = bird.header(), bird.agent
    event = await clear(bird)
    assert event.update["how"] == "new"
    await bird.turn("three")
    after = bird.header()
    assert bird.agent == process, "the same process goes on"
    assert after.agent_session["id"] != before.agent_session["id"]
    assert after.agent_session["id"] in remembered(aviary, "crow")
    assert (after.mode, after.commands) == ("plan", before.commands)
    assert after.fold == {"turn": 2, "seq": event.seq}
    assert text_of(bird.events()).count("You said: one") == 1, "it is not gone"


async def test_an_advertised_clear_command_is_used(aviary: Aviary) -> None:
    """A turn of its own; what was held stays held."""
    introduce(aviary, None, daw=OWN)
    bird = aviary.hatch(argv=[], agent="daw")
    begun = await bird.prompt([{"text": "begun"}, {"until": "cancel"}])
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    await bird.prompt("held")
    await bird.send("cancel")
    await bird.until(is_idle, begun.seq)
    session = bird.header().agent_session
    event = await clear(bird)
    assert event.update["how"] == "command"
    assert "forgotten" in text_of(bird.events(begun.seq, event.seq))
    header = bird.header()
    assert header.agent_session == session
    assert [item["prompt"] for item in header.queue] == [blocks("held")]
    assert (header.state, header.fold["turn"]) == ("idle", 2)


async def test_a_sleeping_session_is_cleared_at_its_next_start(aviary: Aviary) -> None:
    introduce(aviary, None, crow=FRESH)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("one")
    await bird.send("stop")
    await bird.gone(bird.worker)
    assert not aviary.wait_empty()
    event = await clear(bird)
    assert event.update["how"] == "later"
    assert not aviary.processes()
    turn = await bird.turn("two")
    [ready] = [event for event in turn if is_agent(event, "ready")]
    assert ready.update["how"] == "new"
    assert not [event for event in turn if event.update.get("state") == "reset"]


async def test_clear_is_refused_in_mid_turn(aviary: Aviary) -> None:
    introduce(aviary, None, crow=FRESH)
    bird = aviary.hatch(agent="crow", argv=[])
    begun = await bird.prompt([{"text": "begun"}, {"until": "cancel"}])
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    with pytest.raises(Rejected, match="cancel it first"):
        await bird.send("clear")
    await bird.send("cancel")
    await bird.until(is_idle, begun.seq)
    await clear(bird)
    assert len(cleared(bird.events())) == 1


async def test_an_agent_that_refuses_keeps_its_session(aviary: Aviary) -> None:
    """And the next prompt goes there. It refuses from its second start on."""
    script = {"start": {"new_error": {"code": -32603, "message": "full"}}}
    introduce(aviary, None, crow=FRESH)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("one")
    await bird.send("stop")
    await bird.gone(bird.worker)
    introduce(aviary, None, crow=FRESH | script)
    await bird.turn("two")
    session = bird.header().agent_session
    with pytest.raises(Rejected, match="full"):
        await bird.send("clear")
    assert text_of(await bird.turn("three")) == "You said: three"
    assert bird.header().agent_session == session
    assert bird.header().fold is None


async def test_an_agent_that_dies_during_a_clear_is_reported(aviary: Aviary) -> None:
    introduce(aviary, None, crow=FRESH)
    bird = aviary.hatch(agent="crow", argv=[])
    await bird.turn("one")
    await bird.send("stop")
    await bird.gone(bird.worker)
    introduce(aviary, None, crow=FRESH | {"start": {"crash": 3, "crash_on": "session/new"}})
    await bird.turn("two")
    with pytest.raises(Rejected, match="the agent ended"):
        await bird.send("clear")
    assert text_of(await bird.turn("three")) == "You said: three"
