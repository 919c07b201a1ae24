"""What a change of the settings loosens, and what holds until it is confirmed."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.policy import rules
from rookery.core.policy.rules import Rule, decide
from rookery.core.settings.loosening import Guarded, loosened, of_json, strictest, to_json

GIT = Rule("git", "allow", command=("git *",))
STATUS = Rule("status", "allow", command=("git status*",))
NO_PUSH = Rule("no-push", "deny", command=("git push*",))
ASK_NPM = Rule("npm", "ask", command=("npm *",))
RM = Rule("rm", "allow", command=("rm *",), destructive=True)
CLAUDE_PUSH = Rule("claude", "allow", agent=("claude",), command=("git push*",))


def of_rules(*given: Rule, **choices: bool) -> Guarded:
    named = {key.replace("__", "."): value for key, value in choices.items()}
    return Guarded(rules=given, choices=named)


STRICTER = [
    ((), (NO_PUSH,)),
    ((GIT,), ()),
    ((GIT,), (GIT, NO_PUSH)),
    ((GIT,), (NO_PUSH, GIT)),
    ((GIT,), (ASK_NPM, GIT)),
    ((GIT, NO_PUSH), (GIT, NO_PUSH, ASK_NPM)),
    ((GIT, STATUS), (STATUS,)),
    ((GIT,), (GIT._replace(name="other"),)),
    ((GIT,), (GIT._replace(left_out=True),)),
]

LOOSER = [
    ((), (GIT,)),
    ((NO_PUSH,), ()),
    ((ASK_NPM,), ()),
    ((NO_PUSH,), (NO_PUSH._replace(command=("git push --force*",)),)),
    ((STATUS,), (STATUS._replace(command=("git *",)),)),
    ((RM._replace(destructive=False),), (RM,)),
    ((ASK_NPM, GIT), (GIT, ASK_NPM)),
    ((NO_PUSH, CLAUDE_PUSH), (CLAUDE_PUSH, NO_PUSH)),
    ((NO_PUSH,), (ASK_NPM, NO_PUSH)),
    ((GIT, CLAUDE_PUSH, NO_PUSH), (CLAUDE_PUSH, NO_PUSH)),
    ((RM._replace(destructive=False), RM), (RM,)),
    ((GIT, Rule("any", "ask", agent=("*",)), NO_PUSH), (Rule("any", "ask", agent=("*",)), NO_PUSH)),
    ((GIT._replace(left_out=True),), (GIT,)),
]


@pytest.mark.parametrize(("before", "after"), STRICTER)
def test_stricter_rules_hold_at_once(before: Any, after: Any) -> None:
    assert loosened(of_rules(*before), of_rules(*after)) == []
    assert strictest(of_rules(*before), of_rules(*after)).rules == after


@pytest.mark.parametrize(("before", "after"), LOOSER)
def test_changes_that_are_not_provably_stricter_wait(before: Any, after: Any) -> None:
    [words, *_] = loosened(of_rules(*before), of_rules(*after))
    assert words.endswith(".")
    assert strictest(of_rules(*before), of_rules(*after)).rules != after


def test_a_denial_that_comes_with_a_loosening_holds_at_once() -> None:
    found = strictest(of_rules(GIT), of_rules(GIT, RM, NO_PUSH))
    assert found.rules == (NO_PUSH, GIT)


def test_a_permission_removed_with_a_loosening_is_gone_at_once() -> None:
    assert strictest(of_rules(GIT, STATUS), of_rules(STATUS, ASK_NPM, RM)).rules[-1] == STATUS
    assert GIT not in strictest(of_rules(GIT, STATUS), of_rules(STATUS, RM)).rules


# --- any rules, any call ------------------------------------------------------------------------

WORDS = ("git *", "git push*", "git status", "rm *", "*")
LINES = ("git push", "git status", "rm -rf x", "npm test", "git push; rm -rf x", "ls")
RANK = {"allow": 0, "": 1, "ask": 2, "deny": 3}


@st.composite
def some_rule(draw: st.DrawFn) -> Rule:
    do = draw(st.sampled_from(rules.DOES))
    agent = draw(st.sampled_from([(), ("claude",), ("*",)]))
    command = draw(st.sampled_from([(), *((word,) for word in WORDS)]))
    grounds = {"agent": agent, "command": command} if agent or command else {"agent": ("*",)}
    return Rule(
        draw(st.sampled_from(string.ascii_letters)),
        do,
        **grounds,
        destructive=draw(st.booleans()) and do == "allow",
    )


def rank(known: tuple[Rule, ...], call: rules.Call, *, guard: bool) -> int:
    """A person is asked about what cannot be undone where no rule says anything, too: `guard`."""
    do = decide(known, call).do
    return RANK["ask"] if guard and call.danger and not do else RANK[do]


SOME = st.lists(some_rule(), max_size=5).map(tuple)


@given(SOME, SOME, st.sampled_from(LINES), st.sampled_from(["claude", "codex"]), st.booleans())
def test_no_call_is_answered_more_loosely_than_before(
    before: tuple[Rule, ...], after: tuple[Rule, ...], line: str, agent: str, guard: bool
) -> None:
    given_call = {"kind": "execute", "rawInput": {"command": line}}
    call = rules.call_of(agent, given_call, ["/w"], "/h")
    old = of_rules(*before, worker__confirm_destructive=guard)
    new = of_rules(*after, worker__confirm_destructive=guard)
    was = rank(before, call, guard=guard)
    assert rank(strictest(old, new).rules, call, guard=guard) >= was
    if not loosened(old, new):
        assert rank(after, call, guard=guard) >= was


# --- single settings, programs, servers, hooks --------------------------------------------------


@pytest.mark.parametrize(
    ("key", "strict", "loose"),
    [
        ("session.approve_all", False, True),
        ("worker.confirm_destructive", True, False),
        ("agents.claude.confined", True, False),
        ("session.confirm", "every", "risky"),
        ("session.confirm", "risky", "all"),
    ],
)
def test_a_setting_is_looser_in_one_direction_only(key: str, strict: object, loose: object) -> None:
    tight, open_ = Guarded(choices={key: strict}), Guarded(choices={key: loose})
    assert loosened(open_, tight) == []
    [words] = loosened(tight, open_)
    assert words.startswith(f"{key} changes from ")
    assert strictest(tight, open_) == tight
    assert strictest(open_, tight) == tight
    assert loosened(tight, tight) == loosened(open_, open_) == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({}, {"agents.mine.command": ["sh"]}, "agents.mine.command is new: sh"),
        ({"agents.claude.command": ["jail", "claude"]}, {}, "agents.claude.command was removed"),
        ({"node_path": ""}, {"node_path": "/evil"}, "node_path is new: /evil"),
        ({"critic.command": "pytest"}, {"critic.command": "sh x"}, "from pytest to sh x"),
        ({"critic.command": "pytest"}, {"critic.command": ""}, ""),
        ({}, {"node_path": ""}, ""),
    ],
)
def test_another_program_waits_for_confirmation(before: Any, after: Any, words: str) -> None:
    found = loosened(Guarded(programs=before), Guarded(programs=after))
    assert words in " ".join(found)
    assert bool(found) == bool(words)
    held = strictest(Guarded(programs=before), Guarded(programs=after)).programs
    assert held == (before if words else after)


def test_servers_and_hooks_wait_for_confirmation() -> None:
    files, evil = {"command": "npx", "args": ["files"]}, {"command": "evil"}
    old = Guarded(servers={"files": files, "more": files})
    new = Guarded(servers={"files": evil, "other": evil, "off": {**evil, "enabled": False}})
    assert loosened(old, new) == [
        "The MCP server files changes and runs evil; `rookery mcp get files` shows it.",
        "The MCP server other is new and runs evil; `rookery mcp get other` shows it.",
    ]
    assert strictest(old, new).servers == {"files": files, "off": {**evil, "enabled": False}}
    hooked = Guarded(hooks={"stop": [{"hooks": [{"command": "x"}]}]})
    assert len(loosened(Guarded(), hooked)) == len(loosened(hooked, Guarded())) == 1
    assert strictest(hooked, Guarded()) == hooked


@given(SOME)
def test_the_stored_record_is_read_back(known: tuple[Rule, ...]) -> None:
    guarded = Guarded(known, {"a": True}, {"b": ["c"]}, {"d": {"command": "e"}}, {"stop": []})
    assert of_json(to_json(guarded)) == guarded


@pytest.mark.parametrize("value", [None, {}, {"rules": 1}, {"rules": [{"name": "x"}]}, []])
def test_an_invalid_record_counts_as_none(value: object) -> None:
    assert of_json(value) is None
