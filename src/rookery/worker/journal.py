"""Durable first, visible second: what is to be logged waits here until it is committed (law 3).

Disk full: the commit fails cleanly, nothing moves on, clients hear of it, and the same drafts are
tried again.
"""

import sys
from contextlib import suppress

from rookery.core.agent.chunks import Chunks
from rookery.core.json import Draft, Event, Json
from rookery.log.errors import StoreError
from rookery.log.store import Writer

LAST_LINE = 200


class Journal:
    def __init__(self, writer: Writer, chunks: Chunks) -> None:
        self.writer = writer
        self.trouble: StoreError | None = None
        self.chunks = chunks
        self._drafts: list[Draft] = []
        self._full = False
        self._last_text = ""

    def said(self, update: Json, now: float) -> None:
        """An update of the agent's, through the chunk window."""
        if update.get("sessionUpdate") == "agent_message_chunk":
            content = update.get("content")
            if isinstance(content, dict) and isinstance(content.get("text"), str):
                self._last_text = (self._last_text + content["text"])[-2 * LAST_LINE :]
        self._drafts.extend(Draft(each) for each in self.chunks.push(update, now))

    def add(self, draft: Draft, now: float, *, full: bool = False) -> None:
        """One of our own; what the agent said before comes first."""
        self.flush(now)
        update = draft.update
        if update["sessionUpdate"] == "_turn" and update["state"] == "idle":
            draft = draft._replace(update={**update, "last": self._last_line()})
            self._last_text = ""
        self._drafts.append(draft)
        self._full = self._full or full

    def flush(self, now: float) -> None:
        self._drafts.extend(Draft(each) for each in self.chunks.flush(now))

    def commit(self) -> list[Event] | None:
        """Write what waits; None: the disk did not take it, and it still waits."""
        if not self._drafts:
            return []
        try:
            events = self.writer.append(self._drafts, full=self._full)
        except StoreError as error:
            if self.trouble is None:
                with suppress(OSError):  # the worker's own log is on the same disk
                    print(f"journal: {error}", file=sys.stderr, flush=True)
            self.trouble = error
            return None
        self.trouble = None
        self._drafts, self._full = [], False
        return events

    def _last_line(self) -> str:
        lines = [line.strip() for line in self._last_text.splitlines() if line.strip()]
        return lines[-1][:LAST_LINE] if lines else ""
