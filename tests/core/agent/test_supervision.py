"""Supervision of the agent, arrow by arrow."""

from typing import Any

import pytest

from rookery.core.agent.machine import step
from rookery.core.agent.messages import (
    Agent,
    Call,
    Effect,
    End,
    EndWanted,
    Exited,
    Initialized,
    Opened,
    Replayed,
    Spawn,
    Spawned,
    SpawnFailed,
    StartWanted,
    Tell,
    Tick,
    Wish,
)
from rookery.core.json.events import Draft
from rookery.core.limits import Policy
from rookery.core.turn.messages import AgentLost, AgentReady, Append
from tests.core.making import Json

POLICY = Policy(start_timeout=30, cold_start_timeout=120)
WISH = Wish(
    name="crow",
    argv=["crow", "acp"],
    cwd="/w",
    roots=[],
    mcp_servers=[],
    stored=None,
    cold=False,
    offers={"fs": {}},
    chosen={},
    known_modes=None,
    version="1.0",
)
STORED = WISH._replace(stored="old")

SPAWNING = Agent("spawning")
INITIALIZING = Agent("initializing", until=130.0)
OPENING = Agent("opening", 130.0, "session/new", {}, {})
READY = Agent("ready", None, "session/new", {}, {}, "s1")
ENDING = Agent("ending")
MIDDLE = [SPAWNING, INITIALIZING, OPENING, READY]
EVERY = [Agent(), *MIDDLE, ENDING]


def go(
    agent: Agent, given: Any, now: float = 100.0, wish: Wish = WISH
) -> tuple[Agent, list[Effect]]:
    return step(agent, given, now, wish, POLICY)


def initialized(capabilities: Any = None, **rest: Any) -> Initialized:
    return Initialized(
        {"protocolVersion": 1, "agentCapabilities": capabilities or {}, **rest}, None
    )


def said(effects: list[Effect]) -> list[tuple[str, str]]:
    updates = [effect.draft.update for effect in effects if isinstance(effect, Append)]
    return [(update["sessionUpdate"], update["state"]) for update in updates]


def call_of(effects: list[Effect]) -> Call:
    [call] = [effect for effect in effects if isinstance(effect, Call)]
    return call


def told(effects: list[Effect]) -> list[Any]:
    return [effect.given for effect in effects if isinstance(effect, Tell)]


# --- starting ---


def test_an_absent_agent_that_is_wanted_is_spawned() -> None:
    agent, effects = go(Agent(), StartWanted())
    update = {"sessionUpdate": "_agent", "state": "starting", "name": "crow", "argv": WISH.argv}
    assert (agent, effects) == (SPAWNING._replace(born=100.0), [Append(Draft(update)), Spawn()])


def test_a_ready_agent_that_is_wanted_says_so_at_once() -> None:
    assert go(READY, StartWanted()) == (READY, [Tell(AgentReady())])


@pytest.mark.parametrize("agent", [SPAWNING, INITIALIZING, OPENING])
def test_an_agent_under_way_is_not_started_twice(agent: Agent) -> None:
    assert go(agent, StartWanted()) == (agent, [])


@pytest.mark.parametrize(("cold", "until"), [(False, 130.0), (True, 220.0)])
def test_a_spawned_agent_is_initialized_within_its_time(cold: bool, until: float) -> None:
    agent, effects = go(SPAWNING, Spawned(7), wish=WISH._replace(cold=cold))
    assert (agent.phase, agent.until) == ("initializing", until)
    call = call_of(effects)
    assert call.method == "initialize"
    assert call.params["protocolVersion"] == 1
    assert call.params["clientCapabilities"] == {"fs": {}}
    assert call.params["clientInfo"]["version"] == "1.0"


RESUMES = {"sessionCapabilities": {"resume": {}}}
LOADS = {"loadSession": True}


@pytest.mark.parametrize(
    ("stored", "capabilities", "method", "reset"),
    [
        (None, RESUMES | LOADS, "session/new", False),
        ("old", RESUMES | LOADS, "session/resume", False),
        ("old", RESUMES, "session/resume", False),
        ("old", LOADS, "session/load", False),
        ("old", {}, "session/new", True),
        (
            "old",
            {"loadSession": "yes", "sessionCapabilities": {"resume": True}},
            "session/new",
            True,
        ),
        ("old", {"sessionCapabilities": None}, "session/new", True),
        ("old", [], "session/new", True),
    ],
)
def test_resume_is_tried_then_load_then_new(
    stored: str | None, capabilities: Any, method: str, reset: bool
) -> None:
    wish = WISH._replace(stored=stored)
    agent, effects = go(INITIALIZING, initialized(capabilities), wish=wish)
    call = call_of(effects)
    assert (agent.phase, agent.method, call.method) == ("opening", method, method)
    assert call.params.get("sessionId") == (stored if method != "session/new" else None)
    assert (said(effects), bool(agent.reset)) == ([], reset), "said once the fresh one is there"
    assert agent.until == 130.0


