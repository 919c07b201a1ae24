"""The turn machine under inputs in any order: what must be true of every one of them."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from rookery.core.limits import Policy
from rookery.core.stop_reasons import REASONS, STOP_REASONS
from rookery.core.turn.machine import deadline, step
from rookery.core.turn.messages import (
    AgentLost,
    AgentReady,
    Answered,
    Append,
    AskedAgain,
    CancelWanted,
    CloseAsks,
    Deferred,
    Effect,
    EndAgent,
    Freed,
    Prompted,
    SendCancel,
    SendPrompt,
    Tick,
    Turn,
    WantAgent,
)
from tests.core.hostile import foreign_json, machines
from tests.core.making import Json, text

POLICY = Policy(cancel_grace=10, queue_most=4)


class Turns(RuleBasedStateMachine):
    """A shell with an agent that may be asked for, be lost, answer, or say nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = Turn()
        self.now = 0.0
        self.drafts: list[Any] = []
        self.at_agent = 0
        """Prompts that the agent has and has not answered."""
        self.wanted = False
        self.sent: list[str] = []
        self.next = 0
        self.batches: list[list[Effect]] = []

    def feed(self, given: Any) -> list[Effect]:
        self.turn, effects = step(self.turn, given, self.now, POLICY)
        self.batches.append(effects)
        for effect in effects:
            match effect:
                case Append(draft):
                    self.drafts.append(draft)
                case WantAgent():
                    assert not self.wanted
                    self.wanted = True
                case SendPrompt(_, True):
                    self.at_agent += 1
                case SendPrompt(prompt):
                    self.at_agent += 1
                    self.sent += [block["text"] for block in prompt if block["text"] != "\n\n"]
                case SendCancel():
                    assert self.at_agent == 1
                case EndAgent():
                    self.at_agent = 0
        return effects

    @rule(slash=st.booleans())
    def prompt(self, slash: bool) -> None:
        self.next += 1
        words = f"{'/' if slash else ''}{self.next}"
        self.feed(Prompted(str(self.next), [text(words)], None))

    @rule(slash=st.booleans())
    def prompt_behind_what_is_asked(self, slash: bool) -> None:
        """It never begins a turn by itself."""
        before, self.next = self.turn.n, self.next + 1
        words = f"{'/' if slash else ''}{self.next}"
        self.feed(Prompted(str(self.next), [text(words)], None, behind=True))
        assert self.turn.n == before

    @rule(how=st.sampled_from(["continue", "resend", "forced"]))
    def ask_again(self, how: str) -> None:
        """Only where no turn runs."""
        before = self.turn
        self.next += 1
        self.feed(AskedAgain(how, 1, [text(str(self.next))]))
        assert (self.turn.n == before.n + 1) == (before.phase == "idle")

    @rule()
    def defer(self) -> None:
        """The turn waits, and its agent ends."""
        before = self.turn
        effects = self.feed(Deferred())
        assert bool(effects) == (before.phase == "running")
        assert CloseAsks not in [type(effect) for effect in effects]

    @precondition(lambda self: self.turn.phase == "idle")
    @rule()
    def free(self) -> None:
        waits = bool(self.turn.queue)
        self.feed(Freed())
        assert (self.turn.phase != "idle") == waits

    @precondition(lambda self: self.wanted)
    @rule(fine=st.booleans(), continues=st.booleans(), forgot=st.booleans())
    def the_agent_comes_or_does_not(self, fine: bool, continues: bool, forgot: bool) -> None:
        self.wanted = False
        self.feed(AgentReady(continues, forgot) if fine else AgentLost("no start"))

    @precondition(lambda self: self.at_agent)
    @rule(said=st.sampled_from([*sorted(STOP_REASONS), "end_turn", "odd"]))
    def answer(self, said: str) -> None:
        self.at_agent = 0
        self.feed(Answered({"stopReason": said}, None))

    @precondition(lambda self: self.at_agent)
    @rule(kind=st.sampled_from(["rate_limit", "other"]))
    def error(self, kind: str) -> None:
        self.at_agent = 0
        self.feed(Answered(None, {"code": 1, "message": "m", "data": {"errorKind": kind}}))

    @precondition(lambda self: self.at_agent)
    @rule()
    def the_agent_dies(self) -> None:
        self.at_agent = 0
        self.feed(AgentLost("status 1"))

    @rule()
    def cancel(self) -> None:
        before = len(self.drafts)
        waiting = self.turn.phase == "waiting"
        self.feed(CancelWanted("c", None))
        assert self.drafts[before].update == {"sessionUpdate": "_done", "command": "cancel"}
        if waiting:
            self.wanted = False  # the shell's answer comes to nobody: it is fed below, as a stray

    @rule(given=st.sampled_from([AgentReady(), AgentLost("stray")]))
    @precondition(lambda self: self.turn.phase == "idle")
    def stray(self, given: Any) -> None:
        assert self.feed(given) == []

    @rule(seconds=st.sampled_from([0.5, 9.999, 10.0, 30.0]))
    def time_passes(self, seconds: float) -> None:
        due = deadline(self.turn)
        self.now += seconds
        effects = self.feed(Tick())
        assert bool(effects) == (due is not None and self.now >= due)

    @invariant()
    def one_end_for_each_prompt(self) -> None:
        """Each prompt ends exactly once, in its turn, with one reason."""
        admitted = ended = 0
        for draft in self.drafts:
            match draft.update:
                case {"sessionUpdate": "_prompt", "turn": n}:
                    assert admitted == ended, "one turn at a time"
                    admitted += 1
                    assert n == admitted
                case {"sessionUpdate": "_turn", "state": "idle", "turn": n, "reason": reason}:
                    ended += 1
                    assert n == ended == admitted
                    assert reason in REASONS
        assert admitted - ended == (self.turn.phase != "idle")
        assert self.turn.n == admitted

    @invariant()
    def one_prompt_at_the_agent(self) -> None:
        """Never two, and only while the turn says so."""
        assert self.at_agent == (self.turn.phase in ("running", "cancelling"))

    @invariant()
    def nothing_is_lost_or_overtaken_in_the_queue(self) -> None:
        queue = list(self.turn.queue)
        assert len(queue) <= POLICY.queue_most
        assert [int(item.id) for item in queue] == sorted(int(item.id) for item in queue)
        added = [d.update["id"] for d in self.drafts if d.update["sessionUpdate"] == "_queue"]
        drained = [name for d in self.drafts for name in d.update.get("queued", [])]
        assert drained == added[: len(drained)], "in order, each once"
        assert [item.id for item in queue] == added[len(drained) :]

    @invariant()
    def what_the_agent_got_was_admitted_first(self) -> None:
        said: list[str] = []
        for draft in self.drafts:
            if draft.update["sessionUpdate"] == "_prompt":
                said += [b["text"] for b in draft.update["prompt"] if b["text"] != "\n\n"]
        kept = iter(said)
        assert all(words in kept for words in self.sent), "in order"

    @invariant()
    def an_end_that_nobody_decided_closes_no_ask(self) -> None:
        for effects in self.batches:
            ends = [e.draft.update.get("reason") for e in effects if isinstance(e, Append)]
            if {"agent_exited", "waiting", "interrupted"} & set(ends):
                assert not any(isinstance(effect, CloseAsks) for effect in effects)


