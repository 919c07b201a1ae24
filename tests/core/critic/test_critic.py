"""The critic loop, signal by signal and in any order (agent.md, Critic and refinement)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rookery.core.critic import loop as critic_loop
from rookery.core.critic import verdicts
from rookery.core.critic.loop import Loop
from rookery.core.critic.state import ORIGIN
from rookery.core.critic.verdicts import INFRASTRUCTURE, Issue, Verdict
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.json.events import Draft, Event, Json
from rookery.core.limits import CriticPolicy
from rookery.core.turn.messages import Append
from rookery.core.turn.worker_idle import post_mortem
from tests.core.hostile import machines

ASKS = CriticPolicy(command="pytest -q", refine=True, timeout=60)
GOOD, BAD = Verdict(1.0, (), "command"), Verdict(0.0, (), "command")
OWN = {"rookery": {"critic": {"score": 0.2, "source": "api"}}}


def play(*given: critic_loop.Input, policy: CriticPolicy = ASKS, loop: Loop = Loop()) -> Any:  # noqa: B008
    """The loop after these, and the effects of the last."""
    effects: list[critic_loop.Effect] = []
    for each in given:
        loop, effects = critic_loop.step(loop, each, 100.0, policy)
    return loop, effects


def updates(effects: list[critic_loop.Effect]) -> list[Json]:
    return [effect.draft.update for effect in effects if isinstance(effect, Append)]


def refines(effects: list[critic_loop.Effect]) -> bool:
    return any(isinstance(effect, critic_loop.Refine) for effect in effects)


def test_a_turn_that_ended_well_is_judged_by_the_command() -> None:
    loop, effects = play(critic_loop.Began(), critic_loop.Ended(1, "end_turn"))
    assert effects == [critic_loop.RunCommand(1, "pytest -q")]
    assert (loop.phase, critic_loop.deadline(loop)) == ("judging", 160.0)
    loop, effects = play(critic_loop.Judged(1, GOOD), loop=loop)
    [update] = updates(effects)
    assert (update["score"], update["accepted"], update["again"]) == (1.0, True, False)
    assert (loop.phase, refines(effects)) == ("idle", False)


@pytest.mark.parametrize("reason", ["cancelled", "failed", "rate_limited", "refusal", "forced"])
def test_no_other_end_is_judged(reason: str) -> None:
    assert play(critic_loop.Began(), critic_loop.Ended(1, reason, OWN))[1] == []


def test_a_turn_that_a_person_cancelled_is_not_judged_whatever_its_agent_calls_it() -> None:
    assert (
        play(
            critic_loop.Began(), critic_loop.CancelWanted(), critic_loop.Ended(1, "end_turn", OWN)
        )[1]
        == []
    )


def test_a_queued_prompt_of_a_person_goes_first() -> None:
    assert play(critic_loop.Began(), critic_loop.Ended(1, "end_turn", OWN, followed=True))[1] == []


@pytest.mark.parametrize(
    "policy", [CriticPolicy(), CriticPolicy(command=" "), ASKS._replace(enabled=False)]
)
def test_without_a_source_or_switched_off_nothing_happens(policy: CriticPolicy) -> None:
    assert play(critic_loop.Began(), critic_loop.Ended(1, "end_turn"), policy=policy)[1] == []


def test_the_agents_own_verdict_is_written_and_acts_by_itself() -> None:
    policy = CriticPolicy(refine=True)
    _, effects = play(critic_loop.Began(), critic_loop.Ended(1, "end_turn", OWN), policy=policy)
    assert updates(effects)[0]["source"] == "api"
    assert refines(effects)
    _, effects = play(
        critic_loop.Began(), critic_loop.Ended(1, "end_turn", OWN), policy=CriticPolicy()
    )
    assert not refines(effects), "refinement is off by default"
    assert updates(effects)[0]["accepted"] is False


def test_both_sources_are_heard_and_either_triggers() -> None:
    loop, effects = play(critic_loop.Began(), critic_loop.Ended(1, "end_turn", OWN))
    assert updates(effects)[0]["more"] is True
    assert isinstance(effects[1], critic_loop.RunCommand)
    _, effects = play(critic_loop.Judged(1, GOOD), loop=loop)
    assert refines(effects)


def test_infrastructure_is_shown_and_triggers_nothing() -> None:
    broken = Verdict(None, (Issue("no disk", "", 1.0, INFRASTRUCTURE),), "command")
    loop, _ = play(critic_loop.Began(), critic_loop.Ended(1, "end_turn"))
    _, effects = play(critic_loop.Judged(1, broken), loop=loop)
    [update] = updates(effects)
    assert update["issues"][0]["name"] == "no disk"
    assert "accepted" not in update
    assert not refines(effects)


def around(loop: Loop, *, acts: bool = True, verdict: Verdict = BAD) -> tuple[Loop, list[Any]]:
    """One turn of the critic's and its verdict."""
    signals: list[critic_loop.Input] = [critic_loop.Began(ORIGIN)]
    signals += [critic_loop.Acted()] if acts else []
    loop, _ = play(*signals, critic_loop.Ended(2, "end_turn"), loop=loop)
    return play(critic_loop.Judged(2, verdict), loop=loop)


