"""Whose work an agent below did, and in which order a load tells of it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from openhands.sdk.event import Event, MessageEvent
from openhands.sdk.llm import Message, TextContent

from rookery.agent.storage import delegations
from rookery.agent.storage.delegations import FILE, Delegation, ReplayedEvent
from tests.agent.test_translate_events import action, done

LEFT = "subagents/" + "a" * 32
RIGHT = "subagents/" + "b" * 32


def words(text: str, at: str) -> MessageEvent:
    message = Message(role="assistant", content=[TextContent(text=text)])
    return MessageEvent(source="agent", llm_message=message, timestamp=f"2026-01-01T00:00:{at}")


def keep(folder: Path, below: str, *events: Event) -> None:
    """As the SDK does."""
    place = folder / below / "events"
    place.mkdir(parents=True, exist_ok=True)
    for number, event in enumerate(events, len(os.listdir(place))):
        name = f"event-{number:05d}-{event.id}.json"
        (place / name).write_text(event.model_dump_json(exclude_none=True))


def look(told: list[ReplayedEvent]) -> list[Any]:
    """The call that each belongs to, and its words or kind."""
    return [
        (each.call, each.event.llm_message.content[0].text)
        if isinstance(each.event, MessageEvent)
        else (each.call, type(each.event).__name__)
        for each in told
    ]


def test_two_at_once_are_told_by_time_and_before_their_results(tmp_path: Path) -> None:
    first, second = action("c1", "r1"), action("c2", "r1")
    for event, below in ((first, LEFT), (second, RIGHT)):
        delegations.note(str(tmp_path), event.id, str(tmp_path / below), 0)
    keep(tmp_path, LEFT, words("l1", "01"), words("l2", "03"))
    keep(tmp_path, RIGHT, words("r1", "02"), words("r2", "04"))
    branch = [first, second, done(first), done(second), words("over", "05")]
    told = list(delegations.in_order(str(tmp_path), branch))
    assert look(told) == [
        ("", "ActionEvent"),
        ("", "ActionEvent"),
        ("c1", "l1"),
        ("c2", "r1"),
        ("c1", "l2"),
        ("", "ObservationEvent"),
        ("c2", "r2"),
        ("", "ObservationEvent"),
        ("", "over"),
    ]
    assert told[2].conversation == "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"


def test_one_that_goes_on_works_for_the_next_call(tmp_path: Path) -> None:
    """And what has no result, since the process ended, is told at the end."""
    first, second = action("c1", "r1"), action("c2", "r2")
    delegations.note(str(tmp_path), first.id, str(tmp_path / LEFT), 0)
    keep(tmp_path, LEFT, words("one", "01"))
    delegations.note(str(tmp_path), second.id, str(tmp_path / LEFT), 1)
    keep(tmp_path, LEFT, words("two", "02"))
    told = list(delegations.in_order(str(tmp_path), [first, done(first), second]))
    assert look(told)[1:] == [
        ("c1", "one"),
        ("", "ObservationEvent"),
        ("", "ActionEvent"),
        ("c2", "two"),
    ]


def test_a_branch_without_the_call_tells_nothing_of_it(tmp_path: Path) -> None:
    """After a rewind."""
    gone = action()
    delegations.note(str(tmp_path), gone.id, str(tmp_path / LEFT), 0)
    keep(tmp_path, LEFT, words("one", "01"))
    assert look(list(delegations.in_order(str(tmp_path), [words("x", "02")]))) == [("", "x")]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        "null",
        json.dumps({"action": "a", "folder": LEFT}),
        json.dumps({"action": "a", "folder": LEFT, "begins": -1}),
        json.dumps({"action": "", "folder": LEFT, "begins": 0}),
        json.dumps({"action": "a", "folder": "../" + LEFT, "begins": 0}),
        json.dumps({"action": "a", "folder": "/" + LEFT, "begins": 0}),
        "[" * 100_000,
    ],
)
def test_lines_that_are_none_are_passed_over(tmp_path: Path, line: str) -> None:
    delegations.note(str(tmp_path), "good", str(tmp_path / LEFT), 3)
    with (tmp_path / FILE).open("a") as file:
        file.write(line)
    assert delegations.read(str(tmp_path)) == [Delegation("good", LEFT, 3)]
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_read_any_more_is_left_out(tmp_path: Path) -> None:
    """Half a file, an event of a tool that is gone, a folder that is gone: the rest is told."""
    event = action()
    delegations.note(str(tmp_path), event.id, str(tmp_path / RIGHT), 0)
    delegations.note(str(tmp_path), event.id, str(tmp_path / LEFT), 0)
    keep(tmp_path, LEFT, words("one", "01"), words("two", "02"), words("three", "03"))
    whole = sorted((tmp_path / LEFT / "events").iterdir())
    whole[0].write_text(whole[0].read_text()[:40])
    whole[1].write_text('{"kind": "Nonsense"}')
    assert look(list(delegations.in_order(str(tmp_path), [event, done(event)]))) == [
        ("", "ActionEvent"),
        ("c1", "three"),
        ("", "ObservationEvent"),
    ]
