"""An agent that keeps titles and an archive of its own is told of ours."""

from pathlib import Path

import pytest

from tests.worker.aviary import Aviary, Bird, is_agent

ABLE = {"agent": {"capabilities": {"sessionCapabilities": {"title": {}, "archive": {}}}}}


def told(aviary: Aviary) -> list[str]:
    files = Path(aviary.home).parent.rglob("shelf")
    return [line for file in files for line in file.read_text().splitlines()]


async def asleep(bird: Bird) -> None:
    await bird.until(lambda event: is_agent(event, "stopped") or is_agent(event, "exited"))


@pytest.mark.parametrize("draft", [False, True])
async def test_what_the_user_does_is_told_to_the_agent(aviary: Aviary, draft: bool) -> None:
    """Also what was done while it was away; and its archived session is taken out again first."""
    bird = aviary.hatch(ABLE | ({"start": {"draft": True}} if draft else {}))
    await bird.turn("one")
    await bird.send("rename", title="Mine")
    await bird.send("pin")
    await bird.turn([{"title": "The agent's"}])
    assert told(aviary) == ["set_title Mine"]
    await bird.send("archive")
    await asleep(bird)
    assert told(aviary)[1:] == ["archive"]
    await bird.send("rename", title="Ours")
    assert await bird.reason("again") == "end_turn"
    assert told(aviary)[2:] == ["unarchive", "set_title Ours"]
    assert bird.header().title == "Ours"


async def test_an_agent_that_offers_neither_hears_nothing(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await bird.turn("one")
    await bird.send("rename", title="Mine")
    await bird.send("archive")
    await asleep(bird)
    assert await bird.reason("again") == "end_turn"
    assert told(aviary) == []
