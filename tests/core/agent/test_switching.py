"""Another agent takes over, or the same begins anew: the machine, arrow by arrow, and what the
header says afterwards."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core import commands
from rookery.core.agent import machine as agent_machine
from rookery.core.agent import messages as agent_messages
from rookery.core.agent import switching
from rookery.core.agent.messages import Agent
from rookery.core.blocks import asks
from rookery.core.header import EMPTY
from rookery.core.json.events import Draft
from rookery.core.limits import Policy
from rookery.core.turn import clearing
from rookery.core.turn import machine as turn_machine
from rookery.core.turn import messages as turn_messages
from rookery.core.turn.clearing import Clearing, is_folded
from rookery.core.turn.messages import Append
from rookery.core.turn.queue import Queued
from rookery.core.vendors.profiles import Profile
from tests.core.agent.test_supervision import ENDING, EVERY, MIDDLE, READY, WISH, go
from tests.core.hostile import foreign_json
from tests.core.making import Json, asked, idle, message, play, prompt, running, text, update

HEIR = Draft({"sessionUpdate": "_agent", "state": "switched", "to": "jay"}, "c1", "me")
CLOSES: Json = {"sessionCapabilities": {"close": {}}}
CLEARING = Clearing("c2", "me", current={"mode": "plan"})


def drafts(effects: list[Any]) -> list[Draft]:
    return [effect.draft for effect in effects if isinstance(effect, Append)]


# --- who may ---


@pytest.mark.parametrize(
    ("header", "command", "reason"),
    [
        ({"agent": "crow"}, {"agent": "crow"}, "same_agent"),
        ({"agent": "crow"}, {"agent": "owl"}, "unknown_agent"),
        ({"agent": "crow", "argv": ["x"]}, {"agent": "crow", "argv": ["x"]}, "same_agent"),
    ],
)
def test_switching_to_the_same_or_an_unknown_agent_is_refused(
    header: Json, command: Json, reason: str
) -> None:
    refusal = switching.refusal(EMPTY.with_(**header), command, ["crow", "jay"])
    assert refusal is not None
    assert refusal.reason == reason
    assert "jay" in refusal.message


@pytest.mark.parametrize(
    ("header", "command"),
    [
        ({"agent": "crow"}, {"agent": "jay"}),
        ({"agent": "crow", "argv": ["x"]}, {"agent": "crow"}),
        ({"agent": "crow"}, {"agent": "crow", "argv": ["x"]}),
        ({"agent": "crow"}, {"agent": "owl", "argv": ["owl"]}),
    ],
)
def test_another_agent_or_another_command_is_accepted(header: Json, command: Json) -> None:
    assert switching.refusal(EMPTY.with_(**header), command, ["crow", "jay"]) is None


@pytest.mark.parametrize(
    ("header", "given_", "reason"),
    [
        ({}, {}, "manual"),
        ({"rateLimit": {}, "reason": "rate_limited"}, {}, "rate_limited"),
        ({"rateLimit": {}, "reason": "rate_limited"}, {"reason": "manual"}, "manual"),
        ({"rateLimit": None, "reason": "rate_limited"}, {}, "manual"),
        ({}, {"reason": "rate_limited"}, "rate_limited"),
    ],
)
def test_the_reason_is_the_rate_limit_or_the_users_wish(
    header: Json, given_: Json, reason: str
) -> None:
    command = {"do": "switch", "agent": "jay", **given_}
    told = commands.offline(command, EMPTY.with_(agent="crow", **header))
    assert told is not None
    assert (told["from"], told["to"], told["reason"]) == ("crow", "jay", reason)


# --- the machine ---


def test_an_absent_agent_is_replaced_at_once() -> None:
    after, effects = go(Agent(), agent_messages.Replaced(HEIR, start=True))
    assert (after, effects) == (Agent(), [Append(HEIR, full=True), turn_messages.WantAgent()])
    assert go(Agent(), agent_messages.Replaced(HEIR, start=False))[1] == [Append(HEIR, full=True)]


@pytest.mark.parametrize("agent", MIDDLE)
def test_a_running_agent_has_5_s_and_the_log_says_when_it_is_gone(agent: Agent) -> None:
    ending, effects = go(agent, agent_messages.Replaced(HEIR, start=True))
    assert effects == [agent_messages.End(5.0)]
    assert (ending.phase, drafts(effects)) == ("ending", [])
    after, effects = go(ending, agent_messages.Exited(0, []))
    assert [draft.update["state"] for draft in drafts(effects)] == ["exited", "switched"]
    assert effects[-1] == turn_messages.WantAgent(), (
        "performed after the commit: the wish is the heir's"
    )
    assert after == Agent(), "nothing of the old one's past counts"


def test_an_agent_that_is_already_ending_is_waited_for() -> None:
    ending, effects = go(ENDING, agent_messages.Replaced(HEIR, start=False))
    assert effects == []
    _, effects = go(ending, agent_messages.Exited(0, []))
    assert drafts(effects)[-1] == HEIR
    assert turn_messages.WantAgent() not in effects


def test_a_prompt_during_a_switch_starts_the_new_agent() -> None:
    ending, _ = go(READY, agent_messages.Replaced(HEIR, start=False))
    wanted, effects = go(ending, agent_messages.StartWanted())
    assert effects == []
    assert go(wanted, agent_messages.Exited(0, []))[1][-1] == turn_messages.WantAgent()


def test_a_stop_during_a_switch_still_switches() -> None:
    ending, _ = go(READY, agent_messages.Replaced(HEIR, start=True))
    stopped, _ = go(ending, agent_messages.EndWanted())
    _, effects = go(stopped, agent_messages.Exited(0, []))
    assert drafts(effects)[-1] == HEIR
    assert turn_messages.WantAgent() not in effects


def test_a_switch_forgets_the_parked_agents_failures() -> None:
    past = agent_messages.Past(starts=(1.0, 2.0), parked=True)
    after, _ = go(Agent(past=past), agent_messages.Replaced(HEIR, start=True))
    assert after.past == agent_messages.Past()


@pytest.mark.parametrize("agent", [each for each in EVERY if each.phase != "ready"])
def test_only_an_agent_that_is_ready_can_be_cleared_by_a_new_session(agent: Agent) -> None:
    after, effects = go(agent, agent_messages.ClearWanted(CLEARING))
    [told] = drafts(effects)
    assert (after, told.cause, told.update["sessionUpdate"]) == (agent, "c2", "_rejected")


def test_a_new_session_on_the_live_agent_in_the_same_mode() -> None:
    ready = READY._replace(capabilities=CLOSES)
    opening, [call] = go(ready, agent_messages.ClearWanted(CLEARING))
    assert isinstance(call, agent_messages.Call)
    assert call.method == "session/new"
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "plan"}]}
    after, effects = go(
        opening, agent_messages.Opened({"sessionId": "s2", "modes": modes}, None, 0)
    )
    cleared, ready_again = drafts(effects)
    assert (cleared.update["state"], cleared.update["sessionId"]) == ("cleared", "s2")
    assert (cleared.cause, ready_again.update["state"]) == ("c2", "ready")
    assert agent_messages.Leave("s1") in effects
    assert effects[-1] == agent_messages.Call(
        "session/set_mode", {"sessionId": "s2", "modeId": "plan"}
    )
    assert (after.session, after.clearing) == ("s2", None)


def test_a_refusal_keeps_the_old_session() -> None:
    opening, _ = go(READY, agent_messages.ClearWanted(CLEARING))
    after, effects = go(opening, agent_messages.Opened(None, {"message": "no"}, 0))
    assert after == READY._replace(method="session/new")
    [told] = drafts(effects)
    assert "no" in told.update["message"]


ENDINGS: list[Any] = [
    agent_messages.Exited(1, []),
    agent_messages.EndWanted(),
    agent_messages.Replaced(HEIR, start=True),
    agent_messages.Opened({}, None, 0),
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_end_of_a_clear_is_reported_once(ending: Any) -> None:
    opening, _ = go(READY, agent_messages.ClearWanted(CLEARING))
    _, effects = go(opening, ending)
    assert [draft.cause for draft in drafts(effects)].count("c2") == 1


def test_a_clear_is_given_up_exactly_at_its_deadline() -> None:
    opening, _ = go(READY, agent_messages.ClearWanted(CLEARING), 100.0)
    until = opening.until
    assert until == 130.0
    assert go(opening, agent_messages.Tick(), until - 0.001) == (opening, [])
    _, effects = go(opening, agent_messages.Tick(), until)
    assert [draft.cause for draft in drafts(effects)] == ["c2"]


INPUTS = st.one_of(
    st.just(agent_messages.StartWanted()),
    st.just(agent_messages.Spawned(7)),
    st.just(agent_messages.SpawnFailed("no such file")),
    st.builds(agent_messages.Initialized, st.sampled_from([{}, CLOSES, None]), st.none()),
    st.builds(
        agent_messages.Opened, st.sampled_from([{"sessionId": "s"}, {}]), st.none(), st.just(0)
    ),
    st.builds(agent_messages.Applied, foreign_json, st.none()),
    st.just(agent_messages.Exited(0, [])),
    st.just(agent_messages.EndWanted()),
    st.just(agent_messages.Tick()),
)


@given(
    st.lists(
        st.one_of(INPUTS, st.sampled_from(["switch", "clear"]), st.floats(0, 100, allow_nan=False)),
        max_size=40,
    )
)
def test_in_any_order_each_command_has_one_outcome(script: list[Any]) -> None:
    """And once the last process is gone, nobody still waits."""
    agent, now, told, asked = Agent(), 0.0, list[Draft](), list[str]()
    for number, item in enumerate(
        [*script, agent_messages.EndWanted(), agent_messages.Exited(0, [])]
    ):
        given_ = item
        if isinstance(item, float):
            now += item
            continue
        if item == "switch":
            if agent.heir is not None:
                continue  # the desk refuses a second one
            given_ = agent_messages.Replaced(HEIR._replace(cause=f"c{number}"), start=True)
        elif item == "clear":
            given_ = agent_messages.ClearWanted(Clearing(f"c{number}", None))
        if isinstance(item, str):
            asked.append(f"c{number}")
        agent, effects = agent_machine.step(agent, given_, now, WISH, Policy())
        told += drafts(effects)
    causes = [draft.cause for draft in told if draft.cause is not None]
    assert sorted(causes) == sorted(asked)


# --- the turn and the header ---


def test_a_switch_cancels_the_turn_and_keeps_the_queue() -> None:
    busy, _ = turn_machine.step(
        turn_messages.Turn(), turn_messages.Prompted("p", [text("x")], None), 0.0, Policy()
    )
    queued, _ = turn_machine.step(
        busy, turn_messages.Prompted("q", [text("y")], None), 0.0, Policy()
    )
    lost = turn_messages.AgentLost("jay takes over", reason="cancelled")
    after, effects = turn_machine.step(queued, lost, 0.0, Policy())
    [end] = drafts(effects)
    assert (end.update["reason"], end.update["detail"]) == ("cancelled", "jay takes over")
    assert (after.phase, after.held, [item.id for item in after.queue]) == ("idle", True, ["q"])


def test_the_agents_own_clear_command_leaves_the_queue_waiting() -> None:
    held = turn_messages.Turn(n=1, queue=(Queued("q", [text("y")]),), held=True)
    clear = turn_messages.Prompted("c", [text("/clear")], None, clearing.ORIGIN)
    begun, _ = turn_machine.step(held, clear, 0.0, Policy())
    busy, _ = turn_machine.step(begun, turn_messages.AgentReady(), 0.0, Policy())
    after, _ = turn_machine.step(
        busy, turn_messages.Answered({"stopReason": "end_turn"}, None), 0.0, Policy()
    )
    assert (after.phase, after.held, len(after.queue)) == ("idle", True, 1)


def switched(**fields: Any) -> Json:
    return update("_agent", state="switched", **{"from": "crow", "to": "jay"}, **fields)


def test_pinned_options_and_the_park_go_with_the_old_agent() -> None:
    """The next start is given what belongs to the new one."""
    log = [
        update("_session", id="s", agent="crow", argv=["crow"], mode="plan", model="big"),
        *(prompt(), running(), idle("agent_exited")),
        update("_agent", state="parked", name="crow", stderr=["x"]),
    ]
    after = play(*log, switched(model="small")).header
    assert (after.agent, after.argv, after.wanted) == ("jay", [], {"model": "small"})
    assert after.process == {"state": "absent", "name": "jay"}
    assert (after.reason, after.error) == ("", None)
    assert play(*log, switched()).header.wanted == {}


def test_the_divider_offers_a_recap_if_something_was_said() -> None:
    turns = [prompt(), running(), message("hi"), idle()]
    [*_, divider] = play(*turns, switched()).blocks.values()
    assert divider["actions"] == [{"label": "Recap", "compose": {"recap": 5}}]
    [divider] = play(switched()).blocks.values()
    assert divider["actions"] == []


@pytest.mark.parametrize("turns", [1, 2])
def test_a_reset_offers_a_recap_of_earlier_turns(turns: int) -> None:
    earlier = [prompt(), running(), idle()] * (turns - 1)
    reset = update("_context", state="reset", reason="gone")
    document = play(*earlier, prompt(), running(), reset)
    [*_, divider] = document.blocks.values()
    seq = len(earlier) + 3
    assert divider["actions"] == [{"label": "Recap", "compose": {"recap": seq}}] * (turns - 1)
    assert document.header.recap == seq


def test_a_clear_folds_the_turns_and_keeps_what_the_agent_can_do() -> None:
    log = [
        update("_session", id="s", agent="crow"),
        update("_agent", state="ready", sessionId="s1", name="crow", modes={"currentModeId": "m"}),
        update("available_commands_update", availableCommands=[{"name": "c"}]),
        *(prompt(), running(), update("usage_update", used=3), idle("rate_limited")),
    ]
    before = play(*log).header
    kept = ("options", "mode", "commands", "capabilities", "agent")
    for how, session in [("later", None), ("new", "s2"), ("command", "s1")]:
        fields = {"sessionId": session} if how == "new" else {}
        document = play(*log, update("_context", state="cleared", how=how, **fields))
        after = document.header
        assert after.fold == {"turn": 1, "seq": 8}
        assert {key: after.raw[key] for key in kept} == {key: before.raw[key] for key in kept}
        assert (after.usage, after.rate_limit) == ({}, None)
        known = after.agent_session
        assert (known["id"] if known else None) == session
        shown = [name for name in document.blocks if not is_folded(after.fold, name)]
        assert [document.blocks[name]["title"] for name in shown] == ["Cleared"]


@pytest.mark.parametrize(
    ("block", "folded"),
    [
        *(("2.7", True), ("2.8", False), ("2.7?", True), ("2.9?", False)),
        *(("1.99", True), ("3.9", False), ("2.quiet", True), ("3.quiet", False)),
    ],
)
def test_turns_before_a_clear_are_folded(block: str, folded: bool) -> None:
    assert is_folded({"turn": 2, "seq": 8}, block) is folded
    assert not is_folded(None, block)


@pytest.mark.parametrize(
    ("profile", "names", "command"),
    [
        (("clear", "new"), ["new", "clear"], "/clear"),
        (("clear", "new"), ["/new"], "/new"),
        (("clear", "new"), ["init"], ""),
        ((), ["clear"], ""),
    ],
)
def test_an_agents_clear_command_counts_if_known_and_advertised(
    profile: tuple[str, ...], names: list[str], command: str
) -> None:
    listed = [{"name": name} for name in names]
    assert clearing.own_command(Profile(clear=profile), listed) == command


def test_an_ask_of_a_log_that_does_not_name_its_agent_is_that_of_the_agent_then() -> None:
    """Earlier builds did not log the name; the fold knows who was at work."""
    call = {"toolCallId": "t", "title": "make", "kind": "execute"}
    known = {"toolCallId": "t", "title": "make"}
    document = play(
        update("_session", id="s", cwd="/", agent="crow"),
        prompt(),
        running(),
        asked(toolCall=call, options=[]),
        update("_judged", toolCall=known, verdict="allow", ruled="allowed by rule x"),
        idle(),
        update("_agent", state="switched", **{"from": "crow", "to": "jay", "name": "jay"}),
        prompt(),
        asked("a2", toolCall=call, options=[], agent="owl"),
    )
    found = [block for block in document.blocks.values() if block["role"] == "ask"]
    assert [asks.question(block, "jay").split()[0] for block in found] == ["crow", "crow", "owl"]