TestTurns = Turns.TestCase
TestTurns.settings = machines

error = st.dictionaries(st.sampled_from(["code", "message", "data"]), foreign_json)
inputs = st.one_of(
    st.builds(Answered, foreign_json, st.none() | error),
    st.builds(AgentLost, st.text(max_size=3), st.none() | error, st.sampled_from(sorted(REASONS))),
    st.sampled_from([AgentReady(), Tick(), CancelWanted("c", None)]),
    st.builds(Prompted, st.just("p"), st.just([text("x")]), st.none()),
)


@given(st.lists(inputs, max_size=12))
def test_no_answer_of_an_agent_breaks_the_machine(given: list[Any]) -> None:
    turn, prompts, ends = Turn(), 0, 0
    for place, each in enumerate(given):
        turn, effects = step(turn, each, place * 4.0, POLICY)
        updates: list[Json] = [e.draft.update for e in effects if isinstance(e, Append)]
        prompts += sum(update["sessionUpdate"] == "_prompt" for update in updates)
        idle = [update for update in updates if update.get("state") == "idle"]
        ends += len(idle)
        assert all(update["reason"] in REASONS for update in idle)
        lost = isinstance(each, AgentLost) and each.reason != "cancelled"
        closing = 0 if lost else len(idle)
        assert sum(isinstance(effect, CloseAsks) for effect in effects) == closing
    assert prompts - ends == (turn.phase != "idle")
