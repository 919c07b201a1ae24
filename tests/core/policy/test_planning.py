"""In plan mode nothing is changed, whatever a model says of its action, and what only looks is not
asked about."""

from typing import Any

import pytest

from rookery.core.command_line.read_only import change_in
from rookery.core.policy import go_asks, modes, planning, rules, unattended
from rookery.core.policy.auto_answer import judge
from rookery.core.policy.rule_choices import choices
from rookery.core.policy.rules import Rule
from rookery.core.vendors.profiles import profile_of

type Json = dict[str, Any]

OURS = profile_of("rookery", [])
LOOKS = (
    *("ls -la", "cat a | grep x | wc -l", "cd src && ls", "ls 2>/dev/null", "git status"),
    *("git log --oneline -5", "git diff HEAD~1 --stat", "git branch -a", "git config --get a.b"),
    *("git stash list", "git show HEAD@{1}", "find . -name x", "find . ! -name x", "rg foo src"),
    *(
        "sed -n 1,20p f",
        "sed -n '/a/,/b/p' f",
        "awk '{print $1}' f",
        "sort ./*",
        "python --version",
    ),
    *("/usr/bin/ls", "env", "command -v ls", "uniq a", "date +%s", "cat a\nhead b"),
    *("date -Iseconds", "date -d yesterday", "git diff HEAD@{1}..HEAD@{0}", "rg 'x{1,2}' src"),
    *("awk '{print $1, $2}' f", "printf '%s' x", "test -f x"),
)
CHANGES = (
    *("rm x", "ls > x", "cat a; rm b", "cat a\nrm b", "cat a | tee b", "cat a | sh", "touch a"),
    *("cat $(rm x)", "cat `rm x`", "ls $X", "X=1 ls", "echo !rm", "sh -c ls", "eval ls", ". x"),
    *("./ls", "/tmp/ls", "alias ls=rm", "ls() { rm x; }", "for x in a; do rm x; done"),
    *("git branch new", "git branch -D x", "git stash", "git stash pop", "git config a.b c"),
    *("git -c core.pager=x log", "git log --output=x", "git log --outp=x", "git grep -nO x"),
    *("git stash show -p --output=x", "git tag v1", "git reflog expire", "git remote add a b"),
    *("sort -o x y", "sort -no x", "sort --comp=rm y", "sort {-o,x}", "sort *", "uniq a b"),
    *("find . -delete", "find . -exec rm {} +", "find . -fprint x", "fd -x rm", "rg --pre=rm x"),
    *("sed -i s/a/b/ f", "sed -n 'w x' f", "sed 1e", "awk '{print > \"x\"}'", "awk 'system(1)'"),
    *("env rm x", "command rm x", "xargs rm", "timeout 5 rm x", "python -c 1", "printf -v PATH x"),
    *(
        "date -s 1",
        "date --se=1",
        "date 01010000",
        "hostname x",
        "tree -o x",
        "ls 'a",
        "a" * 100_000,
    ),
    *("test -v 'a[$(touch x)]'", "printf '%5n' PATH", "date 010100002026.30", "date -Id 01010000"),
    *("uniq - b", "uniq -- -a b", 'sort {"-o",x} y', "sort {-o,{x}} y", "cat {/etc,x}/passwd"),
    *("/usr/bin/../../tmp/ls", "/usr/bin//tmp/ls", "cd", "cd -", "cd && cat .netrc"),
    *("yarn --version", "go version", "cargo --version", "pytest --version"),
)


@pytest.mark.parametrize("line", LOOKS)
def test_command_lines_that_only_read(line: str) -> None:
    assert change_in(line) == ""


@pytest.mark.parametrize("line", CHANGES)
def test_command_lines_that_may_change_something(line: str) -> None:
    assert change_in(line)


def call(line: str = "", kind: str = "execute", name: str = "", path: str = "") -> rules.Call:
    given = {"command": line} if line else {"path": path} if path else {}
    about: Json = {"kind": kind, "name": name, "rawInput": given}
    return rules.call_of("rookery", about, ["/w"], "/h")


ANY = Rule("any", "allow", kind=("execute", "edit", "other"))
NO = Rule("no", "deny", command=("ls*",), reason="why")
SERVER = call(kind="other", name="mcp__docs__find")


