"""Both machines together, with an agent that does what it likes: every turn still ends once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from rookery.core.agent import machine as agent_machine
from rookery.core.agent import messages as agent_messages
from rookery.core.agent.messages import Agent
from rookery.core.json.events import Draft
from rookery.core.limits import Policy
from rookery.core.turn import machine as turn_machine
from rookery.core.turn import messages
from rookery.core.turn import messages as turn_messages
from rookery.core.turn.messages import Turn
from tests.core.agent.test_supervision import WISH
from tests.core.hostile import foreign_json, machines
from tests.core.making import text

POLICY = Policy(start_timeout=30, cancel_grace=10)
CAPABILITIES: list[Any] = [{}, {"loadSession": True}, {"sessionCapabilities": {"resume": {}}}, None]
ERRORS: list[Any] = [{"code": -32000, "message": "auth"}, {"code": -32002}, {"code": 1}]


class Together(RuleBasedStateMachine):
    """The shell of a worker, with a process that is there or not and one request at most."""

    def __init__(self) -> None:
        super().__init__()
        self.turn, self.agent = Turn(), Agent()
        self.now = 0.0
        self.alive = False
        self.ending = False
        self.calls: list[str] = []
        """Requests that the process has not answered."""
        self.drafts: list[Draft] = []
        self.stored: str | None = None
        self.starts = 0

    def feed(self, given: Any) -> None:
        if type(given).__module__ == messages.__name__:
            self.turn, effects = turn_machine.step(self.turn, given, self.now, POLICY)
        else:
            wish = WISH._replace(stored=self.stored)
            self.agent, effects = agent_machine.step(self.agent, given, self.now, wish, POLICY)
        for effect in effects:
            self.perform(effect)

    def perform(self, effect: Any) -> None:
        match effect:
            case turn_messages.Append(draft):
                self.drafts.append(draft)
                self.stored = draft.update.get("sessionId", self.stored)
            case turn_messages.WantAgent():
                self.feed(agent_messages.StartWanted())
            case turn_messages.SendPrompt():
                assert (self.alive, self.agent.phase) == (True, "ready")
                self.calls.append("session/prompt")
            case turn_messages.EndAgent():
                self.feed(agent_messages.EndWanted())
            case agent_messages.Tell(given):
                self.feed(given)
            case agent_messages.Spawn():
                assert not self.alive, "one process at a time"
                self.starts += 1
                if self.starts % 5 == 4:
                    self.feed(agent_messages.SpawnFailed("no such file"))
                else:
                    self.alive, self.ending, self.calls = True, False, []
                    self.feed(agent_messages.Spawned(self.starts))
            case agent_messages.Call(method):
                self.calls.append(method)
            case agent_messages.End():
                self.ending = True

    @rule()
    def prompt(self) -> None:
        self.feed(turn_messages.Prompted("p", [text("x")], None))

    @rule()
    def cancel(self) -> None:
        self.feed(turn_messages.CancelWanted("c", None))

    @precondition(lambda self: self.alive and self.calls and not self.ending)
    @rule(
        capabilities=st.sampled_from(CAPABILITIES),
        error=st.none() | st.none() | st.sampled_from(ERRORS),
    )
    def answer(self, capabilities: Any, error: Any) -> None:
        method = self.calls.pop(0)
        if method == "session/prompt":
            self.feed(turn_messages.Answered({"stopReason": "end_turn"}, error))
        elif method == "initialize":
            self.feed(agent_messages.Initialized({"agentCapabilities": capabilities}, error))
        else:
            self.feed(agent_messages.Opened({"sessionId": "s"}, error, 0))

    @precondition(lambda self: self.alive)
    @rule(status=st.sampled_from([0, 1, -9]))
    def exit(self, status: int) -> None:
        self.alive, self.calls = False, []
        self.feed(agent_messages.Exited(status, ["words"]))

    @rule()
    def restart(self) -> None:
        """As a worker does it: the turn is ended first, since a wanted end is told to nobody."""
        self.feed(turn_messages.AgentLost("restarted", reason="interrupted"))
        self.feed(agent_messages.EndWanted())
        self.feed(agent_messages.StartWanted())

    @rule(seconds=st.sampled_from([1.0, 10.0, 30.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.feed(turn_messages.Tick())
        self.feed(agent_messages.Tick())
        for due in (turn_machine.deadline(self.turn), self.agent.until):
            assert due is None or due > self.now, "what is due has been done"

    @invariant()
    def a_turn_that_waits_is_waited_for(self) -> None:
        """Nothing can hang: whoever waits has a process, a request or a start on its way."""
        if self.turn.phase == "waiting":
            again = self.agent.phase == "ending" and self.agent.wanted_again
            assert again or self.agent.phase in ("initializing", "opening")
        if self.turn.phase in ("running", "cancelling"):
            assert self.agent.phase == "ready"
            assert self.calls == ["session/prompt"]
        assert len(self.calls) <= 1 or self.ending
        assert self.alive == (self.agent.phase != "absent")

    @invariant()
    def every_turn_ends_once(self) -> None:
        kinds = [
            update["sessionUpdate"]
            for update in (draft.update for draft in self.drafts)
            if update["sessionUpdate"] == "_prompt" or update.get("state") == "idle"
        ]
        whole = ["_prompt", "_turn"] * (len(kinds) // 2 + 1)
        assert kinds == whole[: len(kinds)]
        assert len(kinds) % 2 == (self.turn.phase != "idle")


TestTogether = Together.TestCase
TestTogether.settings = machines

errors = st.none() | st.dictionaries(st.sampled_from(["code", "message", "data"]), foreign_json)
inputs = st.one_of(
    st.sampled_from(
        [
            agent_messages.StartWanted(),
            agent_messages.Spawned(1),
            agent_messages.SpawnFailed("x"),
            agent_messages.EndWanted(),
            agent_messages.Tick(),
            agent_messages.Exited(1, ["x"]),
        ]
    ),
    st.builds(agent_messages.Initialized, foreign_json, errors),
    st.builds(agent_messages.Opened, foreign_json, errors, st.integers(0, 3)),
)


@given(st.lists(inputs, max_size=12), st.none() | st.just("old"))
def test_no_answer_of_an_agent_breaks_the_machine(given: list[Any], stored: str | None) -> None:
    agent, wish = Agent(), WISH._replace(stored=stored, roots=["/r"])
    for place, each in enumerate(given):
        agent, effects = agent_machine.step(agent, each, place * 8.0, wish, POLICY)
        told = [effect for effect in effects if isinstance(effect, agent_messages.Tell)]
        assert len(told) <= 1
        if agent.phase == "ready":
            assert agent.session