@pytest.mark.parametrize("most", [1, 3, 10])
def test_there_are_so_many_refinements_and_not_one_more(most: int) -> None:
    policy = ASKS._replace(iterations=most)
    loop, _ = play(critic_loop.Began(), critic_loop.Ended(1, "end_turn"))
    loop, effects = play(critic_loop.Judged(1, BAD), loop=loop, policy=policy)
    for number in range(1, most + 1):
        assert refines(effects)
        assert loop.iteration == number
        loop, _ = play(
            critic_loop.Began(ORIGIN),
            critic_loop.Acted(),
            critic_loop.Ended(2, "end_turn"),
            loop=loop,
        )
        loop, effects = play(critic_loop.Judged(2, BAD), loop=loop, policy=policy)
    assert not refines(effects)
    assert updates(effects)[0]["detail"] == "no refinements left"


def test_it_stops_when_a_refinement_changed_nothing() -> None:
    begun, _ = play(critic_loop.Began(), critic_loop.Ended(1, "end_turn"))
    loop, effects = play(critic_loop.Judged(1, BAD), loop=begun)
    assert refines(effects), "the person's own turn may have changed nothing"
    _, effects = around(loop, acts=False)
    assert not refines(effects)
    assert updates(effects)[0]["detail"] == "the last refinement changed nothing"
    _, effects = around(loop, acts=True)
    assert refines(effects)


@pytest.mark.parametrize(
    "fresh",
    [critic_loop.Began(), critic_loop.Steered(), critic_loop.Cleared(), critic_loop.Switched()],
)
def test_the_counter_goes_back_to_0(fresh: critic_loop.Input) -> None:
    assert play(fresh, loop=Loop(iteration=2))[0].iteration == 0


@pytest.mark.parametrize(
    "other", [critic_loop.Began(ORIGIN), critic_loop.Began("auto_resume"), critic_loop.Acted()]
)
def test_nothing_else_sets_it_back(other: critic_loop.Input) -> None:
    assert play(other, loop=Loop(iteration=2))[0].iteration == 2


@pytest.mark.parametrize(
    ("given", "state"),
    [
        (critic_loop.CancelWanted(), "cancelled"),
        (critic_loop.Began(), "interrupted"),
        (critic_loop.Cleared(), "interrupted"),
        (critic_loop.Switched(), "interrupted"),
        (critic_loop.Stopped(), "interrupted"),
    ],
)
def test_judging_is_given_up_at_once(given: critic_loop.Input, state: str) -> None:
    judging, _ = play(critic_loop.Began(), critic_loop.Ended(1, "end_turn"))
    loop, effects = play(given, loop=judging)
    assert effects[0] == critic_loop.EndCommand()
    assert updates(effects)[0]["state"] == state
    assert play(critic_loop.Judged(1, BAD), loop=loop)[1] == [], "what comes late says nothing"