def test_every_opening_gets_what_the_session_was_created_with() -> None:
    stdio, http = {"name": "a", "command": "c"}, {"name": "b", "type": "http", "url": "u"}
    wish = STORED._replace(roots=["/r"], mcp_servers=[stdio, http, {"name": "c", "type": ["x"]}])
    takes = {
        "mcpCapabilities": {"http": True},
        "sessionCapabilities": {"additionalDirectories": {}, "resume": {}},
    }
    _, effects = go(INITIALIZING, initialized(takes), wish=wish)
    params = call_of(effects).params
    assert (params["cwd"], params["additionalDirectories"]) == ("/w", ["/r"])
    assert params["mcpServers"][:2] == [stdio, http]
    _, effects = go(INITIALIZING, initialized(), wish=wish._replace(stored=None))
    params = call_of(effects).params
    assert http not in params["mcpServers"], "only the transports that the agent takes"
    assert "additionalDirectories" not in params


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume"])
def test_an_opened_session_is_ready_and_said_so_once(method: str) -> None:
    opening = OPENING._replace(method=method, info={"name": "c"}, capabilities={"a": 1})
    result = {"sessionId": "s1", "modes": {"m": 1}, "models": None, "configOptions": []}
    agent, effects = go(opening, Opened(result, None, 3), wish=STORED)
    session = "s1" if method == "session/new" else "old"
    assert (agent.phase, agent.session, agent.until) == ("ready", session, None)
    [update] = [effect.draft.update for effect in effects if isinstance(effect, Append)]
    assert (update["state"], update["sessionId"]) == ("ready", session)
    assert update["how"] == method.removeprefix("session/")
    assert (update["modes"], update["configOptions"], "models" in update) == ({"m": 1}, [], False)
    assert update.get("replayed") == (3 if method == "session/load" else None)
    assert told(effects) == [AgentReady()]


@pytest.mark.parametrize("result", [None, {}, [], "x"])
def test_a_load_may_be_answered_with_nothing(result: Any) -> None:
    agent, _ = go(OPENING._replace(method="session/load"), Opened(result, None, 0), wish=STORED)
    assert (agent.phase, agent.session) == ("ready", "old")


# --- refusals ---


ERROR = {"code": -32603, "message": "no"}


@pytest.mark.parametrize(
    ("agent", "given", "words"),
    [
        (INITIALIZING, Initialized(None, ERROR), "no"),
        (INITIALIZING, Initialized(None, {}), "an object"),
        (INITIALIZING, Initialized([], None), "an object"),
        (INITIALIZING, Initialized(None, None), "an object"),
        (OPENING, Opened(None, ERROR, 0), "no"),
        (OPENING, Opened(None, {}, 0), "no reason given"),
        (OPENING, Opened({}, None, 0), "a session id"),
        (OPENING, Opened({"sessionId": 7}, None, 0), "a session id"),
        (OPENING._replace(method="session/load"), Opened(None, {"code": -32000}, 0), "no reason"),
        (OPENING._replace(method="session/resume"), Opened(None, {"code": -32000}, 0), "no reason"),
    ],
)
def test_a_refusal_ends_the_agent_and_is_told_once(agent: Agent, given: Any, words: str) -> None:
    after, effects = go(agent, given, wish=STORED)
    assert (after.phase, after.fault is None) == ("ending", False)
    assert End() in effects
    [lost] = told(effects)
    assert isinstance(lost, AgentLost)
    assert lost.detail.startswith("crow: ")
    assert words in lost.detail
    assert said(effects) == [], "the stored session is not given up"


def test_a_command_that_cannot_be_spawned_is_told_once() -> None:
    agent, effects = go(SPAWNING, SpawnFailed("no such file"))
    assert (agent.phase, told(effects)) == ("absent", [AgentLost("no such file")])
    assert effects[0].draft.update["status"] == 127


# --- time ---


@pytest.mark.parametrize(
    ("agent", "what"), [(INITIALIZING, "initialize"), (OPENING, "session/new")]
)
def test_a_silent_agent_is_given_up_at_its_deadline_and_not_before(agent: Agent, what: str) -> None:
    assert go(agent, Tick(), 129.999) == (agent, [])
    after, effects = go(agent, Tick(), 130.0)
    assert (after.phase, effects[0]) == ("ending", End())
    assert told(effects) == [
        AgentLost(f"crow did not answer {what} in time (30 s; worker.start_timeout)")
    ]


@pytest.mark.parametrize("agent", [Agent(), SPAWNING, READY, ENDING])
def test_the_others_have_no_deadline(agent: Agent) -> None:
    assert agent.until is None
    assert go(agent, Tick(), 1e9) == (agent, [])


# --- ending ---


