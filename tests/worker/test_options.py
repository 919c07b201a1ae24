"""Modes, models, effort and other options in a real worker."""

import asyncio
from typing import Any

import pytest

from rookery.client.session import Rejected
from rookery.core.json.events import kind_of
from tests.worker.aviary import Aviary, Bird, is_agent, text_of

type Json = dict[str, Any]


def select(id: str, category: str, current: str, *values: str) -> Json:
    options = [{"value": value, "name": value.title()} for value in values]
    option = {"id": id, "name": id.title(), "type": "select", "options": options}
    return {**option, "currentValue": current, "category": category}


CONFIG: Json = {
    "agent": {
        "configOptions": [
            select("mind", "model", "small", "small", "large"),
            select("depth", "thought_level", "default", "default", "low", "high"),
            select("manner", "mode", "ask", "ask", "acceptEdits", "bypassPermissions"),
            select("colour", "other", "red", "red", "blue"),
        ]
    }
}
MODES: Json = {
    "agent": {
        "modes": [
            {"id": "default", "name": "Default"},
            {"id": "autoEdit", "name": "Auto Edit"},
            {"id": "yolo", "name": "YOLO"},
        ]
    }
}
MODELS: Json = {
    "agent": {
        "models": {
            "currentModelId": "m1",
            "availableModels": [
                {"modelId": "m1", "name": "One"},
                {"modelId": "m2", "name": "Two"},
            ],
        }
    }
}


async def awake(aviary: Aviary, script: Json) -> Bird:
    bird = aviary.hatch(script)
    await bird.send("start")
    return bird


def value(bird: Bird, name: str) -> Any:
    return next(each["value"] for each in bird.header().options if each["id"] == name)


async def refused(bird: Bird, option: str, value: object) -> str:
    with pytest.raises(Rejected) as told:
        await bird.send("set", option=option, value=value)
    return told.value.reason


@pytest.mark.parametrize(
    ("option", "given", "id", "taken"),
    [
        ("model", "large", "mind", "large"),
        ("model", "Large", "mind", "large"),
        ("effort", "high", "depth", "high"),
        ("mode", "acceptEdits", "manner", "acceptEdits"),
        ("mode", "auto_edit", "manner", "acceptEdits"),  # Gemini's words fold onto
        ("mode", "yolo", "manner", "bypassPermissions"),  # those of the agent
        ("colour", "blue", "colour", "blue"),
        ("mind", "large", "mind", "large"),
    ],
)
async def test_an_option_is_set_when_the_agent_confirms_it(
    aviary: Aviary, option: str, given: str, id: str, taken: str
) -> None:
    bird = await awake(aviary, CONFIG)
    outcome = await bird.send("set", option=option, value=given)
    assert kind_of(outcome.update) == "config_option_update"
    assert value(bird, id) == taken
    others = [each for each in bird.header().options if each["id"] != id]
    assert [each["value"] for each in others] == [
        each["currentValue"] for each in CONFIG["agent"]["configOptions"] if each["id"] != id
    ]


async def test_header_shows_mode_model_and_effort(aviary: Aviary) -> None:
    bird = await awake(aviary, CONFIG)
    header = bird.header()
    assert (header.model, header.effort, header.mode) == ("small", "default", "ask")
    await bird.send("set", option="model", value="large")
    assert bird.header().model == "large"


async def test_modes_alone_are_an_option_too(aviary: Aviary) -> None:
    """An answer that says nothing is the confirmation; another vendor's name."""
    bird = await awake(aviary, MODES)
    assert bird.header().mode == "default"
    await bird.send("set", option="mode", value="acceptEdits")
    assert bird.header().mode == "autoEdit"
    await bird.send("set", option="mode", value="bypassPermissions")
    assert bird.header().mode == "yolo"


async def test_models_of_old_are_an_option_too(aviary: Aviary) -> None:
    bird = await awake(aviary, MODELS)
    assert bird.header().model == "m1"
    await bird.send("set", option="model", value="Two")
    assert bird.header().model == "m2"
    assert bird.header().wanted == {"model": "m2"}


