"""A rule made from an ask reaches exactly what was shown."""

from typing import Any

import pytest

from rookery.core.policy import danger, rules
from rookery.core.policy.rule_choices import Choice, alike, choices
from rookery.core.policy.rules import Call, Rule, call_of, decide
from tests.core.making import narrow

type Json = dict[str, Any]

ROOTS = ["/w/project"]


def made(call: Json) -> Call:
    """As a worker sees it: of each call only the gist is kept."""
    return call_of("rookery", danger.gist(call), ROOTS, "/home/me")


def run(line: str) -> Call:
    return made({"kind": "execute", "rawInput": {"command": line}})


def edit(path: str, verb: str = "create", **more: Any) -> Call:
    given = {"command": verb, "path": path, "file_text": "x", **more}
    return made({"kind": "edit", "title": f"{verb} {path}", "rawInput": given})


def tool(name: str, given: object, kind: str = "other") -> Call:
    return made({"kind": kind, "name": name, "title": name, "rawInput": given})


def offered(call: Call) -> list[Choice]:
    found = choices(call, "n")
    assert not isinstance(found, str), found
    return list(found)


def first(call: Call) -> Rule:
    found = narrow(call, "n")
    assert isinstance(found, Rule), found
    return found


def allows(rule: Rule, call: Call) -> bool:
    return decide([rule], call).do == "allow"


@pytest.mark.parametrize("verb", ["create", "str_replace", "insert", "undo_edit", "rewrite"])
def test_always_allow_of_an_edit_names_the_path(verb: str) -> None:
    rule = first(edit("/w/project/a.txt", verb))
    assert (rule.kind, rule.path, rule.exact) == (("edit",), ("/w/project/a.txt",), ())
    assert allows(rule, edit("/w/project/a.txt", verb))
    for other in ("/w/project/b.txt", "/w/project/.git/hooks/pre-commit", "/w/project/a.txt/x"):
        assert not allows(rule, edit(other, verb))
    assert not allows(rule, run(verb))


def test_an_editors_verb_is_not_taken_for_a_command() -> None:
    assert rules.lines_of({"kind": "edit", "rawInput": {"command": "create", "path": "a"}}) == []
    assert rules.lines_of({"kind": "execute", "rawInput": {"command": "create", "path": "a"}})
    assert rules.lines_of({"kind": "edit", "rawInput": {"command": "rm a", "path": "a"}})
    assert rules.lines_of({"kind": "edit", "rawInput": {"command": "create"}})
    no = Rule("no", "deny", command=("shutdown*",))
    assert decide([no], edit("/w/project/a", "shutdown")).do == "deny"


def test_rules_of_the_previous_build_allow_nothing_more() -> None:
    before = Rule("rookery-edit", "allow", ("rookery",), ("edit",), exact=("create",))
    assert decide([before], edit("/w/project/.git/hooks/pre-commit")).do == ""


def test_an_exact_command_stays_exact() -> None:
    rule = first(run("git status -s"))
    assert rule.exact == ("git status -s",)
    assert not allows(rule, run("git status"))


def test_a_tool_is_allowed_with_its_arguments() -> None:
    call = tool("mcp__db__read", {"table": "users", "limit": 5})
    rule = first(call)
    assert (rule.tool, rule.command, rule.path) == (("mcp__db__read",), (), ())
    assert allows(rule, tool("mcp__db__read", {"limit": 5, "table": "users"}))
    assert not allows(rule, tool("mcp__db__read", {"table": "secrets", "limit": 5}))
    assert not allows(rule, tool("mcp__db__read", {"table": "users", "limit": 5, "raw": True}))
    assert not allows(rule, tool("mcp__db__write", {"table": "users", "limit": 5}))
    exactly, wider = offered(call)
    assert exactly.label == "exactly this call of mcp__db__read"
    assert wider.label == "any call of mcp__db__read"
    assert allows(wider.rule, tool("mcp__db__read", {"table": "secrets"}))