def test_the_commands_time_is_out_at_its_tick_and_not_before() -> None:
    judging, _ = play(critic_loop.Began(), critic_loop.Ended(1, "end_turn"))
    assert critic_loop.step(judging, critic_loop.Tick(), 159.999, ASKS) == (judging, [])
    _, effects = critic_loop.step(judging, critic_loop.Tick(), 160.0, ASKS)
    assert effects[0] == critic_loop.EndCommand()
    [update] = updates(effects)
    assert update["issues"][0]["kind"] == INFRASTRUCTURE
    assert "1 min" in update["issues"][0]["name"]
    assert not refines(effects)


@pytest.mark.parametrize(
    ("call", "changed"),
    [
        ({"kind": "edit", "status": "completed"}, True),
        ({"kind": "edit", "status": "failed"}, False),
        ({"kind": "edit", "status": "pending"}, False),
        ({"kind": "execute", "status": "failed"}, True),
        ({"kind": "execute", "status": "in_progress"}, True),
        ({"kind": "execute", "status": "pending"}, False),
        ({"kind": "read", "status": "completed"}, False),
        ({"kind": "search", "status": "completed"}, False),
        ({"status": "completed"}, True),
        ({"kind": "unheard of", "status": "completed"}, True),
        ({}, False),
    ],
)
def test_what_changes_something(call: Json, changed: bool) -> None:
    assert critic_loop.changes(call) is changed


# --- in the header --------------------------------------------------------------------------------


def stand(*given: Json) -> Header:
    header = EMPTY
    for seq, update in enumerate(given, 1):
        header = header.with_(**advance(header, Event(seq, seq, None, None, update)))
    return header


PROMPT: Json = {"sessionUpdate": "_prompt", "prompt": []}
JUDGED: Json = {"sessionUpdate": "_critic", "state": "judged", "score": 0.0, "accepted": False}
IDLE: Json = {"sessionUpdate": "_turn", "state": "idle", "turn": 1, "reason": "end_turn"}


def test_the_header_says_which_refinement_runs() -> None:
    again = JUDGED | {"again": True, "iteration": 0, "of": 3}
    header = stand(PROMPT, IDLE | {"critic": True})
    assert header.critic["state"] == "judging"
    header = stand(PROMPT, IDLE | {"critic": True}, again, PROMPT | {"origin": ORIGIN})
    found = [header.critic[key] for key in ("state", "iteration", "of", "score")]
    assert found == ["refining", 1, 3, 0.0]
    assert critic_loop.restored(header) == Loop(iteration=1)


@pytest.mark.parametrize(
    "fresh",
    [
        PROMPT,
        {"sessionUpdate": "_context", "state": "cleared"},
        {"sessionUpdate": "_agent", "state": "switched", "to": "b"},
    ],
)
def test_the_headers_counter_goes_back_to_0(fresh: Json) -> None:
    again = JUDGED | {"again": True, "iteration": 1, "of": 3}
    assert stand(PROMPT, again).critic["iteration"] == 2
    assert stand(PROMPT, again, fresh).critic == EMPTY.critic


def test_a_reset_context_does_not_set_the_counter_back() -> None:
    """An agent that forgets at every start would be refined for ever."""
    again = JUDGED | {"again": True, "iteration": 1, "of": 3}
    assert stand(again, {"sessionUpdate": "_context", "state": "reset"}).critic["iteration"] == 2


def test_a_persons_choice_goes_before_the_configuration() -> None:
    header = stand({"sessionUpdate": "_session", "critic": False, "refine": True})
    assert critic_loop.in_force(CriticPolicy(), header.critic) == CriticPolicy(
        enabled=False, refine=True
    )
    header = stand(
        {"sessionUpdate": "_session", "refine": True}, {"sessionUpdate": "_session", "refine": None}
    )
    assert critic_loop.in_force(CriticPolicy(), header.critic) == CriticPolicy()


