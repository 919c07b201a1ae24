"""A conversation elsewhere, under a worker: whoever dies while an ask waits, it is asked again,
answered once, and what it is about runs once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.core.json.events import Event, kind_of
from tests.agent.conftest import ARGV, surroundings, write_settings
from tests.agent.elsewhere.stand_in import KEY, StandIn, call, say
from tests.worker.aviary import Aviary, Bird, is_ask, is_idle, text_of
from tests.worker.test_kept_asks import closed, end


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn().serving() as server:
        yield server


@pytest.fixture
def bird(
    tmp_path: Path, model: ScriptedModel, server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Aviary, Bird]]:
    home = tmp_path / "home"
    monkeypatch.setenv("ROOKERY_HOME", str(home))
    aviary = Aviary(tmp_path)
    (home / "person").mkdir()
    write_settings(home, model)
    environment = surroundings(home, SESSION_API_KEY=KEY)
    argv = [*ARGV, "--remote", server.url]
    yield aviary, aviary.hatch(agent="build", argv=argv, environment=environment)
    aviary.end()


def is_at_rest(event: Event) -> bool:
    return is_idle(event) and event.update["reason"] == "end_turn"


@pytest.mark.long
@pytest.mark.parametrize("how", ["worker", "agent", "reboot"])
async def test_a_remote_ask_outlives_whoever_asked_it(
    bird: tuple[Aviary, Bird], server: StandIn, how: str
) -> None:
    aviary, here = bird
    server.steps = [call("make it"), say("all well")]
    ask = await here.ask(await here.prompt("Make it"))
    await end(aviary, here, how)
    assert here.header().asks.keys() == {ask["id"]}
    assert server.ran == []
    said = await here.answer(ask, "allow-once")
    await here.until(is_at_rest, said.seq)
    assert server.ran == ["make it"]
    assert text_of(here.events()).count("all well") == 1
    [outcome] = closed(here)
    assert outcome.update["outcome"]["optionId"] == "allow-once"
    assert {event.update["id"] for event in here.events() if is_ask(event)} == {ask["id"]}
    [one] = server.conversations.values()
    asked = [event for event in one.events if event["source"] == "user"]
    assert [event["llm_message"]["content"][0]["text"] for event in asked] == ["Make it"]
    told = [event.update for event in here.events() if kind_of(event.update) == "tool_call"]
    assert len({update["toolCallId"] for update in told}) == 1