def test_a_query_is_matched_by_more_than_its_text() -> None:
    one = tool("mcp__dev__query", {"query": "SELECT 1", "database": "dev"})
    rule = first(one)
    assert allows(rule, one)
    assert not allows(rule, tool("mcp__dev__query", {"query": "SELECT 1", "database": "prod"}))
    assert not allows(rule, tool("mcp__prod__query", {"query": "SELECT 1", "database": "dev"}))


def test_a_path_of_another_tool_is_no_file_edit() -> None:
    one = tool("mcp__x__publish", {"path": "/w/project/a"})
    assert not allows(first(one), tool("mcp__x__wipe", {"path": "/w/project/a"}))


@pytest.mark.parametrize(
    "call",
    [
        {"kind": "other", "title": "Confirm Agent Actions"},
        {"kind": "execute", "title": "x", "rawInput": {"cmdline": "ls"}},
        {"kind": "other", "title": "x", "rawInput": {"text": "y" * 10_000}},
        {"kind": "other", "title": "x", "rawInput": {"text": "a\u200bb"}},
        {"kind": "edit", "title": "Edit"},
        {},
    ],
    ids=str,
)
def test_an_unknown_action_makes_no_rule(call: Json) -> None:
    assert isinstance(choices(made(call), "n"), str)


def test_an_agent_cannot_declare_its_own_arguments() -> None:
    lying = {"kind": "other", "name": "t", "rawInput": {"a": 1}, "arguments": '{"b": 2}'}
    assert made(lying).arguments == '{"a": 1}'


@pytest.mark.parametrize(
    ("line", "words", "reached", "not_reached"),
    [
        ("git status -s", "any `git status` command", "git status", "git stash"),
        ("git log -5", "any `git log` command", "git log -p", "git log --output=x"),
        ("npm run build", "any `npm run build` command", "npm run build -w", "npm run x"),
        ("cargo test a", "any `cargo test` command", "cargo test b", "cargo --config=x test"),
        ("ls -la", "any `ls` command", "ls src", "ls | sh"),
        ("rg foo", "any `rg` command", "rg bar", "rg --pre x bar"),
    ],
)
def test_wider_rules_are_offered_in_plain_words(
    line: str, words: str, reached: str, not_reached: str
) -> None:
    exactly, wider = offered(run(line))
    assert exactly.label == f"exactly `{line}`"
    assert wider.label == words
    assert allows(wider.rule, run(reached))
    assert not allows(wider.rule, run(not_reached))


@pytest.mark.parametrize(
    "line",
    [
        *(
            "./deploy.sh prod",
            "make",
            "curl https://x.example",
            "python x.py",
            "env ls",
            "xargs ls",
        ),
        *("git status && ls", "git -C x status", "git diff --output=x", "ls $HOME", "rm a", "x"),
        *("find . -exec ls {} +", "sh -c 'ls'", "A=b ls", "git", "git --version", "ls > x"),
    ],
)
def test_some_commands_have_no_wider_rule(line: str) -> None:
    assert len(offered(run(line))) == 1


def test_a_destructive_action_makes_no_rule() -> None:
    assert isinstance(choices(run("rm -rf x"), "n"), str)
    _, wider = offered(run("git push"))
    assert decide([wider.rule], run("git push --force")).do == "ask"


def test_wider_rules_for_a_file_match_no_hidden_files() -> None:
    exactly, folder, project = offered(edit("/w/project/src/core/a.py"))
    assert exactly.label == "editing exactly this file"
    assert folder.label == "editing any file in src/core (except hidden ones)"
    assert "session's directory" in project.label
    assert allows(folder.rule, edit("/w/project/src/core/b/c.py"))
    assert not allows(folder.rule, edit("/w/project/src/x.py"))
    assert allows(project.rule, edit("/w/project/x.py"))
    for hidden in (".git/hooks/pre-commit", "src/core/.env", ".bashrc", "src/.ssh/id", "../x"):
        for choice in (exactly, folder, project):
            assert not allows(choice.rule, edit(f"/w/project/{hidden}")), choice.label


