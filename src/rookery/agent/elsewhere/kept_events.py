"""This side's copy of a conversation's events, one per line: a session can show its past while its
server is away, and a conversation that is gone is begun anew with a recap."""

import json
import os
import shutil
import time
from contextlib import suppress
from datetime import datetime

from openhands.sdk.event import Event, MessageEvent
from pydantic import ValidationError

from rookery.core.json import Json
from rookery.models.secrets import KNOWN

FILE = "events.jsonl"
ROOT = "__root__"
"""The parent of the first event of a conversation that was emptied."""
AT = "_at"
BACK = "_back_to"
"""A line that is no event: the conversation was taken back to this one; null: to its beginning."""


class KeptEvents:
    """The events of a conversation, in order. `seen` also has those that were taken back."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, FILE)
        self._times: dict[str, float] = {}
        """When each was heard of: a server's own times have no zone."""
        self.events: list[Event] = []
        self.seen: set[str] = set()
        # A kill may have cut a line off, in the middle of a letter too.
        with (
            suppress(FileNotFoundError),
            open(self._path, encoding="utf-8", errors="replace") as file,
        ):
            for line in file:
                self._read(line)

    def _read(self, line: str) -> None:
        with suppress(ValueError, RecursionError):
            entry = json.loads(line)
            if BACK in entry:
                self._take_back(entry[BACK])
                return
            self.seen.add(str(entry.get("id")))  # also if it is of a kind that nobody knows here
            at = entry.pop(AT, None)
            with suppress(ValidationError):
                self._add(Event.model_validate(entry), at)

    def _add(self, event: Event, at: float | None) -> None:
        self.events.append(event)
        self.seen.add(event.id)
        self._times[event.id] = at or datetime.fromisoformat(event.timestamp).timestamp()

    def add(self, event: Event) -> bool:
        """Add an event. Returns whether it is new."""
        if event.id in self.seen:
            return False
        self._follow(event)
        at = time.time()
        self._add(event, at)
        self._write(event.model_dump(mode="json") | {AT: at})
        return True

    def _follow(self, event: Event) -> None:
        """Rewind if a message continues an earlier event: another client went back there."""
        above = event.parent_id
        if not isinstance(event, MessageEvent) or event.source == "agent" or not above:
            return
        is_known = any(each.id == above for each in self.events)
        if above == ROOT or (is_known and self.events[-1].id != above):
            self.back_to(above if is_known else None)

    def copy(self, folder: str, last: str | None) -> None:
        """Copy the events for a fork, up to event `last`; None: all."""
        with suppress(FileNotFoundError):
            shutil.copyfile(self._path, os.path.join(folder, FILE))
            os.chmod(os.path.join(folder, FILE), 0o600)
        if last is not None:
            KeptEvents(folder).back_to(last)

    def back_to(self, id: str | None) -> None:
        self._take_back(id)
        self._write({BACK: id})

    def _take_back(self, id: str | None) -> None:
        places = [place for place, event in enumerate(self.events) if event.id == id]
        del self.events[places[0] + 1 if places else 0 :]

    def _write(self, value: Json) -> None:
        line = KNOWN.text(json.dumps(value, ensure_ascii=False)) + "\n"
        # A line that a kill cut off ends here.
        lead = "" if self._ends_whole() else "\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        file = os.open(self._path, flags, 0o600)
        try:
            left = memoryview((lead + line).encode("utf-8", "surrogatepass"))
            while left:
                left = left[os.write(file, left) :]
        finally:
            os.close(file)

    def _ends_whole(self) -> bool:
        with suppress(OSError), open(self._path, "rb") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                return file.read(1) == b"\n"
        return True

    def anchor(self) -> str:
        """Return the event after which the server's list is to be read again: the last message to
        the model, since a process may have been killed while it received what followed. "" if there
        is none."""
        messages = [each.id for each in self.events if isinstance(each, MessageEvent)]
        return messages[-1] if messages else ""

    def last_before(self, moment: float) -> str | None:
        """Return the last event that arrived before `moment`, by this machine's clock; the first of
        all if none did."""
        last: str | None = None
        for event in self.events:
            if last is not None and self._times.get(event.id, 0.0) >= moment:
                break
            last = event.id
        return last
