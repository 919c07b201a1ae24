"""Another agent takes over a session, under a real worker."""

import asyncio

import pytest

from rookery.client.reading import recap
from rookery.client.session import Rejected
from rookery.core.json.events import Event
from rookery.log.reader import Reader
from rookery.processes import tree
from tests.worker.aviary import Aviary, Bird, blocks, is_agent, is_idle, is_text, text_of
from tests.worker.companions import introduce

MODES = [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}]
MODELS = {
    "currentModelId": "small",
    "availableModels": [{"modelId": "small", "name": "S"}, {"modelId": "big", "name": "B"}],
}
FORGETS = {"loadSession": False, "sessionCapabilities": {"resume": None}}
CROW = {
    "agent": {"modes": MODES, "commands": [{"name": "caw", "description": "x"}]},
    "match": [
        {
            "contains": "limit",
            "steps": [
                {"tool": "Look", "toolCallId": "t", "status": "in_progress"},
                {"usage": 10, "size": 100, "cost": 1},
                {"rate_limit": "2099-01-01T00:00:00Z", "message": "slow"},
            ],
        },
        {"contains": "for ever", "steps": [{"text": "begun"}, {"until": "cancel"}]},
        {"contains": "stubborn", "steps": [{"deaf": True}, {"text": "begun"}, {"silence": True}]},
    ],
    "otherwise": [{"text": "crow heard: $prompt"}],
}
JAY = {
    "agent": {"models": MODELS, "capabilities": FORGETS},
    "otherwise": [{"text": "jay heard: $prompt"}],
}


def birds(aviary: Aviary) -> Bird:
    introduce(aviary, None, crow=CROW, jay=JAY)
    return aviary.hatch(agent="crow", argv=[])


async def switched(bird: Bird, name: str, **fields: str) -> Event:
    return await bird.send("switch", agent=name, **fields)


def told(bird: Bird) -> str:
    with Reader.open(str(bird.directory)) as log:
        return recap(log).text()


def check_header(bird: Bird, name: str) -> None:
    """Nothing of another agent is left."""
    header = bird.header()
    assert header.agent == name
    assert header.argv == []
    assert header.process["name"] == name
    assert header.info.get("name") in (name, None)
    assert (header.agent_session or {"name": name})["name"] == name
    assert (header.usage, header.rate_limit, header.plan) == ({}, None, [])
    assert (header.error, header.tools) == (None, {})
    modes = [choice["value"] for option in header.options for choice in option["choices"]]
    commands = [command["name"] for command in header.commands]
    if name == "jay":
        assert "plan" not in modes
        assert commands == []
    else:
        assert "big" not in modes


async def test_a_session_switches_there_and_back_also_at_a_rate_limit(aviary: Aviary) -> None:
    bird = birds(aviary)
    await bird.turn("the owl is grey")
    await bird.send("set", option="mode", value="plan")
    assert await bird.reason("limit: count the owls") == "rate_limited"
    assert bird.header().rate_limit["message"] == "slow"
    first = bird.header().agent_session["id"]

    event = await switched(bird, "jay")
    assert (event.update["from"], event.update["to"]) == ("crow", "jay")
    assert event.update["reason"] == "rate_limited"
    await bird.until(lambda event: is_agent(event, "ready"), event.seq)
    check_header(bird, "jay")
    assert bird.header().reason == ""
    words = told(bird)
    assert "the owl is grey" in words
    assert "- Used the tool Look (failed)" in words
    assert words.endswith("limit: count the owls"), "the prompt that was not processed"
    turn = await bird.turn(words)
    assert text_of(turn).startswith("jay heard: Recap of the conversation so far")

    event = await switched(bird, "crow", reason="manual")
    ready = await bird.until(lambda event: is_agent(event, "ready"), event.seq)
    assert (ready.update["how"], ready.update["sessionId"] != first) == ("new", True)
    check_header(bird, "crow")
    assert bird.header().mode == "ask", "the pin was of an agent that was left"
    words = told(bird)
    assert "**Person:** the owl is grey" in words
    assert "**Person:** (a recap)" in words, "it is not told again"
    assert (await bird.reason("hello")) == "end_turn"
    found = [event.seq for event in bird.events()]  # a snapshot's event may follow
    assert found == list(range(1, len(found) + 1))


async def test_a_switch_in_mid_turn_cancels_once_and_keeps_the_queue(aviary: Aviary) -> None:
    bird = birds(aviary)
    begun = await bird.prompt("for ever")
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    await bird.prompt("later")
    old = bird.agent
    event = await switched(bird, "jay")
    ends = [each for each in bird.events() if is_idle(each)]
    assert [each.update["reason"] for each in ends] == ["cancelled"]
    assert ends[0].seq < event.seq
    await bird.gone(old)
    assert [item["prompt"] for item in bird.header().queue] == [blocks("later")]
    sent = await bird.send("queue", op="send")
    end = await bird.until(is_idle, sent.seq)
    assert "jay heard: later" in text_of(bird.events(sent.seq, end.seq))


