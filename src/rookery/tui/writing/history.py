"""The history of prompts: one file in the home, newest last."""

import json
import os
from contextlib import suppress

from rookery.home import paths

FILE = "prompts.jsonl"
MAX_PROMPTS = 500
MAX_PROMPT_LENGTH = 20_000


class Past:
    """The earlier prompts; `older` and `newer` walk through them, starting from the current
    draft."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self._at = 0
        self._draft = ""

    def load(self, entries: list[str]) -> None:
        mine = self.entries  # written while the file was read
        self.entries = [*entries, *(each for each in mine if each not in entries)]
        self._at = len(self.entries)

    def add(self, text: str) -> None:
        if text in self.entries:
            self.entries.remove(text)
        self.entries.append(text)
        self._at, self._draft = len(self.entries), ""

    def older(self, draft: str) -> str | None:
        if not self._at:
            return None
        if self._at == len(self.entries):
            self._draft = draft
        self._at -= 1
        return self.entries[self._at]

    def newer(self) -> str | None:
        if self._at >= len(self.entries):
            return None
        self._at += 1
        return self.entries[self._at] if self._at < len(self.entries) else self._draft

    def matches(self, query: str) -> list[str]:
        """Return the prompts that contain all words of the query, newest first."""
        terms = query.lower().split()
        return [
            each for each in reversed(self.entries) if all(word in each.lower() for word in terms)
        ]


def read(home: str, cwd: str) -> list[str]:
    """Return the prompts, oldest first; those of other directories come before those of this
    one."""
    here: dict[str, None] = {}
    elsewhere: dict[str, None] = {}
    with suppress(OSError), open(os.path.join(home, FILE), encoding="utf-8") as file:
        for line in file:
            try:
                entry = json.loads(line)
                text, place = entry["text"], entry["cwd"]
            except (ValueError, KeyError, TypeError):
                continue  # cut off
            if isinstance(text, str):
                kept = here if place == cwd else elsewhere
                kept.pop(text, None)
                kept[text] = None
    others = [text for text in elsewhere if text not in here]
    return [*others[-MAX_PROMPTS:], *list(here)[-MAX_PROMPTS:]]


def keep(home: str, cwd: str, text: str) -> None:
    """Append a prompt; if the file is large, only its end is kept."""
    path = os.path.join(home, FILE)
    with suppress(OSError):
        paths.append_line(path, json.dumps({"cwd": cwd, "text": text[:MAX_PROMPT_LENGTH]}))
        if os.path.getsize(path) > 4_000_000:
            with open(path, "rb") as grown:
                lines = grown.read().splitlines(keepends=True)
            paths.write_atomic(path, b"".join(lines[-2 * MAX_PROMPTS :]), 0o600)
