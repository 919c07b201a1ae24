"""A stored conversation: restored, replaced with a word about it, or kept for the next try."""

from typing import Any

import pytest

from rookery.core.agent.messages import Agent, Effect, End, Exited, Opened, Past, Tick
from rookery.core.turn.messages import AgentLost, AgentReady, Append
from tests.core.agent.test_supervision import (
    INITIALIZING,
    OPENING,
    STORED,
    call_of,
    go,
    initialized,
    said,
    told,
)
from tests.core.making import Json

GONE = {"code": -32002, "message": "Resource not found"}
NONE = Past()
BUSY = {"code": -32603, "message": "Internal error", "data": {"details": "socket hang up"}}
RESUMES = {"sessionCapabilities": {"resume": {}}}
BOTH = {**RESUMES, "loadSession": True}


def opening(method: str, capabilities: Json | None = None, past: Past = NONE) -> Agent:
    return OPENING._replace(method=method, capabilities=capabilities or {}, past=past)


def refused(agent: Agent, error: Json, now: float = 125.0) -> tuple[Agent, list[Effect]]:
    return go(agent, Opened(None, error, 0), now, wish=STORED)


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
@pytest.mark.parametrize(
    "error",
    [
        GONE,
        {"code": -32602, "message": "Invalid params"},
        {"code": -32601, "message": "Method not found"},
        {"code": -32603, "message": "Session abc not found"},
        {"code": -32603, "data": {"details": "No conversation found with session ID: abc"}},
        {"code": -32603, "message": "no rollout found for conversation id 7"},
        {"code": 1, "message": "unknown session"},
    ],
)
def test_a_lost_conversation_is_replaced_and_reported_once(method: str, error: Json) -> None:
    agent, effects = refused(opening(method), error)
    assert (agent.phase, agent.method, agent.until) == ("opening", "session/new", 155.0)
    assert call_of(effects).method == "session/new"
    assert (said(effects), told(effects)) == ([], [])
    agent, effects = go(agent, Opened({"sessionId": "new"}, None, 0), wish=STORED)
    assert said(effects) == [("_context", "reset"), ("_agent", "ready")]
    assert isinstance(effects[0], Append)
    words = error.get("message") or error["data"]["details"]
    assert words in effects[0].draft.update["reason"]
    assert (agent.session, agent.reset) == ("new", "")
    assert told(effects) == [AgentReady(forgot=True)]


def test_a_fresh_session_that_is_refused_resets_nothing() -> None:
    agent, _ = refused(opening("session/load"), GONE)
    after, effects = refused(agent, {"code": -32603, "message": "no"})
    assert (after.phase, after.reset, said(effects)) == ("ending", "", [])
    assert len(told(effects)) == 1


@pytest.mark.parametrize("error", [GONE, BUSY])
def test_a_refused_resume_tries_a_load_where_the_agent_can(error: Json) -> None:
    agent, effects = refused(opening("session/resume", BOTH), error)
    assert (agent.method, call_of(effects).params["sessionId"]) == ("session/load", "old")
    assert (said(effects), told(effects)) == ([], [])
    agent, effects = go(agent, Opened(None, None, 2), wish=STORED)
    assert (agent.session, said(effects)) == ("old", [("_agent", "ready")])


def fail(agent: Agent, how: str) -> tuple[Agent, list[Effect]]:
    if how == "answer":
        return refused(agent, BUSY)
    given: Any = Tick() if how == "time" else Exited(1, ["lost"])
    return go(agent, given, 130.0, wish=STORED)


@pytest.mark.parametrize("how", ["answer", "time", "exit"])
@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_transient_failure_keeps_the_session_until_the_third_start(how: str, method: str) -> None:
    can = {"loadSession": True} if method == "session/load" else RESUMES
    past = Past()
    for count in (1, 2):
        agent, effects = go(INITIALIZING._replace(past=past), initialized(can), wish=STORED)
        assert agent.method == method
        after, effects = fail(agent, how)
        assert ("_context", "reset") not in said(effects)
        [lost] = told(effects)
        assert isinstance(lost, AgentLost)
        assert (lost.error is None) == (how != "answer")
        assert (End() in effects) == (how != "exit")
        past = after.past
        assert past.transient == count
    agent, _ = go(INITIALIZING._replace(past=past), initialized(can), wish=STORED)
    assert agent.method == "session/new"
    after, effects = go(agent, Opened({"sessionId": "new"}, None, 0), wish=STORED)
    assert said(effects) == [("_context", "reset"), ("_agent", "ready")]
    assert after.past.transient == 0


def test_a_success_or_another_session_resets_the_count() -> None:
    once = Past(transient=1, stored="old", why="x")
    agent, _ = go(opening("session/load", past=once), Opened(None, None, 0), wish=STORED)
    assert agent.past.transient == 0
    twice = Past(transient=2, stored="other", why="x")
    agent, _ = go(INITIALIZING._replace(past=twice), initialized(RESUMES), wish=STORED)
    assert agent.method == "session/resume"
    after, _ = refused(agent, BUSY)
    assert after.past.transient == 1


def test_an_agent_that_needs_a_login_never_loses_its_conversation() -> None:
    past = Past()
    for _ in range(5):
        agent, _ = go(INITIALIZING._replace(past=past), initialized(BOTH), wish=STORED)
        assert agent.method == "session/resume"
        after, effects = refused(agent, {"code": -32000, "message": "Session unknown: log in"})
        assert (said(effects), after.past.transient) == ([], 0)
        past = after.past


@pytest.mark.parametrize("status", [-9, -15, 137, 143])
def test_an_agent_that_was_killed_never_loses_its_conversation(status: int) -> None:
    after, effects = go(opening("session/resume"), Exited(status, []), wish=STORED)
    assert isinstance(told(effects)[0], AgentLost)
    assert after.past.transient == 0
