"""Which environment a session has after a log-in, and what is said of it: names, never values."""

from rookery.core.settings.agent_tables import Extras
from rookery.core.settings.loosening import EXTRAS, Guarded, loosened, strictest
from rookery.core.turn.remedies import remedy_for
from rookery.core.vendors.environment import OVERRIDE, Change, change_json, change_of, renewed
from rookery.core.vendors.logins import methods, with_logins


def test_a_terminal_passes_its_variables_but_not_its_own_marks() -> None:
    kept = {"PATH": "/a", "OLD": "1", "TERM": "xterm", "SAME": "s", OVERRIDE: "1"}
    new, change = renewed(kept, {"PATH": "/b", "KEY": "k", "TERM": "dumb", "SAME": "s", "_": "x"})
    assert new == {"PATH": "/b", "KEY": "k", "TERM": "xterm", "SAME": "s", OVERRIDE: "1"}
    assert change == Change(("KEY",), ("PATH",), ("OLD",))
    assert change.describe() == "KEY is new, PATH has changed, OLD is gone"
    assert change_of(change_json(change)) == change
    assert renewed(kept, kept)[1] == Change()


def test_many_variables_are_counted_instead_of_named() -> None:
    change = Change(tuple(f"V{number:02}" for number in range(40)))
    assert change.describe().endswith("V11 is new, and 28 more")


def test_an_agents_own_words_about_its_login_are_shown() -> None:
    """As opencode, and the two ways of ACP, tell them."""
    meta = {"terminal-auth": {"command": "claude", "args": ["/login"], "env": {"A": "b c"}}}
    answer = {
        "authMethods": [
            {"id": "o", "name": "Login", "description": "Run `opencode auth login`"},
            {"id": "t", "name": "Terminal", "type": "terminal", "args": ["--setup"]},
            {"id": "m", "name": "Claude", "_meta": meta},
            {"id": "e", "name": "Key", "type": "env_var", "vars": [{"name": "A_KEY"}]},
            "odd",
        ]
    }
    ways = methods(answer, ["vendor acp", "--x"])
    assert ways == (
        "Login: Run `opencode auth login`",
        "Terminal: run 'vendor acp' --x --setup",
        "Claude: run A='b c' claude /login",
        "Key: export A_KEY",
    )
    error = with_logins({"code": -32000, "message": "m"}, ways)
    remedy = remedy_for("failed", error, "crow")
    assert all(f"- {way}" in remedy for way in ways)
    assert with_logins({"code": -32603, "message": "m"}, ways) == {"code": -32603, "message": "m"}
    assert methods(None, []) == methods({"authMethods": 7}, []) == ()


def test_an_agents_variables_wait_for_the_user_and_show_no_values() -> None:
    before = Guarded(programs={f"agents.a{EXTRAS}": Extras({"KEY": "old"}, None).plain()})
    after = Guarded(programs={f"agents.a{EXTRAS}": Extras({"KEY": "s3cret"}, True).plain()})
    [sentence] = loosened(before, after)
    assert sentence == "agents.a.env changes: KEY. agents.a.mcp changes from nothing to true."
    assert strictest(before, after).programs == before.programs
    [gone] = loosened(before, Guarded())
    assert gone == "agents.a.env changes: KEY."
