"""What lies outside the session's directories, and what is private."""

from typing import Any

import pytest

from rookery.core.policy import modes, reach, rules

type Json = dict[str, Any]

LAY = reach.Lay(("/h",), ("/h/.rookery",), ("/tmp",), ("/read",))


def seen(kind: str, *paths: str, roots: tuple[str, ...] = ("/h/w", "/more")) -> rules.Call:
    about: Json = {"kind": kind, "locations": [{"path": path} for path in paths]}
    return reach.reached(rules.call_of("x", about, roots, "/h", LAY.free), LAY)


@pytest.mark.parametrize(
    ("kind", "path", "danger", "risky"),
    [
        ("edit", "/h/w/a", "", False),
        ("edit", "/more/a", "", False),
        ("edit", "/tmp/a", "", False),
        ("edit", "/h/w/../a", "writes outside", True),
        ("edit", "/tmpx/a", "writes outside", True),
        ("edit", "/read/a", "writes outside", True),
        ("delete", "/h/other", "writes outside", True),
        ("read", "/h/w/a", "", False),
        ("read", "/tmp/a", "", False),
        ("read", "/read/a", "", False),
        ("read", "/h/.agents/skills/a", "", False),
        ("read", "/h/.rookery/conversations/1/observations/a", "", False),
        ("read", "/h/other", "", True),
        ("search", "/", "", True),
        ("read", "/h/.ssh/id", "reads your keys", True),
        ("search", "/h/.aws", "reads your keys", True),
        ("fetch", "/h/.netrc", "reads your keys", True),
        ("other", "/h/.ssh/id", "reads your keys", True),
        ("edit", "/h/.ssh/id", "writes to your keys", True),
        ("read", "/h/.rookery/agent_settings.json", "reads Rookery's own files", True),
        ("read", "/h/.rookery/sessions/1/env.json", "reads Rookery's own files", True),
        ("edit", "/h/.rookery/config.toml", "Rookery's own files", True),
        ("edit", "/h/.rookery/conversations/1/a", "Rookery's own files", True),
    ],
)
def test_a_calls_reach_is_inside_outside_or_private(
    kind: str, path: str, danger: str, risky: bool
) -> None:
    found = seen(kind, path)
    assert danger in found.danger
    assert bool(found.danger) is bool(danger)
    assert modes.is_risky(found) is risky


def test_settings_are_guarded_in_sessions_that_contain_them() -> None:
    """A session in the home itself; one in a folder of Rookery's was put there on purpose."""
    assert "Rookery's own" in seen("edit", "/h/.rookery/config.toml", roots=("/h",)).danger
    own = ("/h/.rookery",)
    assert "Rookery's own" in seen("edit", "/h/.rookery/config.toml", roots=own).danger
    skills = ("/h/.rookery/skills",)
    assert not seen("edit", "/h/.rookery/skills/a", roots=skills).danger


def test_one_path_outside_is_enough() -> None:
    assert "outside" in seen("edit", "/h/w/a", "/srv/b").danger
    assert seen("read", "/h/w/a", "/srv/b").outside == "/srv/b"


def test_a_command_is_judged_by_its_line_alone() -> None:
    found = seen("execute", "/srv/b")
    assert (found.danger, found.outside) == ("", "")


def test_what_is_guarded_is_not_free() -> None:
    """A worktree's origin, wherever it lies; the session's own directory may lie in it."""
    lay = LAY._replace(guarded=("/tmp/origin",))

    def danger(kind: str, path: str, *roots: str) -> str:
        about: Json = {"kind": kind, "locations": [{"path": path}]}
        call = rules.call_of("x", about, roots, "/h", lay.free, guarded=lay.guarded)
        return reach.reached(call, lay).danger

    assert "writes outside" in danger("edit", "/tmp/origin/a", "/h/w")
    assert not danger("edit", "/tmp/other/a", "/h/w")
    assert not danger("edit", "/tmp/origin/tree/a", "/tmp/origin/tree")
    line: Json = {"kind": "execute", "rawInput": {"command": "echo x > /tmp/origin/a"}}
    found = rules.call_of("x", line, ("/h/w",), "/h", lay.free, guarded=lay.guarded)
    assert "writes outside" in found.danger
