"""Both machines together, with an agent that does what it likes: every turn still ends once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from rookery.core import signals, supervision, turn
from rookery.core.events import Draft
from rookery.core.policy import Policy
from rookery.core.supervision import Agent
from rookery.core.turn import Turn
from tests.core.hostile import foreign_json, machines
from tests.core.making import text
from tests.core.test_supervision import WISH

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
        if type(given).__module__ == signals.__name__:
            self.turn, effects = turn.step(self.turn, given, self.now, POLICY)
        else:
            wish = WISH._replace(stored=self.stored)
            self.agent, effects = supervision.step(self.agent, given, self.now, wish, POLICY)
        for effect in effects:
            self.perform(effect)

    def perform(self, effect: Any) -> None:
        match effect:
            case turn.Append(draft):
                self.drafts.append(draft)
                self.stored = draft.update.get("sessionId", self.stored)
            case turn.WantAgent():
                self.feed(supervision.Wanted())
            case turn.SendPrompt():
                assert (self.alive, self.agent.phase) == (True, "ready")
                self.calls.append("session/prompt")
            case turn.EndAgent():
                self.feed(supervision.EndWanted())
            case supervision.Tell(given):
                self.feed(given)
            case supervision.Spawn():
                assert not self.alive, "one process at a time"
                self.starts += 1
                if self.starts % 5 == 4:
                    self.feed(supervision.SpawnFailed("no such file"))
                else:
                    self.alive, self.ending, self.calls = True, False, []
                    self.feed(supervision.Spawned(self.starts))
            case supervision.Call(method):
                self.calls.append(method)
            case supervision.End():
                self.ending = True

    @rule()
    def prompt(self) -> None:
        self.feed(turn.Prompted("p", [text("x")], None))

    @rule()
    def cancel(self) -> None:
        self.feed(turn.CancelWanted("c", None))

    @precondition(lambda self: self.alive and self.calls and not self.ending)
    @rule(
        capabilities=st.sampled_from(CAPABILITIES),
        error=st.none() | st.none() | st.sampled_from(ERRORS),
    )
    def answer(self, capabilities: Any, error: Any) -> None:
        method = self.calls.pop(0)
        if method == "session/prompt":
            self.feed(turn.Answered({"stopReason": "end_turn"}, error))
        elif method == "initialize":
            self.feed(supervision.Initialized({"agentCapabilities": capabilities}, error))
        else:
            self.feed(supervision.Opened({"sessionId": "s"}, error, 0))

    @precondition(lambda self: self.alive)
    @rule(status=st.sampled_from([0, 1, -9]))
    def exit(self, status: int) -> None:
        self.alive, self.calls = False, []
        self.feed(supervision.Exited(status, ["words"]))

    @rule()
    def restart(self) -> None:
        """As a worker does it: the turn is ended first, since a wanted end is told to nobody."""
        self.feed(turn.AgentLost("restarted", reason="interrupted"))
        self.feed(supervision.EndWanted())
        self.feed(supervision.Wanted())

    @rule(seconds=st.sampled_from([1.0, 10.0, 30.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.feed(turn.Tick())
        self.feed(supervision.Tick())
        for due in (turn.deadline(self.turn), supervision.deadline(self.agent)):
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
            supervision.Wanted(),
            supervision.Spawned(1),
            supervision.SpawnFailed("x"),
            supervision.EndWanted(),
            supervision.Tick(),
            supervision.Exited(1, ["x"]),
        ]
    ),
    st.builds(supervision.Initialized, foreign_json, errors),
    st.builds(supervision.Opened, foreign_json, errors, st.integers(0, 3)),
)


@given(st.lists(inputs, max_size=12), st.none() | st.just("old"))
def test_no_answer_of_an_agent_breaks_the_machine(given: list[Any], stored: str | None) -> None:
    agent, wish = Agent(), WISH._replace(stored=stored, roots=["/r"])
    for place, each in enumerate(given):
        agent, effects = supervision.step(agent, each, place * 8.0, wish, POLICY)
        told = [effect for effect in effects if isinstance(effect, supervision.Tell)]
        assert len(told) <= 1
        if agent.phase == "ready":
            assert agent.session