@pytest.mark.parametrize(
    ("known", "seen", "looks", "outcome", "by"),
    [
        ([], call("ls src"), True, "allow", "confirm:plan"),
        ([], call("ls /etc"), True, "ask", "confirm:plan"),
        ([], call("cat ../x"), True, "ask", "confirm:plan"),
        ([], call("grep -f/etc/passwd x"), True, "ask", "confirm:plan"),
        ([], call("grep -r x .*"), True, "ask", "confirm:plan"),
        ([], call("cd src; ls ./.*/x"), True, "ask", "confirm:plan"),
        ([], call("touch x"), True, "deny", "confirm:plan"),
        ([ANY], call("touch x"), True, "deny", "confirm:plan"),
        ([ANY], call(kind="edit", path="/w/a"), True, "deny", "confirm:plan"),
        ([], call(kind="read", path="/w/a"), True, "allow", "confirm:plan"),
        ([], call(kind="read", path="/w/a"), False, "deny", "confirm:plan"),
        ([], call("ls"), False, "deny", "confirm:plan"),
        ([NO], call("ls"), True, "deny", "rule:no"),
        ([], call(kind="other", name="task"), True, "allow", "confirm:plan"),
        ([], SERVER, False, "deny", "confirm:plan"),
        ([ANY], SERVER, False, "allow", "rule:any"),
    ],
)
def test_plan_mode_allows_reads_and_refuses_changes(
    known: list[Rule], seen: rules.Call, looks: bool, outcome: str, by: str
) -> None:
    """No rule of the user's lets anything change, but for a server's tool, which only the user can
    know; a kind that a server claims counts for nothing."""
    judged = judge(known, seen, planning.MODE, guard=True, risk="LOW", looks=looks, profile=OURS)
    assert (judged.outcome, judged.by) == (outcome, by)


def test_every_face_says_that_it_only_plans() -> None:
    header = modes.beginning("rookery", "all").with_(wanted={"mode": "plan"})
    header = header.with_(**modes.shown(header))
    assert header.confirm == planning.MODE
    assert modes.judged_by(header) == planning.MODE
    assert modes.brief(header) == "plan"
    assert "changes nothing until you" in modes.sentence(header)


# --- who says go ---------------------------------------------------------------------------------

EVERYTHING = Rule("all", "allow", agent=("*",), tool=("*",), destructive=True)
BY_KIND = Rule("kind", "allow", kind=("switch_mode", "other"), destructive=True)
BY_NAME = Rule("name", "allow", tool=("exit_plan_mode", "ExitPlanMode"))
ASKS = Rule("asks", "ask", tool=("Exit*",))
DENIES = Rule("never", "deny", tool=("*xit*",))
OUR_GO = call(kind="switch_mode", name=go_asks.TOOL)
THEIR_GO = call(kind="switch_mode", name=go_asks.THEIR_TOOL)._replace(agent="claude")
UNNAMED = call(kind="switch_mode")._replace(agent="gemini")
YES = unattended.Order("all", destructive=True)


@pytest.mark.parametrize(
    ("seen", "known", "said", "unattended_said", "planned_said"),
    [
        (OUR_GO, [], "", "deny", "deny"),
        (OUR_GO, [EVERYTHING], "", "deny", "deny"),
        (OUR_GO, [BY_NAME, BY_KIND], "", "deny", "deny"),
        (OUR_GO, [DENIES, BY_NAME], "deny", "deny", "deny"),
        (THEIR_GO, [], "", "allow", "deny"),
        (THEIR_GO, [EVERYTHING], "", "allow", "deny"),
        (THEIR_GO, [BY_NAME], "allow", "allow", "allow"),
        (THEIR_GO, [ASKS, BY_NAME], "", "deny", "deny"),
        (UNNAMED, [EVERYTHING], "", "allow", "deny"),
        (UNNAMED, [BY_KIND], "allow", "allow", "allow"),
    ],
)
def test_only_the_user_can_say_go(
    seen: rules.Call, known: list[Rule], said: str, unattended_said: str, planned_said: str
) -> None:
    """ "" : they are asked. To our own agent no rule, mode or order says it; to another's plan only
    a rule that speaks of it, and an order for everything where the user did not choose plan mode.
    No rule is made of such an ask."""
    verdict = rules.decide(known, seen)
    for confirm in (modes.EVERY, modes.RISKY, modes.ALL):
        ruling = modes.rule_on(seen, verdict, confirm, guard=False)
        assert (ruling.outcome if ruling else "") == said
        for plans, expected in ((False, unattended_said), (True, planned_said)):
            answer = unattended.settled(YES, ruling, seen, verdict, plans=plans)
            assert answer is not None
            assert answer.outcome == expected
    assert choices(seen, "new") == go_asks.ONLY_YOU