@pytest.mark.parametrize("agent", MIDDLE)
def test_an_exit_is_told_with_the_last_thing_it_said(agent: Agent) -> None:
    after, effects = go(agent, Exited(3, ["first", "last words", " "]))
    assert (after, told(effects)) == (Agent(), [AgentLost("status 3: last words")])
    assert effects[0].draft.update["lived"] == 100.0
    update: Json = effects[0].draft.update
    assert (update["state"], update["status"], update["stderr"][0]) == ("exited", 3, "first")


def test_an_exit_without_a_word_is_told_all_the_same() -> None:
    _, effects = go(READY, Exited(0, []))
    assert told(effects) == [AgentLost("status 0")]
    assert "stderr" not in effects[0].draft.update


def test_an_exit_that_was_wanted_is_told_to_nobody() -> None:
    after, effects = go(ENDING, Exited(-15, ["terminated"]))
    assert (after, said(effects), told(effects)) == (Agent(), [("_agent", "exited")], [])


def test_an_exit_of_nothing_changes_nothing() -> None:
    assert go(Agent(), Exited(0, [])) == (Agent(), [])


@pytest.mark.parametrize("agent", MIDDLE)
def test_an_end_that_is_wanted_ends_it(agent: Agent) -> None:
    assert go(agent, EndWanted()) == (ENDING, [End()])


@pytest.mark.parametrize("agent", [Agent(), ENDING])
def test_an_end_that_is_wanted_twice_ends_it_once(agent: Agent) -> None:
    assert go(agent, EndWanted()) == (agent, [])


def test_an_agent_wanted_while_ending_is_started_once_the_old_one_is_gone() -> None:
    agent, effects = go(ENDING, StartWanted())
    assert effects == []
    agent, effects = go(agent, Exited(0, []))
    assert agent == SPAWNING._replace(born=100.0)
    assert said(effects) == [("_agent", "exited"), ("_agent", "starting")]
    assert effects[-1] == Spawn()
    assert told(effects) == []


def test_an_end_takes_back_what_was_wanted_while_ending() -> None:
    agent, _ = go(ENDING, StartWanted())
    agent, _ = go(agent, EndWanted())
    assert go(agent, Exited(0, []))[0] == Agent()


@pytest.mark.parametrize("agent", EVERY)
@pytest.mark.parametrize(
    ("given", "phase"),
    [
        (Spawned(1), "spawning"),
        (initialized(), "initializing"),
        (Opened({"sessionId": "x"}, None, 0), "opening"),
    ],
)
def test_an_answer_to_something_else_changes_nothing(agent: Agent, given: Any, phase: str) -> None:
    if agent.phase != phase:
        assert go(agent, given) == (agent, [])


TOLD = STORED._replace(has_history=True)


def test_a_load_that_replayed_nothing_waits_a_moment_for_a_late_replay() -> None:
    """No prompt goes out before it is over."""
    loading = OPENING._replace(method="session/load")
    settling, effects = go(loading, Opened({}, None, 0), wish=TOLD)
    assert said(effects) == [("_agent", "ready")]
    assert not [effect for effect in effects if isinstance(effect, Tell)]
    due = settling.until
    assert due is not None
    assert go(settling, Tick(), due - 0.01, TOLD) == (settling, [])
    more, _ = go(settling, Replayed(), due - 0.01, TOLD)
    assert go(more, Tick(), due, TOLD) == (more, [])
    ready, effects = go(more, Tick(), more.until or 0.0, TOLD)
    assert (ready.phase, effects) == ("ready", [Tell(AgentReady())])
    assert go(ready, Replayed(), 200.0, TOLD) == (ready, [])


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_replay_that_goes_on_after_the_answer_is_waited_for(method: str) -> None:
    opened = Opened({}, None, 3, cut=True)
    assert go(OPENING._replace(method=method), opened, wish=TOLD)[0].phase == "settling"


def test_a_replay_without_an_end_does_not_hold_a_prompt_for_ever() -> None:
    loading = OPENING._replace(method="session/load")
    agent, _ = go(loading, Opened({}, None, 0), wish=TOLD)
    now = 100.0
    while agent.phase == "settling":
        agent, _ = go(agent, Replayed(), now, TOLD)
        now += 0.05
        agent, _ = go(agent, Tick(), now, TOLD)
    assert now <= 100.1 + POLICY.start_timeout


@pytest.mark.parametrize(
    ("method", "replayed", "wish"),
    [
        ("session/load", 1, TOLD),
        ("session/load", 0, STORED),
        ("session/resume", 0, TOLD),
        ("session/new", 0, TOLD),
    ],
)
def test_only_a_load_without_a_replay_waits_for_a_late_one(
    method: str, replayed: int, wish: Wish
) -> None:
    opened = Opened({"sessionId": "s1"}, None, replayed)
    agent, _ = go(OPENING._replace(method=method), opened, wish=wish)
    assert agent.phase == "ready"
