"""How much is asked, and who answers what is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core import commands
from rookery.core.agent import machine, messages
from rookery.core.ask import from_agent
from rookery.core.fold import advance
from rookery.core.header import EMPTY, Header
from rookery.core.limits import Policy
from rookery.core.policy import modes as policy_modes
from rookery.core.policy import rules
from rookery.core.policy.modes import ALL, EVERY, RISKY
from rookery.core.policy.rules import Rule, Verdict
from rookery.core.vendors.profiles import Profile, profile_of
from rookery.core.view.reduce import fold
from tests.core.making import asked, log, only, update

type Json = dict[str, Any]

OPTIONS = [
    {"optionId": "y", "name": "Allow", "kind": "allow_once"},
    {"optionId": "ya", "name": "Always", "kind": "allow_always"},
    {"optionId": "n", "name": "Reject", "kind": "reject_once"},
]
RULE = Rule("r", "allow", command=("*",))


def call(kind: str, line: str = "", path: str = "") -> rules.Call:
    given: Json = {"kind": kind, "rawInput": {"command": line} if line else {}}
    given["locations"] = [{"path": path}] if path else []
    return rules.call_of("x", given, ["/w"], "/h")


LS, RM, ODD = call("execute", "ls"), call("execute", "rm -rf ."), call("other")


@pytest.mark.parametrize(
    ("given", "risky"),
    [
        (LS, False),
        (RM, True),
        (ODD, True),
        (call("execute"), True),
        (call("edit", path="/w/a"), False),
        (call("edit"), True),
        (call("edit", path="/etc/a"), True),
        (call("delete", path="/w/a"), True),
        (call("switch_mode"), True),
        (call("read"), False),
        (call("fetch"), False),
    ],
)
def test_risky_calls_are_recognised(given: rules.Call, risky: bool) -> None:
    assert policy_modes.is_risky(given) is risky


@pytest.mark.parametrize(
    ("given", "do", "confirm", "guard", "allowed", "by"),
    [
        (LS, "", EVERY, True, None, ""),
        (LS, "", RISKY, True, True, "confirm:risky"),
        (ODD, "", RISKY, True, None, ""),
        (RM, "", RISKY, True, None, ""),
        (RM, "", RISKY, False, None, ""),
        (ODD, "", ALL, True, True, "confirm:all"),
        (RM, "", ALL, True, None, ""),
        (RM, "", ALL, False, True, "confirm:all"),
        (LS, "allow", EVERY, True, True, "rule:r"),
        (LS, "deny", ALL, True, False, "rule:r"),
        (LS, "ask", ALL, True, None, ""),
    ],
)
def test_rules_come_first_then_the_mode(
    given: rules.Call, do: str, confirm: str, guard: bool, allowed: bool | None, by: str
) -> None:
    verdict = Verdict(do, (RULE,)) if do else Verdict("")
    found = policy_modes.rule_on(given, verdict, confirm, guard=guard)
    assert (found.allow if found else None) is allowed
    assert not found or found.by == by


@given(st.permutations(OPTIONS), st.booleans())
def test_the_agents_own_option_answers_once(options: list[Json], allow: bool) -> None:
    ask = asked(options=options)
    answer = policy_modes.ruled(
        from_agent(ask),
        policy_modes.Judgement("allow" if allow else "deny", "rule:r", "by rule r", "why"),
    )
    outcome = answer.reply["outcome"]
    assert outcome["optionId"] == ("y" if allow else "n")
    assert ("_meta" in outcome) is not allow
    assert answer.draft.by == "rule:r"
    assert answer.draft.update["verdict"] == ("allow" if allow else "deny")


def test_without_a_matching_option_the_ask_is_cancelled() -> None:
    for allow, options in ((True, OPTIONS[2:]), (False, OPTIONS[:2])):
        answer = policy_modes.ruled(
            from_agent(asked(options=options)),
            policy_modes.Judgement("allow" if allow else "deny", "b", "w"),
        )
        assert answer.reply == {"outcome": {"outcome": "cancelled"}}
        assert answer.draft.update["verdict"] == "deny"


def test_the_block_says_which_rule_answered() -> None:
    ask = asked(options=OPTIONS, toolCall={"toolCallId": "t", "title": "ls"})
    answer = policy_modes.ruled(
        from_agent(ask), policy_modes.Judgement("allow", "rule:r", "allowed by rule r")
    )
    document = fold(None, log(ask | {"ruled": "allowed by rule r"}))
    block = only(document, "ask")
    assert (block["actions"], block["ruled"]) == ([], "allowed by rule r")
    document = fold(None, log(ask, answer.draft.update))
    assert only(document, "ask")["text"] == "Allowed by rule r"


def test_always_allow_is_an_action_of_the_ask() -> None:
    document = fold(None, log(asked(options=OPTIONS, always="x · ls")))
    *own, always = only(document, "ask")["actions"]
    assert [action["label"] for action in own] == ["Allow", "Always", "Reject"]
    assert "x · ls" in always["label"]
    command = {"do": "answer", "ask": "a1", "nonce": "n1", "always": True}
    assert always["command"] == command
    assert commands.check(command, 1000) is None


# --- whose it is -------------------------------------------------------------------------------


def modes(current: str, *values: str) -> Json:
    listed = [{"id": value, "name": value} for value in values]
    return {"currentModeId": current, "availableModes": listed}


OURS = modes("always-ask", "always-ask", "risk-based", "always-approve")


def header(agent: str, confirm: str | None, offered: Json | None) -> Header:
    made = EMPTY
    given = {"confirm": confirm} if confirm else {}
    first = update("_session", id="s", cwd="/w", agent=agent, **given)
    ready = update("_agent", state="ready", name=agent, sessionId="x")
    for event in log(first, ready | ({"modes": offered} if offered else {})):
        made = made.with_(**advance(made, event))
    return made


@pytest.mark.parametrize(
    ("agent", "confirm", "offered", "level", "shown"),
    [
        ("player", None, None, EVERY, EVERY),
        ("player", RISKY, None, RISKY, RISKY),
        ("player", ALL, modes("a", "a"), ALL, ALL),
        ("rookery", RISKY, OURS, EVERY, EVERY),  # not set yet: its own word counts
        ("rookery", RISKY, {**OURS, "currentModeId": "risk-based"}, EVERY, RISKY),
        ("rookery", ALL, {**OURS, "currentModeId": "always-approve"}, EVERY, ALL),
        ("gemini", RISKY, modes("default", "default", "yolo"), RISKY, RISKY),
        ("gemini", RISKY, modes("yolo", "default", "yolo"), RISKY, ALL),
        ("claude", ALL, modes("default", "default", "plan"), EVERY, EVERY),
        ("claude", EVERY, modes("plan", "default", "plan"), EVERY, policy_modes.OF_THE_AGENT),
    ],
)
def test_the_agents_own_mode_is_the_only_truth(
    agent: str, confirm: str | None, offered: Json | None, level: str, shown: str
) -> None:
    made = header(agent, confirm, offered)
    assert policy_modes.level(made, profile_of(agent, [])) == level
    assert made.confirm == shown


def test_an_agent_that_never_asks_is_shown_as_such() -> None:
    assert header("crow", None, None).never_asks is True
    assert header("player", None, None).never_asks is False


@pytest.mark.parametrize(
    ("agent", "confirm", "offered", "decides"),
    [
        ("claude", EVERY, modes("default", "default", "plan"), False),
        ("claude", RISKY, modes("auto", "default", "auto"), True),
        ("claude", ALL, modes("bypassPermissions", "default", "bypassPermissions"), True),
        ("claude", EVERY, modes("acceptEdits", "default", "acceptEdits"), True),  # none of ours
        ("claude", ALL, modes("default", "default"), False),  # it did not take it
        ("claude", ALL, None, True),  # it was not started yet
        ("codex", EVERY, modes("read-only", "read-only", "agent"), False),
        ("codex", EVERY, modes("agent", "read-only", "agent"), True),
        ("gemini", RISKY, modes("default", "default", "yolo"), False),  # the worker answers
        ("gemini", EVERY, modes("auto_edit", "default", "auto_edit"), True),
        ("qwen", EVERY, modes("auto-edit", "default", "auto-edit"), True),
        ("qwen", ALL, modes("yolo", "default", "yolo"), True),
        ("vibe", ALL, modes("ask", "ask"), False),
        ("openhands", ALL, modes("always-approve", "always-ask", "always-approve"), True),
        ("rookery", ALL, {**OURS, "currentModeId": "always-approve"}, False),  # judged here
        ("player", ALL, modes("yolo", "yolo"), False),
    ],
)
def test_an_agent_that_decides_by_itself_is_shown_as_such(
    agent: str, confirm: str, offered: Json | None, decides: bool
) -> None:
    """And nothing is claimed of what it does not ask."""
    made = header(agent, confirm, offered) if offered else unstarted(agent, confirm)
    assert made.decides is decides
    words = policy_modes.sentence(made)
    assert (f"{agent} decides on its own" in words.lower()) is decides
    if decides:
        assert "your rules apply only to what it asks" in words
        assert "undone" not in words


def unstarted(agent: str, confirm: str) -> Header:
    [event] = log(update("_session", id="s", cwd="/w", agent=agent, confirm=confirm))
    return EMPTY.with_(**advance(EMPTY, event))


def test_a_choice_says_what_it_means_for_this_agent() -> None:
    for agent in ("claude", "codex", "qwen", "openhands"):
        _, (_, _, risky), (_, _, all_) = policy_modes.choices_of(agent)
        assert risky == all_
        assert "decides on its own" in all_
    _, (_, _, risky), (_, _, all_) = policy_modes.choices_of("gemini")
    assert ("decides on its own" in risky, "decides on its own" in all_) == (False, True)
    assert policy_modes.choices_of("rookery") == list(policy_modes.CHOICES)
    assert all("never asks" in more for _, _, more in policy_modes.choices_of("crow"))


def test_the_shown_mode_follows_the_agents_update() -> None:
    made = header("rookery", RISKY, OURS)
    [event] = log(update("current_mode_update", currentModeId="always-approve"))
    assert advance(made, event)["confirm"] == ALL


WISH = messages.Wish("", [], "/w", [], [], None, False, {}, "1")


def opened(agent: str, chosen: Json, offered: Json | None) -> list[Any]:
    profile = profile_of(agent, [])
    wish = WISH._replace(name=agent, chosen=chosen, profile=profile)
    start = messages.Agent(phase="opening", method="session/new", capabilities={})
    result = {"sessionId": "x"} | ({"modes": offered} if offered else {})
    _, effects = machine.step(start, messages.Opened(result, None, 0), 0.0, wish, Policy())
    return effects


@pytest.mark.parametrize(
    ("agent", "chosen", "offered", "mode"),
    [
        ("rookery", {"confirm": RISKY}, OURS, "risk-based"),
        ("rookery", {"confirm": EVERY}, OURS, None),  # it is that already
        ("rookery", {"confirm": ALL, "mode": "risk-based"}, OURS, "risk-based"),  # a person's own
        ("codex", {"confirm": EVERY}, modes("agent", "agent", "read-only"), "read-only"),
        ("gemini", {"confirm": RISKY}, modes("yolo", "default", "yolo"), "default"),
        ("player", {"confirm": ALL}, modes("a", "a", "yolo"), None),
        ("codex", {}, modes("agent", "agent", "read-only"), None),  # of an earlier build
    ],
)
def test_every_opening_sets_the_agents_own_mode(
    agent: str, chosen: Json, offered: Json, mode: str | None
) -> None:
    calls = [each for each in opened(agent, chosen, offered) if isinstance(each, messages.Call)]
    assert [each.params.get("modeId") for each in calls] == ([mode] if mode else [])


def test_a_mode_that_the_agent_lacks_is_an_amber_notice() -> None:
    effects = opened("claude", {"confirm": ALL}, modes("default", "default"))
    drafts = [each.draft.update for each in effects if hasattr(each, "draft")]
    [notice] = [each for each in drafts if each["sessionUpdate"] == "_notice"]
    assert notice["level"] == "warn"
    assert "ALLOW_BYPASS=1" in notice["text"]


def test_a_refusal_is_an_amber_notice() -> None:
    setting = messages.Setting("mode", "bypassPermissions", "session/set_mode", {})
    wish = WISH._replace(name="claude", profile=profile_of("claude", []))
    agent = messages.Agent(phase="applying", settings=(setting,))
    _, effects = machine.step(agent, messages.Applied(None, {"message": "no"}), 0.0, wish, Policy())
    notice = effects[0].draft.update  # type: ignore[union-attr]
    assert notice["level"] == "warn"
    assert "no" in notice["text"]
    assert "ALLOW_BYPASS=1" in notice["text"]


@pytest.mark.parametrize(
    ("word", "value"),
    [("every", EVERY), ("Always-Ask", EVERY), ("risk-based", RISKY), ("yolo", ALL), ("x", None)],
)
def test_other_vendors_mode_names_are_understood(word: str, value: str | None) -> None:
    assert policy_modes.value_of(word) == value
    refusal = commands.check({"do": "set", "option": "confirm", "value": word}, 1000)
    assert (refusal is None) is (value is not None)


def test_a_choice_made_asleep_clears_the_pinned_mode() -> None:
    done = commands.offline({"do": "set", "option": "confirm", "value": "yolo"})
    assert done is not None
    made = EMPTY.with_(wanted={"mode": "plan", "model": "m"}, _confirm=[EVERY, "last"])
    [event] = log(done)
    after = advance(made, event)
    assert (after["wanted"], after["_confirm"]) == ({"model": "m"}, [ALL, ""])


def test_profiles_name_only_our_own_values() -> None:
    for agent in ("rookery", "claude", "codex", "gemini", "qwen", "vibe", "openhands"):
        profile = profile_of(agent, [])
        assert {ours for ours, _ in profile.confirms} <= set(policy_modes.VALUES)
        assert policy_modes.is_agents(profile, EVERY), agent
    assert Profile().confirms == ()
