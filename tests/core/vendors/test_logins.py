"""Login methods as no agent should list them."""

from typing import Any

import pytest

from rookery.core.vendors import logins
from rookery.core.vendors.logins import Method

ARGV = ["agent"]


def listed(*methods: object) -> list[Method]:
    return logins.listed({"authMethods": list(methods)}, ARGV)


def terminal(*args: str, **env: Any) -> dict[str, Any]:
    return {"id": "tty", "type": "terminal", "args": list(args), "env": env}


@pytest.mark.parametrize("word", ["a\0b", "a\nb", "\x1b[2J", "\u202emoc", "\ud800"], ids=ascii)
def test_a_program_that_cannot_be_started_or_shown_is_not_offered(word: str) -> None:
    meta = {"terminal-auth": {"command": "agent", "args": [word]}}
    assert listed(terminal(word), {"id": "meta", "_meta": meta}) == []


@pytest.mark.parametrize("name", ["", "A=B", "A; echo $B #", "1A", "\u0410", "A\0"], ids=ascii)
def test_only_what_a_shell_can_export_is_given_to_it(name: str) -> None:
    (method,) = listed(terminal("login", **{name: "x", "KEPT": "1", "NUMBER": 5, "NUL": "a\0"}))
    assert method.environment == (("KEPT", "1"),)
    assert logins.command_line(method) == "KEPT=1 agent login"
    variables = {"id": "v", "type": "env_var", "vars": [{"name": name}, {"name": "KEY"}]}
    (method,) = listed(variables)
    assert method.variables == ("KEY",)


def test_what_is_no_method_is_passed_over() -> None:
    assert logins.listed({"authMethods": "all"}, ARGV) == []
    assert [each.id for each in listed(5, None, {"id": 7}, {"id": "a"})] == ["a"]
