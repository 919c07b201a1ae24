"""A vendor's agent takes over from another and hands on, begins anew, and forgets: under a real
worker, against a scripted model."""

import asyncio

from rookery.client import fleet
from rookery.client.deletion import can_delete
from rookery.client.reading import recap
from rookery.client.rewind.fork import fork
from rookery.core.json.events import Event, kind_of
from rookery.core.turn.rewinding import SNAPSHOT
from rookery.log.reader import Reader
from tests.worker.aviary import Bird, is_agent, text_of
from tools.vendors.marks import heard
from tools.vendors.perch import FACT, Perch

LIMIT = [{"rate_limit": "2099-01-01T00:00:00Z", "message": "slow"}]
TAKEN_BACK = "the-magpie-has-a-ring"
OF_THE_VENDOR = ("capabilities", "info", "commands", "options", "agentSession", "usage")


async def _switch(bird: Bird, name: str, reason: str) -> None:
    event = await bird.send("switch", agent=name)
    assert event.update["reason"] == reason

    def over(event: Event) -> bool:
        return is_agent(event, "ready") or is_agent(event, "exited")

    ready = await bird.until(over, event.seq)
    assert is_agent(ready, "ready"), ready.update


def _recap(bird: Bird) -> str:
    with Reader.open(str(bird.directory)) as log:
        return recap(log).text()


async def switch(perch: Perch) -> str:
    """Demo, vendor, demo in one session, each in mid-limit where it has one."""
    bird, name = perch.hatch([], "demo", perch.environment), perch.vendor.name
    await bird.turn([{"text": FACT}])
    await bird.turn(LIMIT)
    demo = bird.header()
    await _switch(bird, name, "rate_limited")
    header = bird.header()
    assert (header.agent, header.process["name"]) == (name, name)
    assert (header.rate_limit, header.reason) == (None, "")
    assert header.info != demo.info
    assert header.agent_session["id"] != demo.agent_session["id"]

    told = _recap(bird)
    assert f"**Agent:** {FACT}" in told
    assert "This prompt has not been processed yet:" in told
    turn = await bird.turn(f"{told}\n\n[[say the vendor is here]]")
    assert text_of(turn).endswith("the vendor is here")
    assert heard(perch.llm.main()[-1], FACT, "user"), "the model was told"
    limited = perch.vendor.limited == "rate_limited"
    if limited:
        assert await bird.reason("[[fail 429]]") == "rate_limited"

    before = bird.header()
    await _switch(bird, "demo", "rate_limited" if limited else "manual")
    header = bird.header()
    for key in OF_THE_VENDOR:
        assert not header.raw[key] or header.raw[key] != before.raw[key], f"{key} is the vendor's"
    assert header.info == demo.info
    told = _recap(bird)
    assert "**Agent:** the vendor is here" in told
    assert told.endswith("[[fail 429]]") is limited
    assert text_of(await bird.turn([{"text": "the demo again"}])) == "the demo again"
    return "ok"


async def _rewound(perch: Perch) -> None:
    """What is still seen is heard by the model, and what was taken back is not: in a fork, too."""
    said = (await perch.say(FACT))[-1]

    def is_kept(event: Event) -> bool:
        """Its files are: of turns that follow each other quickly, not each one's."""
        about = event.update
        is_end = kind_of(about) == SNAPSHOT and about["when"] == "end"
        return is_end and bool(about["turn"] == said.update["turn"])

    await perch.bird.until(is_kept, said.seq)
    await perch.say(TAKEN_BACK)
    await perch.bird.send("rewind", turn=perch.bird.header().turn - 1)
    made = await asyncio.to_thread(fork, perch.aviary.home, perch.bird.id)
    forked = Bird(perch.aviary.home, made)
    forked.patience = perch.bird.patience
    perch.aviary.birds.append(forked)
    for bird, words in ((forked, "in the fork"), (perch.bird, "after the rewind")):
        turn = await bird.turn(f"[[say {words}]]")
        assert text_of(turn).endswith(words), text_of(turn)
        asked = perch.llm.main()[-1]
        assert heard(asked, FACT), f"{words}: it forgot what is seen"
        assert not heard(asked, TAKEN_BACK), f"{words}: it heard what was taken back"


async def forget(perch: Perch) -> str:
    """What the model hears after a rewind, and in a fork. After a clear it hears nothing of before,
    and a deletion is told."""
    await _rewound(perch)
    before = perch.bird.header()
    cleared = await perch.bird.send("clear")
    assert cleared.update["state"] == "cleared"
    turn = await perch.say("anew")
    assert text_of(turn).endswith("anew")
    assert not heard(perch.llm.main()[-1], FACT), "it was not forgotten"
    after = perch.bird.header()
    names = [option["id"] for option in before.options]
    assert [option["id"] for option in after.options] == names
    assert after.mode == before.mode
    assert after.fold["turn"] >= 1
    said = await asyncio.to_thread(fleet.remove, perch.aviary.home, perch.bird.id)
    assert not perch.bird.directory.exists()
    assert ("deleted its copy" in said) == can_delete(after), said
    return "ok"