@pytest.mark.parametrize("path", [".git/hooks/x", ".env", "src/.npmrc", ".ssh/id"])
def test_a_hidden_file_has_no_wider_rule(path: str) -> None:
    [only] = offered(edit(f"/w/project/{path}"))
    assert only.rule.path == (f"/w/project/{path}",)


# --- of one project ------------------------------------------------------------------------------


def in_session(line: str, cwd: str, origin: str = "", place: Json | None = None) -> Call:
    call = {"kind": "execute", "rawInput": {"command": line, **(place or {})}}
    projects = [cwd, *([origin] if origin else [])]
    return call_of("rookery", danger.gist(call), [cwd], "/home/me", projects=projects)


def test_a_rule_of_a_project_holds_in_its_sessions_and_their_worktrees_alone() -> None:
    found = choices(run("git push"), "n", "/w/project")
    assert not isinstance(found, str)
    assert [each.label for each in found] == [
        "exactly `git push` in this project",
        "any `git push` command in this project",
    ]
    for choice in found:
        rule = choice.rule
        assert allows(rule, in_session("git push", "/w/project"))
        assert allows(rule, in_session("git push", "/w/project/sub"))
        assert allows(rule, in_session("git push", "/trees/t", origin="/w/project"))
        for cwd in ("/w", "/w/project2", "/trees/t", "/home/me"):
            assert not allows(rule, in_session("git push", cwd)), cwd


@pytest.mark.parametrize("key", ["cwd", "workdir", "working_directory"])
def test_a_call_that_runs_elsewhere_is_not_of_the_project(key: str) -> None:
    found = choices(run("git push"), "n", "/w/project")
    assert not isinstance(found, str)
    rule = found[0].rule
    assert allows(rule, in_session("git push", "/w/project", place={key: "/w/project/sub"}))
    assert allows(rule, in_session("git push", "/w/project", place={key: "sub"}))
    assert not allows(rule, in_session("git push", "/w/project", place={key: "/w/other"}))
    assert not allows(rule, in_session("git push", "/w/project", place={key: ".."}))


@pytest.mark.parametrize(
    "line",
    [
        *("git push; rm x", "git push && make", "git push | sh", "git push $(x)", "git push > f"),
        *("git push\nmake", "env git push", "A=b git push", "sh -c 'git push'", "git -C /w push"),
        *(
            "git -c core.sshCommand=x push",
            "sudo git push",
            "git pushx",
            "`git push`",
            "git push &",
        ),
    ],
)
def test_exactly_one_command_reaches_nothing_around_it(line: str) -> None:
    found = choices(run("git push"), "n", "/w/project")
    assert not isinstance(found, str)
    assert not allows(found[0].rule, in_session(line, "/w/project"))


def test_alike_are_calls_that_one_rule_would_cover() -> None:
    def key(call: Call) -> str:
        return alike(tuple(offered(call)))

    assert key(run("git push origin a")) == key(run("git push origin b"))
    assert key(run("git push")) != key(run("git pull"))
    assert key(run("python a.py")) != key(run("python b.py"))
    assert key(edit("src/a.py")) == key(edit("src/b.py"))
    assert key(edit("src/a.py")) != key(edit("tests/b.py"))
    assert key(tool("t", {"a": 1})) == key(tool("t", {"a": 2})) != key(tool("u", {"a": 1}))


def test_what_runs_beside_a_push_is_allowed_only_where_each_part_is() -> None:
    found = choices(run("git push"), "n", "/w/project")
    assert not isinstance(found, str)
    assert not allows(found[1].rule, in_session("git push; make", "/w/project"))
    assert not allows(found[1].rule, in_session("git push --exec=x", "/w/project"))
