"""How many of the commands in fixtures/commands are judged rightly.

Of the held-out half only counts are shown, never a line: whoever changes the parser must not read
it.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rookery.core.policy.danger import danger_of
from rookery.core.policy.rule_tables import rule_of
from rookery.core.policy.rules import call_of, decide

type Json = dict[str, Any]

COMMANDS = Path(__file__).parents[3] / "fixtures" / "commands"
ROOTS = ["/home/me/project"]
HOME = "/home/me"


def rows(name: str) -> list[Json]:
    text = (COMMANDS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def call(command: str) -> Json:
    return {"kind": "execute", "rawInput": {"command": command}}


def is_flagged(row: Json) -> bool:
    return bool(danger_of(call(row["command"]), ROOTS, HOME))


def test_every_known_command_is_judged_rightly() -> None:
    known = rows("known")
    wrong = [row["command"] for row in known if is_flagged(row) is not row["destructive"]]
    assert len(known) == 375
    assert wrong == []


def test_held_out_commands_are_judged_as_well() -> None:
    """At least 95 % caught, at most 3 % flagged. The first run, before anything could be tuned:
    100 % and 0 %."""
    held_out = rows("held-out")
    destructive = [row for row in held_out if row["destructive"]]
    harmless = [row for row in held_out if not row["destructive"]]
    missed = Counter(row["tool"] for row in destructive if not is_flagged(row))
    flagged = Counter(row["tool"] for row in harmless if is_flagged(row))
    assert len(destructive) >= 120
    assert len(harmless) >= 120
    assert missed.total() <= 0.05 * len(destructive), dict(missed)
    assert flagged.total() <= 0.03 * len(harmless), dict(flagged)


def denied(row: Json) -> bool:
    rule = rule_of({"do": "deny", "command": row["rule"]}, 1)
    assert hasattr(rule, "do")
    return decide([rule], call_of("x", call(row["command"]), ROOTS, HOME)).do == "deny"


def test_a_denial_sees_through_every_spelling() -> None:
    spellings = rows("denied")
    plain = [row for row in spellings if not row.get("hard")]
    assert len(plain) >= 80
    assert [row["command"] for row in plain if not denied(row)] == []


def test_most_hard_spellings_are_seen_through_too() -> None:
    """What only running it can tell is not promised; what the line itself says is seen."""
    hard = [row for row in rows("denied") if row.get("hard")]
    assert sum(map(denied, hard)) >= 20


@pytest.mark.parametrize("pattern", ["rm *", "git push*", "sudo *", "curl *", "ssh *", "docker *"])
def test_a_denial_does_not_match_harmless_text(pattern: str) -> None:
    """What is printed, searched for, or a file's name, is not run."""
    program = pattern.split(maxsplit=1)[0]
    for line in (
        f"grep -r '{program} x' docs",
        f"echo {program} push x",
        f"git commit -m '{program} push x'",
        f"cat {program}-notes.md",
        f"# {program} push x\nls",
        f"cat > notes <<'EOF'\n{program} push x\nEOF",
        f"man {program}",
        f"ls {program} push",
        f"MSG='{program} push x'; echo \"$MSG\"",
    ):
        assert not denied({"rule": pattern, "command": line}), line


@pytest.mark.parametrize("name", ["allowed", "allowed-later"])
def test_a_rule_that_allows_covers_no_option_that_writes_or_runs(name: str) -> None:
    """The honest lines beside them are still allowed."""
    wrong = []
    for row in (found := rows(name)):
        rule = rule_of({"do": "allow", "command": row["rule"]}, 1)
        assert hasattr(rule, "do")
        verdict = decide([rule], call_of("x", call(row["command"]), ROOTS, HOME))
        if (verdict.do == "allow") is not row["passes"]:
            wrong.append(row["command"])
    assert len(found) >= 100
    assert wrong == []
