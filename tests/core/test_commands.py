"""Commands: refused with a reason before they reach a machine, or let through."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core import commands
from rookery.core.asks.asks import Refusal
from rookery.core.commands import COMMANDS
from rookery.operations.catalogue.execution import execution_of
from rookery.operations.catalogue.finding import every
from rookery.worker.agent.handover import Handover
from rookery.worker.commands import Commands
from rookery.worker.rewind import Rewind
from tests.core.hostile import FIELDS, foreign_json
from tests.core.making import Json, text

MOST = 100
NAMES = (*COMMANDS, *(row.name for row in every() if row.is_sent and not row.traits.sends))
WAKES = {"prompt", "retry", "queue", "start", "restart", "answer", "settings", "rewind"}

FINE: list[Json] = [
    {"do": "retry"},
    {"do": "retry", "turn": 3},
    {"do": "prompt", "prompt": [text("x")]},
    {"do": "prompt", "prompt": [text("x" * MOST)]},
    {"do": "prompt", "prompt": [text(""), {"type": "image", "data": "A" * 500}]},
    {"do": "prompt", "prompt": [{"type": "resource_link", "uri": "file:///a"}]},
    {"do": "rename", "title": "t"},
    {"do": "answer", "ask": "a1"},
    {"do": "set", "option": "mode", "value": "plan"},
    {"do": "queue", "op": "remove", "item": "q"},
    {"do": "queue", "op": "edit", "item": "q", "prompt": [text("x")]},
    {"do": "switch", "agent": "jay"},
    {"do": "switch", "agent": "jay", "argv": ["jay"], "model": "m", "reason": "rate_limited"},
    *({"do": name} for name in ("cancel", "force_end", "start", "stop", "restart")),
    *({"do": name} for name in ("archive", "unarchive", "pin", "unpin")),
    {"do": "cancel_subagent", "subagent": "s1"},
    {"do": "snooze", "until": 0},
    *({"do": "resume", "off": off} for off in (False, True)),
    {"do": "rewind", "turn": 0},
    {"do": "rewind", "turn": 3, "files": False},
    {"do": "rewind", "undo": True},
    {"do": "snooze", "until": 1_900_000_000_000},
    *({"do": name} for name in ("clear", "delete")),
    {"do": "settings", "take": "0123456789abcdef"},
    {"do": "worktree", "state": "merged"},
]


def check(command: Json, most: int) -> Refusal | None:
    return commands.check(command, most, execution_of(command))


def offline(command: Json) -> Json | None:
    return commands.offline(command, row=execution_of(command))


def wakes(command: Json) -> bool:
    return commands.wakes(command, execution_of(command))


@pytest.mark.parametrize("command", FINE)
def test_a_good_command_passes(command: Json) -> None:
    assert check(command, MOST) is None


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ({"do": "prompt"}, "empty_prompt"),
        ({"do": "rewind"}, "no_turn"),
        ({"do": "rewind", "turn": -1}, "no_turn"),
        ({"do": "rewind", "turn": True}, "no_turn"),
        ({"do": "rewind", "turn": 1, "files": False, "conversation": False}, "nothing"),
        ({"do": "prompt", "prompt": []}, "empty_prompt"),
        ({"do": "prompt", "prompt": "text"}, "empty_prompt"),
        ({"do": "prompt", "prompt": [text(" \n")]}, "empty_prompt"),
        ({"do": "prompt", "prompt": ["x"]}, "bad_prompt"),
        ({"do": "prompt", "prompt": [{"text": "x"}]}, "bad_prompt"),
        ({"do": "prompt", "prompt": [{"type": "text", "text": 7}]}, "bad_prompt"),
        ({"do": "prompt", "prompt": [text("x" * (MOST + 1))]}, "prompt_too_long"),
        ({"do": "prompt", "prompt": [text("é" * MOST)]}, "prompt_too_long"),
        ({"do": "prompt", "prompt": [text("x" * 60), text("x" * 60)]}, "prompt_too_long"),
        ({"do": "rename", "title": "  "}, "no_title"),
        ({"do": "rename", "title": 7}, "no_title"),
        ({"do": "rename", "title": "x" * 201}, "no_title"),
        ({"do": "rename"}, "no_title"),
        ({"do": "snooze"}, "no_time"),
        ({"do": "snooze", "until": -1}, "no_time"),
        ({"do": "snooze", "until": "soon"}, "no_time"),
        ({"do": "snooze", "until": True}, "no_time"),
        ({"do": "answer"}, "no_ask"),
        ({"do": "set", "value": "x"}, "no_option"),
        ({"do": "set", "option": "mode"}, "no_value"),
        ({"do": "set", "option": "mode", "value": ""}, "no_value"),
        ({"do": "queue", "op": "burn"}, "unknown_operation"),
        ({"do": "queue", "op": "edit", "prompt": []}, "empty_prompt"),
        ({"do": "switch"}, "no_agent"),
        ({"do": "switch", "agent": " "}, "no_agent"),
        ({"do": "switch", "agent": "jay", "argv": []}, "bad_argv"),
        ({"do": "switch", "agent": "jay", "argv": "jay"}, "bad_argv"),
        ({"do": "switch", "agent": "jay", "argv": [1]}, "bad_argv"),
        ({"do": "switch", "agent": "jay", "model": ""}, "no_model"),
        ({"do": "switch", "agent": "jay", "reason": "bored"}, "bad_reason"),
        ({"do": "fly"}, "unknown_command"),
        ({"do": None}, "unknown_command"),
        ({}, "unknown_command"),
    ],
)
def test_a_bad_command_is_refused_with_its_reason(command: Json, reason: str) -> None:
    refusal = check(command, MOST)
    assert refusal is not None
    assert refusal.reason == reason
    assert refusal.message.endswith(".")


def test_an_unknown_command_is_refused_in_few_words() -> None:
    refusal = check({"do": "x" * 10_000}, MOST)
    assert refusal is not None
    assert len(refusal.message) < 320


def test_a_prompt_of_lone_surrogates_is_measured_all_the_same() -> None:
    assert check({"do": "prompt", "prompt": [text("\ud800" * 10)]}, MOST) is None


def test_only_what_needs_an_agent_wakes_one() -> None:
    assert set(NAMES) >= WAKES
    asleep = [command for command in FINE if not wakes(command)]
    changed = {"queue"}  # but for sending it, what waits is changed in the log
    assert {command["do"] for command in asleep} == set(NAMES) - WAKES | changed
    assert all(offline(command) for command in asleep)
    assert wakes({"do": "set", "option": "an option of the agent's", "value": "x"})


def test_every_command_has_its_handler() -> None:
    catalogue = {row.name: row.execution for row in every()}
    for name, row in (COMMANDS | catalogue).items():
        owners = {"handover": Handover, "rewind": Rewind}
        owner = owners.get(row.handler.rpartition(".")[0], Commands)
        assert callable(getattr(owner, row.handler.rpartition(".")[2])), name


def test_a_rename_without_a_worker_is_an_event() -> None:
    assert offline({"do": "rename", "title": "t"}) == {"sessionUpdate": "_session", "title": "t"}


@pytest.mark.parametrize("name", ["cancel", "force_end", "stop", "answer"])
def test_what_is_moot_without_a_worker_is_done(name: str) -> None:
    assert offline({"do": name}) == {"sessionUpdate": "_done", "command": name}


@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from([*FIELDS, "ask"]), foreign_json))
def test_no_command_breaks_anything(name: str, fields: Json) -> None:
    for command in ({**fields, "do": name}, {**fields, "do": fields}):
        if check(command, MOST) is None:
            offline(command)


@given(foreign_json)
def test_no_prompt_breaks_anything(prompt: Any) -> None:
    for sent in (prompt, [prompt], [{"type": "text", "text": prompt}]):
        check({"do": "prompt", "prompt": sent}, MOST)
