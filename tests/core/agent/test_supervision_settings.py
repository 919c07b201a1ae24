"""What a person chose is given again to every agent that opens."""

from typing import Any

import pytest

from rookery.core.agent.messages import Agent, Applied, Opened, Tick
from rookery.core.turn.messages import AgentLost, AgentReady
from tests.core.agent.test_supervision import OPENING, WISH, call_of, go, said, told
from tests.core.making import Json

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "plan"}]}
MODELS = {"currentModelId": "m1", "availableModels": [{"modelId": "m1"}, {"modelId": "m2"}]}


def opened(chosen: Json, **offers: Any) -> tuple[Agent, list[Any]]:
    given = Opened({"sessionId": "s1", **offers}, None, 0)
    return go(OPENING, given, wish=WISH._replace(chosen=chosen))


@pytest.mark.parametrize(
    ("chosen", "offers"),
    [
        ({}, {"modes": MODES}),
        ({"mode": "ask"}, {"modes": MODES}),
        ({"mode": "unheard-of"}, {"modes": MODES}),
        ({"mode": None}, {"modes": MODES}),
    ],
)
def test_settings_that_need_no_change_are_not_sent(chosen: Json, offers: Json) -> None:
    agent, effects = opened(chosen, **offers)
    assert (agent.phase, told(effects)) == ("ready", [AgentReady()])


def test_choices_are_set_before_the_agent_is_ready() -> None:
    agent, effects = opened({"mode": "plan", "model": "m2"}, modes=MODES, models=MODELS)
    assert (agent.phase, agent.until, told(effects)) == ("applying", 130.0, [])
    assert call_of(effects) == ("session/set_model", {"sessionId": "s1", "modelId": "m2"})
    agent, effects = go(agent, Applied({}, None))
    assert call_of(effects) == ("session/set_mode", {"sessionId": "s1", "modeId": "plan"})
    assert effects[0].draft.update == {
        "sessionUpdate": "_session",
        "model": "m2",
        "confirmed": True,
    }
    agent, effects = go(agent, Applied(None, None))
    assert (agent.phase, agent.until, told(effects)) == ("ready", None, [AgentReady()])


@pytest.mark.parametrize("offers", [{}, {"modes": {**MODES, "availableModes": [{"id": "ask"}]}}])
def test_an_agent_that_was_to_plan_and_cannot_gets_no_prompt(offers: Json) -> None:
    agent, effects = opened({"mode": "plan"}, **offers)
    assert agent.phase == "ending"
    (lost,) = told(effects)
    assert "has no plan mode" in lost.detail


def test_nor_does_one_that_refuses_its_plan_mode() -> None:
    agent, _ = opened({"mode": "plan"}, modes=MODES)
    agent, effects = go(agent, Applied(None, {"code": 1, "message": "not allowed"}))
    assert agent.phase == "ending"
    (lost,) = told(effects)
    assert "rejected its plan mode: not allowed" in lost.detail


def test_a_refused_setting_is_only_a_notice() -> None:
    agent, _ = opened({"model": "m2"}, models=MODELS)
    agent, effects = go(agent, Applied(None, {"code": 1, "message": "not allowed"}))
    assert (agent.phase, told(effects)) == ("ready", [AgentReady()])
    update = effects[0].draft.update
    assert (update["sessionUpdate"], update["level"]) == ("_notice", "warn")
    assert "not allowed" in update["text"]


def test_an_agent_that_does_not_answer_a_setting_is_given_up() -> None:
    agent, _ = opened({"mode": "plan"}, modes=MODES)
    assert go(agent, Tick(), 129.999) == (agent, [])
    after, effects = go(agent, Tick(), 130.0)
    assert after.phase == "ending"
    assert told(effects) == [
        AgentLost("crow did not answer session/set_mode in time (30 s; worker.start_timeout)")
    ]


def test_unreported_modes_are_known_from_the_profile() -> None:
    given = Opened({"sessionId": "s1"}, None, 0)
    _, effects = go(OPENING, given, wish=WISH._replace(known_modes=MODES))
    assert said(effects) == [("_agent", "ready")]
    assert effects[0].draft.update["modes"] == MODES