@pytest.mark.parametrize("left", [[IDLE | {"critic": True}], [IDLE, JUDGED | {"again": True}]])
def test_a_dead_workers_verdict_is_not_waited_for(left: list[Json]) -> None:
    header = stand(PROMPT, *left)
    [draft] = post_mortem(header)
    assert draft.update["state"] == "interrupted"
    header = header.with_(**advance(header, Event(9, 9, None, None, draft.update)))
    assert header.critic["state"] == ""
    assert post_mortem(header) == []


# --- in any order ---------------------------------------------------------------------------------


class Orders(RuleBasedStateMachine):
    """Whatever comes when: one command at most, a bounded number of refinements, a marked end for
    everything that was begun."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = Loop()
        self.now = 0.0
        self.commands = 0
        self.streak = 0
        self.open = False
        self.drafts: list[Draft] = []

    def feed(self, given: critic_loop.Input) -> None:
        self.loop, effects = critic_loop.step(self.loop, given, self.now, ASKS)
        if isinstance(given, critic_loop.Ended):
            self.open = critic_loop.follows(self.loop, effects)
        for effect in effects:
            match effect:
                case Append(draft):
                    self.drafts.append(draft)
                    if draft.update.get("more") is not True:
                        assert self.open, "a last word on a turn that was marked"
                        self.open = False
                case critic_loop.RunCommand():
                    self.commands += 1
                case critic_loop.EndCommand():
                    self.commands -= 1
                case critic_loop.Refine():
                    self.streak += 1
                    assert self.streak <= ASKS.iterations

    @rule(origin=st.sampled_from(["", ORIGIN, "auto_resume"]))
    def begin(self, origin: str) -> None:
        self.feed(critic_loop.Began(origin))
        self.streak = self.streak if origin else 0

    @rule(
        given=st.sampled_from(
            [critic_loop.Steered(), critic_loop.Cleared(), critic_loop.Switched()]
        )
    )
    def start_over(self, given: critic_loop.Input) -> None:
        self.feed(given)
        self.streak = 0

    @rule()
    def act(self) -> None:
        self.feed(critic_loop.Acted())

    @rule(
        reason=st.sampled_from(["end_turn", "cancelled", "failed"]),
        meta=st.sampled_from([None, OWN]),
        followed=st.booleans(),
    )
    def end(self, reason: str, meta: Any, followed: bool) -> None:
        if self.loop.phase == "idle":  # a turn begins before it ends, and that gives judging up
            self.feed(critic_loop.Ended(1, reason, meta, followed))

    @rule(verdict=st.sampled_from([GOOD, BAD]), turn=st.sampled_from([1, 2]))
    def judge(self, verdict: Verdict, turn: int) -> None:
        if self.commands and turn == self.loop.turn:
            self.commands -= 1
            self.feed(critic_loop.Judged(turn, verdict))
        else:
            self.feed(critic_loop.Judged(turn + 7, verdict))

    @rule(given=st.sampled_from([critic_loop.CancelWanted(), critic_loop.Stopped()]))
    def give_up(self, given: critic_loop.Input) -> None:
        self.feed(given)

    @rule(after=st.sampled_from([1.0, 100.0]))
    def pass_time(self, after: float) -> None:
        self.now += after
        self.feed(critic_loop.Tick())

    @invariant()
    def one_command_at_most(self) -> None:
        assert self.commands == (self.loop.phase == "judging")
        assert self.open == (self.loop.phase == "judging")


TestOrders = Orders.TestCase
TestOrders.settings = machines


def test_the_look_of_a_verdict_names_the_source_and_what_follows() -> None:
    from rookery.core.view.reduce import fold

    issue = verdicts.to_json(Issue("Gave up early", "effort", 0.9))
    update = JUDGED | {"issues": [issue], "source": "api", "again": True, "iteration": 0, "of": 3}
    document = fold(None, [Event(1, 1, None, "critic", update)])
    [block] = document.blocks.values()
    assert block["title"] == "Critic ☆☆☆☆☆ 0.00 (api)"
    assert block["text"] == "Gave up early (effort, 0.90)\nRefinement 1 of 3 follows."
    assert block["status"] == "warn"