async def test_what_the_agent_does_not_take_changes_nothing(aviary: Aviary) -> None:
    """A refusal is a rejection, and the shown value stays."""
    start = {"set_config_option_error": {"code": -32603, "message": "not on your plan"}}
    bird = await awake(aviary, {**CONFIG, "start": start})
    with pytest.raises(Rejected) as told:
        await bird.send("set", option="model", value="large")
    assert told.value.reason == "refused_by_agent"
    assert "not on your plan" in told.value.message
    assert (value(bird, "mind"), bird.header().wanted) == ("small", {})


async def test_the_shown_value_waits_for_the_agent(aviary: Aviary) -> None:
    """An agent that never answers confirms nothing."""
    bird = await awake(aviary, {**CONFIG, "start": {"silence": "session/set_config_option"}})
    setting = asyncio.create_task(bird.send("set", option="model", value="large"))
    assert "hello" in text_of(await bird.turn("hello"))
    assert value(bird, "mind") == "small"
    setting.cancel()


async def test_what_is_not_offered_is_refused(aviary: Aviary) -> None:
    bird = await awake(aviary, CONFIG)
    assert await refused(bird, "model", "huge") == "unknown_value"
    assert await refused(bird, "flavour", "sweet") == "unknown_option"
    assert await refused(bird, "", "x") == "no_option"
    assert await refused(bird, "model", "") == "no_value"
    assert await refused(bird, "model", 7) == "no_value"
    bare = await awake(aviary, {})
    assert await refused(bare, "mode", "plan") == "unknown_option"


async def test_the_agents_own_changes_are_shown(aviary: Aviary) -> None:
    """A full snapshot replaces all."""
    bird = await awake(aviary, CONFIG)
    await bird.turn([{"options": {"set": {"mind": "large"}}}])
    assert value(bird, "mind") == "large"
    await bird.turn([{"options": [select("mind", "model", "tiny", "tiny")]}])
    assert [each["id"] for each in bird.header().options] == ["mind"]
    assert bird.header().model == "tiny"


async def test_choices_are_given_again_after_a_restart(aviary: Aviary) -> None:
    """To an agent that forgot them."""
    bird = await awake(aviary, CONFIG)
    for option, chosen in (("model", "large"), ("effort", "high"), ("mode", "yolo")):
        await bird.send("set", option=option, value=chosen)
    wanted = {"model": "large", "effort": "high", "mode": "bypassPermissions"}
    assert bird.header().wanted.keys() == wanted.keys()
    await bird.send("stop")
    await bird.gone(bird.worker, bird.warden)
    state = next(aviary.root.glob("state-*"))
    for file in state.rglob("*"):
        if file.is_file():
            file.unlink()  # the agent's own memory
    await bird.send("start")
    header = bird.header()
    assert {name: header.raw[name] for name in wanted} == wanted


async def test_choices_made_while_it_sleeps_are_kept_for_the_start(aviary: Aviary) -> None:
    """Nothing is started for them."""
    bird = aviary.hatch(CONFIG)
    await bird.send("set", option="model", value="large")
    await bird.send("set", option="effort", value="low")
    await bird.send("set", option="effort", value="default")  # drops the pin
    assert not aviary.processes()
    assert bird.header().wanted == {"model": "large"}
    assert bird.header().model == ""
    await bird.send("start")
    ready = await bird.until(lambda event: is_agent(event, "ready"))
    await bird.turn("hello")
    assert bird.header().model == "large"
    assert ready.seq < bird.events()[-1].seq


async def test_effort_default_drops_the_pin(aviary: Aviary) -> None:
    bird = await awake(aviary, CONFIG)
    await bird.send("set", option="effort", value="high")
    assert bird.header().wanted == {"effort": "high"}
    await bird.send("set", option="effort", value="default")
    assert (bird.header().effort, bird.header().wanted) == ("default", {})


async def test_a_pin_that_is_refused_at_the_start_is_a_notice(aviary: Aviary) -> None:
    bird = aviary.hatch({**CONFIG, "start": {"set_config_option_error": {"message": "no"}}})
    await bird.send("set", option="model", value="large")
    await bird.turn("hello")
    notices = [e.update for e in bird.events() if kind_of(e.update) == "_notice"]
    assert "model large" in notices[0]["text"]
    assert bird.header().model == "small"
