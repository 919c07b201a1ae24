"""An agent that does not stay up is counted, then parked with what helps."""

from typing import Any

import pytest

from rookery.core.agent.messages import Agent, EndWanted, Exited, Opened, SpawnFailed, StartWanted
from rookery.core.turn.messages import Append
from rookery.core.turn.remedies import remedy_for, remedy_for_start
from tests.core.agent.test_supervision import INITIALIZING, OPENING, READY, WISH, go, said, told
from tests.core.making import Json


def updates(effects: list[Any]) -> list[Json]:
    return [effect.draft.update for effect in effects if isinstance(effect, Append)]


def lives(agent: Agent, at: float, seconds: float) -> tuple[Agent, Json]:
    """From a start to its end; the event that tells of it."""
    spawning, _ = go(agent, StartWanted(), at)
    ready = READY._replace(born=spawning.born, past=spawning.past)
    after, effects = go(ready, Exited(3, ["first", "last"]), at + seconds)
    assert len(told(effects)) == 1, "the turn ends"
    [update] = updates(effects)
    return after, update


def test_exits_within_ten_seconds_count_and_say_how_long_it_lived() -> None:
    agent, update = lives(Agent(), 100.0, 9.999)
    assert (update["status"], update["lived"], update["quick"]) == (3, 9.999, 1)
    assert agent.past.starts == (100.0,)
    agent, update = lives(Agent(), 100.0, 10.0)
    assert (update["lived"], "quick" in update) == (10.0, False)
    assert agent.past.starts == ()


@pytest.mark.parametrize(("fourth", "state"), [(159.999, "parked"), (160.0, "exited")])
def test_the_fourth_failed_start_within_a_minute_parks_it(fourth: float, state: str) -> None:
    agent = Agent()
    for at in (100.0, 110.0, 120.0):
        agent, update = lives(agent, at, 1.0)
        assert update["state"] == "exited"
    agent, update = lives(agent, fourth, 1.0)
    assert (update["state"], agent.past.parked) == (state, state == "parked")
    if state == "parked":
        assert (update["status"], update["lived"], update["stderr"]) == (3, 1.0, ["first", "last"])
        assert update["remedy"]


def test_a_parked_agent_is_tried_once_more_and_parked_again_with_one_notice() -> None:
    parked = Agent(past=Agent().past._replace(parked=True))
    agent, update = lives(parked, 9000.0, 9.999)
    assert (update["state"], agent.past.parked) == ("parked", True)
    agent, update = lives(parked, 9000.0, 10.0)
    assert (update["state"], agent.past.parked) == ("exited", False)


def test_a_missing_command_is_parked_with_how_to_install_it() -> None:
    agent, wish = Agent(), WISH._replace(install="npm install -g crow")
    for _ in range(4):
        agent, _ = go(agent, StartWanted(), 100.0, wish)
        agent, effects = go(agent, SpawnFailed("crow: command not found"), 100.0, wish)
    [update] = updates(effects)
    assert (update["state"], update["status"]) == ("parked", 127)
    assert "To install it: npm install -g crow" in update["remedy"]


def test_an_agent_that_needs_a_login_is_parked_with_that_remedy() -> None:
    agent = Agent()
    for _ in range(4):
        opening = OPENING._replace(born=100.0, past=agent.past)
        agent, effects = go(opening, Opened(None, {"code": -32000, "message": "auth"}, 0), 101.0)
        assert said(effects) == []
        agent, effects = go(agent, Exited(0, []), 101.0)
    [update] = updates(effects)
    assert (update["state"], "status" in update) == ("parked", False)
    line = "rookery agents login crow"
    assert update["remedy"] == f"Log in to crow, and the prompt is sent again: {line}"


def test_requested_exits_do_not_count() -> None:
    agent = Agent()
    for _ in range(10):
        agent, _ = go(INITIALIZING._replace(born=100.0, past=agent.past), EndWanted(), 100.5)
        agent, effects = go(agent, Exited(-15, []), 101.0)
        assert updates(effects) == [{"sessionUpdate": "_agent", "state": "exited", "name": "crow"}]
    assert agent == Agent()


@pytest.mark.parametrize(
    ("status", "line", "words"),
    [
        (127, "", "install it"),
        (1, "sh: crow: command not found", "install it"),
        (1, "Please run crow login", "Log in"),
        (1, "OPENAI_API_KEY is not set", "Log in"),
        (1, "error: unknown option '--acp'", "too old (error: unknown option '--acp')"),
        (1, "crow requires Node.js version 20.9 or later", "version 20.9 or later"),
        (1, "boom", "rookery logs"),
    ],
)
def test_the_last_stderr_lines_suggest_the_remedy(status: int, line: str, words: str) -> None:
    assert words in remedy_for_start("crow", "get crow", status, ["noise", line], {})


def test_our_own_agent_with_libraries_that_do_not_fit_sends_to_the_doctor() -> None:
    line = "ModuleNotFoundError: No module named 'openhands.tools'"
    assert "`rookery doctor`" in remedy_for_start("rookery", "", 1, [line], {})
    error = {"message": "The agent failed: ModuleNotFoundError (builtins): No module named 'x'"}
    assert "`rookery doctor`" in remedy_for("failed", error, "rookery")
    assert "`rookery doctor`" not in remedy_for("failed", error, "crow")
