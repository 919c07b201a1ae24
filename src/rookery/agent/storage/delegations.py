"""Records which sub-agent worked for which call, beside the conversation, for a replay: the SDK
stores a sub-agent's events in a folder of its own, and forgets the call. Each start or resumption
is a line; the events until the next one belong to that call."""

import heapq
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from openhands.sdk.conversation.persistence_const import EVENT_NAME_RE, EVENTS_DIR
from openhands.sdk.event import ActionEvent, Event, MessageEvent
from pydantic import ValidationError

from rookery.core.json import lenient
from rookery.home import paths

FILE = "delegations.jsonl"
BELOW = "subagents"
"""The SDK's folder for them in the parent's."""
FOLDER = re.compile(rf"(?:{BELOW}/[0-9a-f]{{32}}/)*{BELOW}/[0-9a-f]{{32}}")


class Delegation(NamedTuple):
    action: str
    """The call's event."""
    folder: str
    """Of the sub-agent, relative to the conversation's."""
    begins: int
    """How many events it had before."""
    task: str = ""
    """The model's name for it, if it can be resumed."""


class ReplayedEvent(NamedTuple):
    """An event, in the order of the replay."""

    event: Event
    call: str = ""
    """Of a sub-agent: the model's id of its call."""
    conversation: str = ""


def note(folder: str, action: str, below: str, begins: int, task: str = "") -> None:
    """Record the start or resumption of a sub-agent. Blocks."""
    line = json.dumps(Delegation(action, os.path.relpath(below, folder), begins, task)._asdict())
    paths.append_line(os.path.join(folder, FILE), line)


def read(folder: str) -> list[Delegation]:
    """Return the valid lines: a process may have ended within one."""
    try:
        with open(os.path.join(folder, FILE), encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except FileNotFoundError:
        return []
    delegations = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
            action, below = lenient.text(value, "action"), lenient.text(value, "folder")
            begins = lenient.integer(value, "begins")
            if action and begins is not None and begins >= 0 and FOLDER.fullmatch(below):
                delegations.append(Delegation(action, below, begins, lenient.text(value, "task")))
    return delegations


def tasks(folder: str) -> dict[str, uuid.UUID]:
    """Return the conversation of each task that the model itself gave and can resume."""
    direct = (one for one in read(folder) if one.task and one.folder.count("/") == 1)
    return {
        one.task: uuid.UUID(os.path.basename(one.folder))
        for one in direct
        if os.path.isdir(os.path.join(folder, one.folder))
    }


def copy(source: str, target: str) -> None:
    """Copy the records to a fork, which has the same events."""
    if os.path.exists(os.path.join(source, FILE)):
        shutil.copytree(
            os.path.join(source, BELOW), os.path.join(target, BELOW), dirs_exist_ok=True
        )
        shutil.copy2(os.path.join(source, FILE), os.path.join(target, FILE))


def in_order(folder: str, branch: Sequence[Event]) -> Iterator[ReplayedEvent]:
    """Yield a conversation's events with its sub-agents': after their call, before its result, by
    time. Reads files."""
    delegations = read(folder)
    waiting: list[ReplayedEvent] = []
    for event in branch:
        call = getattr(event, "tool_call_id", None)
        if isinstance(event, ActionEvent):
            mine = _of_action(folder, delegations, event)
            waiting = list(heapq.merge(waiting, mine, key=lambda entry: entry.event.timestamp))
        elif waiting and (call is not None or isinstance(event, MessageEvent)):
            last = [n for n, entry in enumerate(waiting) if call in (None, entry.call)]
            count = last[-1] + 1 if last else 0
            yield from waiting[:count]
            waiting = waiting[count:]
        yield ReplayedEvent(event)
    yield from waiting


def _of_action(
    folder: str, delegations: list[Delegation], event: ActionEvent
) -> list[ReplayedEvent]:
    streams = [
        [
            ReplayedEvent(each, event.tool_call_id, str(uuid.UUID(os.path.basename(one.folder))))
            for each in _events(
                os.path.join(folder, one.folder), one.begins, _end(delegations, number)
            )
        ]
        for number, one in enumerate(delegations)
        if one.action == event.id
    ]
    return list(heapq.merge(*streams, key=lambda entry: entry.event.timestamp))


def _end(delegations: list[Delegation], number: int) -> int | None:
    """Return where the sub-agent's work for the next call begins; None if there is none."""
    later = (one for one in delegations[number + 1 :] if one.folder == delegations[number].folder)
    return next((one.begins for one in later), None)


def _events(folder: str, begins: int, ends: int | None) -> Iterable[Event]:
    """Return the events that can be read: not those of a removed tool, nor half a file."""
    place = os.path.join(folder, EVENTS_DIR)
    try:
        names = os.listdir(place)
    except (FileNotFoundError, NotADirectoryError):
        return
    numbered = {int(at["idx"]): name for name in names if (at := EVENT_NAME_RE.match(name))}
    for number in sorted(numbered):
        if number >= begins and (ends is None or number < ends):
            with suppress(OSError, ValidationError):
                with open(os.path.join(place, numbered[number]), "rb") as file:
                    data = file.read()
                yield Event.model_validate_json(data)