async def test_an_old_agent_that_does_not_exit_is_killed(aviary: Aviary) -> None:
    introduce(aviary, {"switch_grace": 0.2}, crow=CROW, jay=JAY)
    bird = aviary.hatch(agent="crow", argv=[])
    begun = await bird.prompt("stubborn")
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    old = bird.agent
    event = await switched(bird, "jay")
    await bird.gone(old)
    assert "jay heard: hi" in text_of(await bird.turn("hi"))
    exits = [each for each in bird.events() if is_agent(each, "exited")]
    assert [each.update["name"] for each in exits] == ["crow"]
    assert exits[0].seq < event.seq


async def test_a_sleeping_session_wakes_with_the_new_agent(aviary: Aviary) -> None:
    bird = birds(aviary)
    await bird.turn("hi")
    await bird.send("stop")
    await bird.gone(bird.worker)
    assert not aviary.wait_empty()
    event = await switched(bird, "jay", model="big")
    assert event.update["model"] == "big"
    assert not aviary.processes(), "nothing was started for it"
    check_header(bird, "jay")
    turn = await bird.turn("hello")
    assert "jay heard: hello" in text_of(turn)
    header = bird.header()
    assert (header.model, header.wanted) == ("big", {"model": "big"})


async def test_a_switch_leaves_a_crash_loop_behind(aviary: Aviary) -> None:
    """Parked; the prompt that was not processed is in the recap."""
    dies = {"start": {"crash": 3, "stderr": "please log in"}}
    introduce(aviary, None, crow=dies, jay=JAY)
    bird = aviary.hatch(agent="crow", argv=[], title="T", roots=[str(aviary.root)])
    for _ in range(4):
        await bird.turn("count the owls")
    assert bird.header().process["state"] == "parked"
    event = await switched(bird, "jay")
    assert event.update["reason"] == "manual"
    turn = await bird.turn(told(bird))
    assert "count the owls" in text_of(turn)
    header = bird.header()
    assert (header.title, header.roots) == ("T", [str(aviary.root)])
    check_header(bird, "jay")
    await bird.send("restart")
    assert "jay heard: again" in text_of(await bird.turn("again"))


@pytest.mark.parametrize("awake", [True, False])
async def test_switching_to_the_same_or_an_unknown_agent_is_refused(
    aviary: Aviary, awake: bool
) -> None:
    bird = birds(aviary)
    if awake:
        await bird.turn("hi")
    for name, reason in [("crow", "same_agent"), ("owl", "unknown_agent")]:
        with pytest.raises(Rejected) as refused:
            await switched(bird, name)
        assert refused.value.reason == reason
        assert "jay" in refused.value.message
    assert bird.header().agent == "crow"


async def test_switching_to_an_agent_that_is_not_installed_is_refused(aviary: Aviary) -> None:
    bird = birds(aviary)
    with pytest.raises(Rejected) as refused:
        await bird.send("switch", agent="owl", argv=["nowhere-to-be-found"])
    assert refused.value.reason == "not_installed"


async def test_two_switches_at_once_and_a_resend_switch_once(aviary: Aviary) -> None:
    bird = birds(aviary)
    await bird.turn("hi")
    command = {"do": "switch", "agent": "jay", "id": "c1"}
    async with bird.client() as one, bird.client() as two:
        await asyncio.gather(one.send(command), two.send(command))
    assert len([each for each in bird.events() if is_agent(each, "switched")]) == 1


async def test_a_worker_killed_mid_switch_leaves_one_agent(aviary: Aviary) -> None:
    """The client sends its command again; the log says it once."""
    bird = birds(aviary)
    begun = await bird.prompt("stubborn")
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    async with bird.client() as client:
        switching = asyncio.create_task(client.send({"do": "switch", "agent": "jay"}))
        await bird.until(is_idle, begun.seq)
        tree.kill([bird.worker])
        event = await switching
    assert event.update["to"] == "jay"
    assert len([each for each in bird.events() if is_agent(each, "switched")]) == 1
    assert "jay heard: hi" in text_of(await bird.turn("hi"))


async def test_a_reset_offers_a_recap_of_what_was_lost(aviary: Aviary) -> None:
    introduce(aviary, None, jay=JAY)
    bird = aviary.hatch(agent="jay", argv=[])
    await bird.turn("the owl is grey")
    await bird.send("stop")
    await bird.gone(bird.worker)
    turn = await bird.turn("and now?")
    [reset] = [event for event in turn if event.update.get("state") == "reset"]
    assert bird.header().recap == reset.seq
    words = told(bird)
    assert "the owl is grey" in words
    assert "and now?" not in words, "the new session was given that one"
