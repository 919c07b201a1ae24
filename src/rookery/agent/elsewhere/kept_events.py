"""This side's copy of a conversation's events, a line each: a session shows its past while its
server is away, and a conversation that is gone is begun anew with a recap."""

import json
import os
import shutil
from contextlib import suppress

from openhands.sdk.event import Event
from pydantic import ValidationError

from rookery.core.json import Json
from rookery.models.secrets import KNOWN

FILE = "events.jsonl"
BACK = "_back_to"
"""A line that is no event: the conversation was taken back to this one; null: to its beginning."""


class KeptEvents:
    """Those that the conversation has, in order. `seen`: also those that were taken back."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, FILE)
        self.events: list[Event] = []
        self.seen: set[str] = set()
        with suppress(FileNotFoundError), open(self._path, encoding="utf-8") as file:
            for line in file:
                self._read(line)

    def _read(self, line: str) -> None:
        with suppress(ValueError, RecursionError):  # a kill cut the last one off
            found = json.loads(line)
            if BACK in found:
                self._take_back(found[BACK])
                return
            self.seen.add(str(found.get("id")))  # also if it is of a kind that nobody knows here
            with suppress(ValidationError):
                self._add(Event.model_validate(found))

    def _add(self, event: Event) -> None:
        self.events.append(event)
        self.seen.add(event.id)

    def add(self, event: Event) -> bool:
        """Whether it is news."""
        if event.id in self.seen:
            return False
        self._add(event)
        self._write(event.model_dump(mode="json"))
        return True

    def copy(self, folder: str, last: str | None) -> None:
        """For a fork, up to this event; None: all."""
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

    def latest(self) -> str:
        """The time of the last one; "": there is none."""
        return max((event.timestamp for event in self.events), default="")
