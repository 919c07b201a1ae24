"""The conversations on disk, read without the SDK: a directory each, with the SDK's events and a
small record of ours."""

import json
import os
import re
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

from rookery.core.json import Json, lenient
from rookery.home import paths
from rookery.log.lock import Lock
from rookery.models.secrets import KNOWN
from rookery.wire import listing

RECORD = "session.json"
STATE = "base_state.json"
LOCK = "lock"
EVENTS = "events"
UNFINISHED = ".tmp"
TITLE = 80
"""Characters."""


def directory_of(environment: Mapping[str, str]) -> str:
    """Return where conversations are stored: in the home, or where the user wants them."""
    moved = environment.get("ROOKERY_CONVERSATIONS")
    return (
        os.path.abspath(os.path.expanduser(moved))
        if moved
        else os.path.join(paths.home(), "conversations")
    )


def new_id() -> str:
    return uuid.uuid4().hex


def known_form(text: str) -> str | None:
    """Return an id in the form of its directory's name; None if it is not an id."""
    plain = text.replace("-", "").lower()
    return plain if re.fullmatch(r"[0-9a-f]{32}", plain) else None


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Record(NamedTuple):
    """Our own record of a conversation, besides the SDK's files."""

    id: str
    cwd: str
    roots: tuple[str, ...] = ()
    title: str = ""
    updated: str = ""
    choices: Mapping[str, Any] = {}
    prompted: bool = False
    """Only then it is worth keeping."""
    granted: tuple[str, ...] = ()
    """Actions that were allowed while others of the same step still wait: not asked twice."""
    before_plan: str = ""
    """The mode that plan mode replaced."""
    told_plan: bool = False
    """The model knows that it is in plan mode."""
    goal: Mapping[str, Any] = {}
    """Pursued when the process ended: its objective, and its rounds so far."""
    remote: Mapping[str, Any] = {}
    """Where the conversation runs, if elsewhere (`process.place`)."""

    @classmethod
    def of(cls, id: str, value: Json) -> Self:
        """Build a record from JSON. Missing and invalid fields get their defaults."""
        return cls(
            id,
            str(value.get("cwd") or "/"),
            tuple(map(str, lenient.sequence(value, "roots"))),
            str(value.get("title") or ""),
            str(value.get("updated") or ""),
            lenient.mapping(value, "choices"),
            lenient.flag(value, "prompted"),
            tuple(map(str, lenient.sequence(value, "granted"))),
            lenient.text(value, "before_plan"),
            lenient.flag(value, "told_plan"),
            lenient.mapping(value, "goal"),
            lenient.mapping(value, "remote"),
        )

    def entry(self) -> Json:
        """Return the entry for session/list."""
        return listing.info(self.id, self.cwd, self.updated, self.title, self.roots)


class Store:
    def __init__(self, directory: str) -> None:
        self.directory = directory

    def folder(self, id: str) -> str:
        return os.path.join(self.directory, id)

    def make(self, record: Record) -> Lock:
        """Create a conversation's directory, private to this user, and lock it."""
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        os.mkdir(self.folder(record.id), 0o700)
        lock = self.hold(record.id)
        self.write(record)
        return lock

    def hold(self, id: str) -> Lock:
        """Lock a conversation: only one process writes to it. Raises log.lock.Busy."""
        lock = Lock.acquire(os.path.join(self.folder(id), LOCK))
        self._clear_unfinished(id)
        return lock

    def _clear_unfinished(self, id: str) -> None:
        """Remove files whose writing a kill interrupted."""
        for place in (self.folder(id), os.path.join(self.folder(id), EVENTS)):
            with suppress(OSError):
                for name in os.listdir(place):
                    if name.endswith(UNFINISHED):
                        os.unlink(os.path.join(place, name))

    def write(self, record: Record) -> None:
        data = record._asdict()
        del data["id"]
        path = os.path.join(self.folder(record.id), RECORD)
        paths.write_atomic(path, KNOWN.text(json.dumps(data, ensure_ascii=False)).encode())

    def read(self, text: str) -> Record | None:
        """Return a record; None: no such conversation. Another SDK program's counts, too."""
        id = known_form(text) or "-"
        folder = self.folder(id)
        stored = paths.read_json(os.path.join(folder, RECORD))
        is_away = bool(lenient.mapping(stored, "remote"))
        if not is_away and not os.path.isfile(os.path.join(folder, STATE)):
            return None
        if stored is not None:
            return Record.of(id, stored)
        return self._adopted(id, paths.read_json(os.path.join(folder, STATE)) or {})

    def _adopted(self, id: str, state: Json) -> Record:
        """Return a record for a conversation that another SDK program wrote."""
        workspace = state.get("workspace")
        cwd = workspace.get("working_dir") if isinstance(workspace, dict) else None
        changed = os.stat(os.path.join(self.folder(id), STATE)).st_mtime
        when = datetime.fromtimestamp(changed, UTC).isoformat(timespec="milliseconds")
        cwd = cwd if isinstance(cwd, str) and os.path.isabs(cwd) else "/"
        return Record(id, cwd, updated=when.replace("+00:00", "Z"), prompted=True)

    def all(self) -> list[Record]:
        """Return all records, newest first, without those that never had a prompt."""
        try:
            names = os.listdir(self.directory)
        except FileNotFoundError:
            return []
        records = [self.read(name) for name in names if known_form(name) == name]
        worth = [record for record in records if record is not None and record.prompted]
        return sorted(worth, key=lambda record: (record.updated, record.id), reverse=True)

    def delete(self, id: str) -> None:
        shutil.rmtree(self.folder(id), ignore_errors=True)


def title_of(text: str) -> str:
    """Return the first line of a first message, cut at a word."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= TITLE:
        return line
    cut = line[: TITLE - 1].rsplit(" ", 1)[0]
    return f"{cut or line[: TITLE - 1]}…"
