"""Which commands only a person may send."""

import pytest

from rookery.core import commands
from rookery.core.json.events import Json
from rookery.core.policy import confinement
from rookery.operations.catalogue.execution import execution_of
from rookery.operations.catalogue.finding import every

GUARDED = ("answer", "retry", "set", "settings", "switch", "rewind", "worktree")


def prompt(*texts: str, do: str = "prompt") -> Json:
    return {"do": do, "prompt": [{"type": "text", "text": text} for text in texts]}


@pytest.mark.parametrize(
    "command",
    [
        {"do": "answer", "ask": "x", "defer": True},
        {"do": "switch", "agent": "x"},
        {"do": "settings", "take": "x"},
        {"do": "rewind", "turn": 1},
        {"do": "worktree", "state": "dropped"},
        {"do": "set", "option": "budget_turn", "value": "9 USD"},
        *({"do": "set", "option": name, "value": "x"} for name in ("confirm", "mode", "critic")),
        {"do": "set", "option": "yolo", "value": True},
        prompt("/confirm all"),
        prompt(" \n/confirm all"),
        prompt("/new"),
        prompt("hello", "/confirm\tall"),
        prompt("/confirm", do="queue"),
    ],
)
def test_what_may_loosen_is_guarded(command: Json) -> None:
    assert commands.is_guarded(command)


@pytest.mark.parametrize(
    "command",
    [
        *({"do": name} for name in commands.NAMES if name not in GUARDED),
        *({"do": "set", "option": name, "value": "x"} for name in ("model", "effort")),
        prompt("hello"),
        prompt("/usr/bin/env is broken"),
        prompt("either / or"),
        prompt("/"),
        {"do": "prompt", "prompt": "/confirm"},
        {"do": "prompt", "prompt": [None, 1, {"type": "image"}]},
        {"do": "queue", "op": "move"},
    ],
)
def test_all_else_is_not(command: Json) -> None:
    assert not commands.is_guarded(command)


def test_a_lost_privilege_is_found_in_any_shape() -> None:
    said = {"content": [{"content": {"text": 'sudo: The "no new privileges" flag is set'}}]}
    assert any(confinement.lost(text) for text in confinement.texts(said))
    assert not any(
        confinement.lost(text) for text in confinement.texts([["sudo: a password"] * 9, 1])
    )


OPEN = ("prompt", "rename", "start", "unarchive", "pin")
"""What agents may do to sessions."""


def test_an_agent_is_refused_whatever_takes_away_or_ends() -> None:
    """Each new command has to be put on one side."""
    given = {"option": "confirm", "value": "all", "until": 9, "ask": "x"}
    names = {
        *commands.NAMES,
        *(row.name for row in every() if row.is_sent and not row.traits.sends),
    }
    taken = {name for name in names if _refused({"do": name, **given})}
    assert taken == names - set(OPEN)


def test_what_ends_nothing_is_open_to_agents() -> None:
    for command in ({"do": "stop", "idle": True, "room": True}, {"do": "snooze", "until": 0}):
        assert not _refused(command)


def _refused(command: Json) -> bool:
    return commands.agents_refusal(command, execution_of(command)) is not None


@pytest.mark.parametrize("name", commands.WITHDRAWS)
def test_agents_may_end_what_they_alone_began(name: str) -> None:
    assert commands.agents_refusal({"do": name}, alone=True) is None
    assert commands.agents_refusal({"do": "clear"}, alone=True) is not None
