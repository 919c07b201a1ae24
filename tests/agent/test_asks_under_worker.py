"""Kept and deferred asks with our own agent under a real worker: it goes on by itself, and what the
model is told is what happened."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.core.json.events import Event, kind_of
from tests.agent.conftest import surroundings, write_settings
from tests.agent.driving import run
from tests.worker.aviary import Aviary, Bird, is_ask, is_idle, text_of
from tests.worker.test_kept_asks import closed, end, is_again

PLAY = json.dumps({"play": [run("touch done"), {"text": "all well"}]})


@pytest.fixture
def bird(
    tmp_path: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Aviary, Bird]]:
    """A session of our own agent, whose model is scripted; nobody of this machine is found."""
    home = tmp_path / "home"
    monkeypatch.setenv("ROOKERY_HOME", str(home))
    aviary = Aviary(tmp_path)
    (home / "person").mkdir()
    write_settings(home, model)
    environment = surroundings(home)
    yield aviary, aviary.hatch(agent="rookery", argv=[], environment=environment)
    aviary.end()


def told(model: ScriptedModel, since: int) -> str:
    return json.dumps([asked.body["messages"] for asked in list(model.asked)[since:]]).lower()


def spoken(model: ScriptedModel) -> list[str]:
    """What the person said, as the model has it."""
    found = [m["content"] for m in model.asked[-1].body["messages"] if m["role"] == "user"]
    return [each if isinstance(each, str) else each[0]["text"] for each in found]


def is_at_rest(event: Event) -> bool:
    return is_idle(event) and event.update["reason"] == "end_turn"


@pytest.mark.long
@pytest.mark.parametrize(
    "how",
    [
        "worker",
        *(
            pytest.param(how, marks=pytest.mark.long)
            for how in ("agent", "both", "warden and worker", "stop", "reboot")
        ),
    ],
)
async def test_a_killed_agent_continues_with_the_answer(
    bird: tuple[Aviary, Bird], model: ScriptedModel, how: str
) -> None:
    """The answer is given while it is away; one user message, no cancel, done once."""
    aviary, here = bird
    begun = await here.prompt(PLAY)
    ask = await here.ask(begun)
    since = len(model.asked)
    await end(aviary, here, how)
    assert here.header().asks.keys() == {ask["id"]}
    said = await here.answer(ask, "allow-once")
    await here.until(is_at_rest, said.seq)
    assert (aviary.work / "done").exists()
    assert text_of(here.events()).count("all well") == 1
    [outcome] = closed(here)
    assert outcome.update["outcome"]["optionId"] == "allow-once"
    assert {event.update["id"] for event in here.events() if is_ask(event)} == {ask["id"]}
    prompts = [e.update for e in here.events() if kind_of(e.update) == "_prompt"]
    assert [(p.get("how"), bool(p["prompt"])) for p in prompts] == [
        (None, True),
        ("continue", False),
    ]
    assert len(spoken(model)) == 1
    assert "cancel" not in told(model, since)
    assert "reject" not in told(model, since)


@pytest.mark.long
async def test_a_deferred_ask_comes_first_and_can_be_dropped(
    bird: tuple[Aviary, Bird], model: ScriptedModel
) -> None:
    """Deferred, it stands before the next prompt; dropped after that, the model hears that the
    person cancelled it, and then the prompt."""
    aviary, here = bird
    begun = await here.prompt(PLAY)
    ask = await here.ask(begun)
    since = len(model.asked)
    await here.send("answer", ask=ask["id"], nonce=ask["nonce"], defer=True)
    assert (await here.ended(begun)).update["reason"] == "waiting"
    await here.prompt("something else")
    again = await here.until(is_again, begun.seq)
    assert again.update["id"] == ask["id"]
    assert len(model.asked) == since, "the model has heard nothing yet"
    await end(aviary, here, "worker")
    await here.send("answer", ask=ask["id"], nonce=ask["nonce"], cancel=True)
    await here.send("queue", op="send")
    await here.until(is_at_rest, again.seq)
    assert not (aviary.work / "done").exists()
    assert "user cancelled this action" in told(model, since)
    assert spoken(model)[-1] == "something else"
    assert len(closed(here)) == 1
