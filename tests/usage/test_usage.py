"""Tokens, cost and turns, counted once, whatever the agents and the processes do."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from rookery import usage
from rookery.core.json.events import Draft, Event, Json
from rookery.home import paths
from rookery.log.store import Writer
from rookery.usage import Filters, collect, grouped, total
from rookery.usage.meter import STRETCH, read
from tests.cli.driving import made, rookery
from tests.export.sessions import BEGAN, home_of, prompt, session, turn

HOUR = 3_600_000


def agent(state: str, **more: Any) -> Json:
    return {"sessionUpdate": "_agent", "state": state, **more}


def started(name: str, talk: str, model: str = "") -> list[Json]:
    models = {"currentModelId": model, "availableModels": [{"modelId": model, "name": model}]}
    offers = {"models": models} if model else {}
    argv = {"claude": ["claude-agent-acp"], "codex": ["codex-acp"]}.get(name, [name])
    return [
        agent("starting", name=name, argv=argv),
        agent("ready", name=name, sessionId=talk, info={"name": name}, **offers),
    ]


def cost(amount: float, **more: Any) -> Json:
    money = {"amount": amount, "currency": "USD"}
    return {"sessionUpdate": "usage_update", "used": 120, "size": 1000, "cost": money, **more}


def ended(input: int = 0, output: int = 0, **more: Any) -> Json:
    usage: Json = {"inputTokens": input, "outputTokens": output}
    return turn("idle", reason="end_turn", usage={**usage, **more})


def counted(*updates: Json, at: int = BEGAN) -> usage.Group:
    events = [Event(n, at + n * 1000, None, None, update) for n, update in enumerate(updates, 1)]
    return total(read("s", {}, events)[1])


# --- how agents report -------------------------------------------------------------------------


def test_tokens_per_turn_and_a_cumulative_cost_are_counted() -> None:
    """As claude and opencode report."""
    found = counted(
        session(),
        *started("claude", "t1", "opus"),
        prompt("a"),
        cost(0.0016),
        ended(100, 20, cachedReadTokens=7, cachedWriteTokens=3),
        cost(0.0030),
        cost(0.0048),
        ended(200, 40, thoughtTokens=5),
    )
    assert found[1:6] == (2, 300, 60, 10, 5)
    assert dict(found.cost) == pytest.approx({"USD": 0.0048})


def test_geminis_tokens_beside_the_answer_are_counted() -> None:
    quota = {"token_count": {"input_tokens": 100, "output_tokens": 20}}
    quota |= {"model_usage": [{"model": "gemini-3", "token_count": {}}]}
    events = [session(agent="gemini"), turn("idle", reason="end_turn", _meta={"quota": quota})]
    found = counted(*events)
    assert found[1:4] == (1, 100, 20)


def test_a_turn_without_usage_counts_as_a_turn() -> None:
    """As codex ends one that was cancelled."""
    found = counted(session(), turn("idle", reason="cancelled", usage=None, _meta={"quota": None}))
    assert found[1:] == (1, 0, 0, 0, 0, ())


@pytest.mark.parametrize("bad", [-1, "7", True, None, float("inf"), 10**400, {}, [1]])
def test_invalid_numbers_are_ignored(bad: Any) -> None:
    found = counted(session(), cost(bad), ended(bad, bad), cost(0.5))
    assert found[1:4] == (1, 0, 0)
    assert dict(found.cost) == {"USD": 0.5}


# --- counted once ------------------------------------------------------------------------------


def test_a_reload_that_keeps_counting_counts_nothing_twice() -> None:
    """An agent that keeps its cost with the conversation."""
    found = counted(
        session(agent="opencode"),
        *started("opencode", "t1"),
        cost(0.50),
        *started("opencode", "t1"),
        cost(0.50),
        cost(0.75),
    )
    assert dict(found.cost) == pytest.approx({"USD": 0.75})


def test_a_reload_that_starts_at_zero_loses_nothing() -> None:
    """As claude does, also where the next turn costs more than all before."""
    found = counted(
        session(), *started("claude", "t1"), cost(0.50), *started("claude", "t1"), cost(0.60)
    )
    assert dict(found.cost) == pytest.approx({"USD": 1.10})


def test_a_falling_count_starts_a_new_one() -> None:
    found = counted(session(agent="x"), *started("x", "t1"), cost(0.5), cost(0.1), cost(0.2))
    assert dict(found.cost) == pytest.approx({"USD": 0.7})


def test_a_clear_and_a_switch_start_new_counts() -> None:
    clear = {"sessionUpdate": "_context", "state": "cleared", "how": "new", "sessionId": "t2"}
    switched = agent("switched", name="codex", **{"from": "opencode", "to": "codex"})
    back = agent("switched", name="opencode", **{"from": "codex", "to": "opencode"})
    updates = [
        session(agent="opencode"),
        *started("opencode", "t1"),
        cost(0.50),
        ended(1, 1),
        clear,
        cost(0.60),
        switched,
        *started("codex", "c1", "gpt"),
        cost(0.30),
        ended(10, 1),
        back,
        *started("opencode", "t2"),
        cost(0.70),
    ]
    assert dict(counted(*updates).cost) == pytest.approx({"USD": 0.50 + 0.60 + 0.30 + 0.10})
    events = [Event(n, BEGAN, None, None, update) for n, update in enumerate(updates, 1)]
    by_agent = {group.name: group for group in grouped(read("s", {}, events)[1], "agent")}
    assert dict(by_agent["codex"].cost) == pytest.approx({"USD": 0.30})
    assert (by_agent["codex"].input, by_agent["opencode"].input) == (10, 1)


def test_two_currencies_are_not_added() -> None:
    euro = cost(0.5) | {"cost": {"amount": 2.0, "currency": "EUR"}}
    found = counted(session(agent="x"), *started("x", "1"), cost(1.0), *started("x", "2"), euro)
    assert dict(found.cost) == {"EUR": 2.0, "USD": 1.0}


def test_counting_in_pieces_equals_counting_at_once() -> None:
    updates = [
        session(agent="opencode"),
        *started("opencode", "t1", "big"),
        cost(0.5),
        ended(1, 2),
        cost(0.9),
        ended(3, 4),
    ]
    events = [Event(n, BEGAN + n, None, None, update) for n, update in enumerate(updates, 1)]
    state, whole = read("s", {}, events)
    for cut in range(len(events)):
        first, rows = read("s", {}, events[:cut])
        last, more = read("s", json.loads(json.dumps(first)), events[cut:])
        assert (last, rows + more) == (state, whole)


# --- homes -------------------------------------------------------------------------------------


def several(place: Path) -> str:
    home_of(
        place,
        session(id="aaaa", cwd="/work/shop"),
        *started("claude", "t", "opus"),
        cost(0.25),
        ended(100, 20),
        session="aaaa",
    )
    return home_of(
        place,
        session(id="bbbb", cwd="/work/shop/api", agent="codex"),
        *started("codex", "t", "gpt"),
        ended(1000, 200),
        session="bbbb",
    )


def cache(home: str) -> Path:
    return Path(home) / "cache" / "usage.json"


def test_usage_can_be_grouped_and_filtered(tmp_path: Path) -> None:
    home = several(tmp_path)
    assert [group.name for group in grouped(collect(home), "agent")] == ["claude", "codex"]
    assert {group.name for group in grouped(collect(home), "model")} == {"opus", "gpt"}
    assert {group.name for group in grouped(collect(home), "session")} == {"aaaa", "bbbb"}
    assert len(grouped(collect(home), "day")) == 1
    assert total(collect(home, Filters(agent="codex"))).input == 1000
    assert total(collect(home, Filters(within="/work/shop/api"))).input == 1000
    assert total(collect(home, Filters(within="/work/shop"))).input == 1100
    assert total(collect(home, Filters(within="/work/sho"))).turns == 0
    assert collect(home, Filters(since=BEGAN + 24 * HOUR)) == []


def test_an_unchanged_log_is_not_read_again(tmp_path: Path) -> None:
    home = several(tmp_path)
    rows = collect(home)
    for name in ("aaaa", "bbbb"):
        log = Path(home) / "sessions" / name / paths.LOG
        before = log.stat()
        log.write_bytes(b"\0" * before.st_size)
        os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert collect(home) == rows


def test_only_new_events_are_counted(tmp_path: Path) -> None:
    home = several(tmp_path)
    collect(home)
    with Writer.open(f"{home}/sessions/aaaa") as log:
        log.append([Draft(cost(0.75)), Draft(ended(5, 5))])
        while_written = collect(home)
    assert dict(total(while_written).cost) == pytest.approx({"USD": 0.75})
    known = collect(home)
    cache(home).unlink()
    assert collect(home) == known == while_written, "safe to delete"


@pytest.mark.parametrize(
    "damage",
    [
        *(b"", b"{", b"[]", b"\xff\0", b'{"v":1,"sessions":[1]}'),
        b'{"v":1,"sessions":{"aaaa":{"sign":0}}}',
        b'{"v":1,"sessions":{"aaaa":{"first":1,"seq":1,"state":{},"rows":[["x"]]}}}',
    ],
)
def test_a_damaged_cache_is_rebuilt(damage: bytes, tmp_path: Path) -> None:
    home = several(tmp_path)
    rows = collect(home)
    cache(home).write_bytes(damage)
    assert collect(home) == rows


def test_usage_works_in_a_read_only_home(tmp_path: Path) -> None:
    home = several(tmp_path)
    (Path(home) / "cache").write_text("in the way")
    assert total(collect(home)).turns == 2


def test_a_deleted_sessions_usage_is_gone(tmp_path: Path) -> None:
    home = several(tmp_path)
    collect(home)
    directory = Path(home) / "sessions" / "aaaa"
    for file in directory.iterdir():
        file.unlink()
    directory.rmdir()
    assert {row.session for row in collect(home)} == {"bbbb"}
    assert "aaaa" not in cache(home).read_text()


def test_an_unreadable_log_is_skipped_and_named(tmp_path: Path) -> None:
    home = several(tmp_path)
    (Path(home) / "sessions" / "aaaa" / paths.LOG).write_bytes(b"no log at all" * 1000)
    skipped: list[str] = []
    assert {row.session for row in collect(home, skipped=skipped)} == {"bbbb"}
    assert skipped == ["aaaa"]


def test_days_without_usage_are_listed() -> None:
    long_ago = BEGAN - 1000 * 24 * HOUR
    rows = [usage.Row(long_ago + n * 24 * HOUR, "s", "a", "m", "", 1) for n in (0, 3)]
    assert [group.turns for group in grouped(rows, "day")] == [1, 0, 0, 1]
    assert BEGAN % STRETCH == 0


# --- the command -------------------------------------------------------------------------------


def test_the_usage_command(home: Path) -> None:
    one = made({"usage": 4200, "size": 200000, "cost": 0.25}, title="A walk")
    shown = rookery("usage", COLUMNS="80")
    assert shown.code == 0, shown.err
    assert "$0.25" in shown.out
    assert "█" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    plain = rookery("usage", "--by", "session", COLUMNS="80", PYTHONIOENCODING="ascii")
    assert plain.out.isascii()
    assert "####" in plain.out
    assert f"{one} A walk" in plain.out
    told = json.loads(rookery("usage", "--by", "agent", "--json").out)
    assert told["total"]["cost"] == {"USD": 0.25}
    assert [group["name"] for group in told["groups"]] == ["demo"]


def test_the_usage_command_with_nothing_to_show(home: Path) -> None:
    none = rookery("usage")
    assert (none.code, none.out) == (0, "")
    assert "No usage in this period." in none.err
    assert rookery("usage", "--by", "moon").code == 2


def quota(kind: str, share: float, resets: int) -> Json:
    told = {"status": "allowed", "rateLimitType": kind, "utilization": share, "resetsAt": resets}
    return {"update": cost(0.1, _meta={"_claude/rateLimit": told})}


def test_quotas_are_listed_by_agent_and_by_session(home: Path) -> None:
    soon = int(time.time()) + 3600
    made(quota("five_hour", 0.82, soon), quota("seven_day", 0.4, soon - 7200))
    shown = rookery("usage", "--limits").out.splitlines()
    assert [line.split()[:4] for line in shown[1:2]] == [["demo", "5", "h", "82"]]
    assert [line.split()[:3] for line in shown[2:]] == [["demo", "weekly", "reset"]]  # at, or on
    told = json.loads(rookery("usage", "--limits", "--json").out)["limits"]
    assert [(each["window"], each["used"]) for each in told] == [("5 h", 0.82), ("weekly", 0.4)]
    assert told[0]["resets"] == soon * 1000
    wide = rookery("ps", "--wide").out
    assert "5 h 82 %" in wide
    assert "weekly" not in wide, "it was reset since"
    assert json.loads(rookery("usage", "--limits", "--agent", "x", "--json").out) == {"limits": []}


def test_a_limited_session_can_be_told_to_continue_then(home: Path) -> None:
    one = made({"rate_limit": int(time.time()) + 3600, "message": "slow"})
    shown = rookery("show", one).out
    assert f"Continue at the reset: rookery retry {one} --at-reset" in shown
    assert "rate_limit_auto_resume" in shown
    assert "sent again at" in rookery("retry", one, "--at-reset").err
    assert "continues by itself" in rookery("show", one).out
    assert rookery("retry", one, "--not-at-reset").code == 0
    unknown = made({"rate_limit": None, "message": "slow"})
    refused = rookery("retry", unknown, "--at-reset")
    assert (refused.code, "did not say when" in refused.err) == (1, True)
    assert rookery("usage", "--limits").out.count("rate limit") == 1
