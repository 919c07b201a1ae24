"""The SDK's files: conversations are stored without secrets, written without waiting for the disk,
and read again without walking the whole history or searching it for calls without a result; the API
critic's templates are below Rookery's home.

Made for openhands-sdk 1.58, which caches templates in the user's ~/.cache. Unnecessary once a
conversation takes a file store, remembers its last branch and the calls without a result in it, and
appends an event without a lock, a second file and two syncs; and the critic takes a folder."""

import asyncio
import os
import threading
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any, override

from openhands.sdk.conversation import state
from openhands.sdk.conversation.event_store import EventLog
from openhands.sdk.conversation.state import ConversationExecutionStatus, ConversationState
from openhands.sdk.critic.impl.api import chat_template
from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    Event,
    ObservationEvent,
    UserRejectObservation,
)
from openhands.sdk.event.types import ROOT_PARENT_ID
from openhands.sdk.io import LocalFileStore

from rookery.agent.process import shutdown
from rookery.agent.sdk_patches import Around, wrap
from rookery.agent.storage import behind
from rookery.agent.storage.store import UNFINISHED
from rookery.home import paths
from rookery.models.secrets import KNOWN

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_numbers = count()


class DiscreetStore(LocalFileStore):
    @override
    def write(self, path: str, contents: str | bytes) -> None:
        if shutdown.is_under_way():
            return
        if isinstance(contents, str):
            self._write_text(self.get_full_path(path), KNOWN.text(contents))
        else:
            super().write(path, contents)

    def _write_text(self, path: str, text: str) -> None:
        folder, name = os.path.split(path)
        unfinished = os.path.join(folder, f".{name}.{os.getpid()}.{next(_numbers)}{UNFINISHED}")
        data = text.encode("utf-8")
        try:
            file = os.open(unfinished, NEW, 0o600)
        except FileNotFoundError:
            os.makedirs(folder, exist_ok=True)
            file = os.open(unfinished, NEW, 0o600)
        try:
            with open(file, "wb", buffering=0) as raw:
                while data:
                    data = data[raw.write(data) :]
            os.replace(unfinished, path)
        except OSError:
            Path(unfinished).unlink(missing_ok=True)
            raise
        behind.sync(path)
        self.cache[path] = text


STEP = 200
"""Events to walk back to a known branch; after that it counts as another one."""


LATER = 0.25
"""Seconds."""
UNSYNCED = 100
"""How many of the newest events a power failure may have left empty."""


class Branch(list[Event]):
    """The events up to one of them. The SDK searches all of them at every step for calls without a
    result; this class tracks them."""

    def __init__(self, events: Iterable[Event] = (), waiting: Sequence[ActionEvent] = ()) -> None:
        super().__init__(events)
        self.waiting = tuple(waiting)

    def with_more(self, events: Sequence[Event]) -> "Branch":
        waiting = list(self.waiting)
        for event in events:
            if isinstance(event, ObservationEvent | UserRejectObservation):
                waiting = [each for each in waiting if each.id != event.action_id]
            elif isinstance(event, AgentErrorEvent):
                call = event.tool_call_id
                waiting = [each for each in waiting if each.tool_call_id != call]
            elif isinstance(event, ActionEvent) and event.action is not None:
                waiting.append(event)
        return Branch((*self, *events), waiting)


def waiting_in(known: Around, events: Sequence[Event]) -> list[ActionEvent]:
    return list(events.waiting) if isinstance(events, Branch) else known(events)


class Branches(EventLog):
    """An event log that remembers the last branch and walks only the events since. The SDK walks
    from the newest event to the first at every step. No other process appends: ours holds the
    conversation's lock."""

    _walked = Branch()

    def __init__(self, *given: Any, **named: Any) -> None:
        self._appending = threading.Lock()
        super().__init__(*given, **named)

    @override
    def append(self, event: Event) -> int:
        with self._appending:
            if event.id in self._id_to_idx:
                raise ValueError(f"the event {event.id} is there already")
            above = event.parent_id
            if above not in (None, ROOT_PARENT_ID) and above not in self._id_to_idx:
                raise ValueError(f"the event {event.id} has no parent {above}")
            text = event.model_dump_json(exclude_none=True)
            place = self._length
            with self._write_guard() if self._write_guard else nullcontext():
                self._fs.write(self._path(place, event_id=event.id), text)
            self._idx_to_id[place], self._id_to_idx[event.id] = event.id, place
            self._event_cache[place] = event
            self._length += 1
            return place

    @override
    def _scan_and_build_index(self) -> int:
        """Stop at the first event that a power failure left empty: the others came after it."""
        length = super()._scan_and_build_index()
        for place in range(max(0, length - UNSYNCED), length):
            path = self._fs.get_absolute_path(self._path(place))
            if os.path.exists(path) and not os.path.getsize(path):
                return self._cut(place, length)
        return length

    def _cut(self, start: int, end: int) -> int:
        for place in range(start, end):
            self._fs.delete(self._path(place))
            self._id_to_idx.pop(self._idx_to_id.pop(place), None)
        return start

    @override
    def path_to_root(self, leaf_id: str | None, limit: int | None = None) -> list[Event]:
        if limit is not None:
            return super().path_to_root(leaf_id, limit)
        walked = self._walked
        end = walked[-1].id if walked else None
        fresh: list[Event] = []
        at = leaf_id
        while at not in (None, end) and len(fresh) < STEP:
            place = self.get_index(at)
            fresh.append(self[place])
            at = self._effective_parent_id(place, fresh[-1])
        if at is None:
            walked = Branch().with_more(fresh[::-1])
        elif at == end:
            walked = walked.with_more(fresh[::-1])
        else:
            walked = Branch().with_more(super().path_to_root(leaf_id))
        self._walked = walked
        return Branch(walked, walked.waiting)


class Later:
    """Saves a conversation's state a moment after it changed, if it changes with each step: the
    next request goes out first. A kill would lose only which event is the newest (`head` finds it)
    and the usage of the last step."""

    def __init__(self) -> None:
        self._due: set[int] = set()

    def save(self, now: Around, state: ConversationState, files: Any) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # in a thread: the user changed something
            loop = None
        if loop is None or state.execution_status != ConversationExecutionStatus.RUNNING:
            now(state, files)
        elif id(state) not in self._due:
            self._due.add(id(state))
            loop.call_later(LATER, self._save, now, state, files, loop)

    def _save(self, now: Around, state: ConversationState, files: Any, loop: Any) -> None:
        if not state._lock.acquire(blocking=False):  # a thread changes it
            loop.call_later(LATER, self._save, now, state, files, loop)
            return
        try:
            self._due.discard(id(state))
            if state.execution_status == ConversationExecutionStatus.RUNNING:  # else it was saved
                now(state, files)
        finally:
            state._lock.release()


_save = Later().save


def install() -> None:
    state.LocalFileStore = DiscreetStore  # type: ignore[attr-defined]
    state.EventLog = Branches  # type: ignore[attr-defined]
    wrap(ConversationState, "_save_base_state", _save)
    wrap(ConversationState, "get_unmatched_actions", waiting_in)
    plain: Any = ConversationState.get_unmatched_actions
    ConversationState.get_unmatched_actions = staticmethod(plain)  # type: ignore[method-assign]
    chat_template.CACHE_DIR = Path(paths.home(), "sdk", "chat_templates")


def forget_template(critic: Any) -> None:
    """Remove a critic's stored template, which may be half of one."""
    chat_template._get_cache_path(critic.tokenizer_name).unlink(missing_ok=True)
