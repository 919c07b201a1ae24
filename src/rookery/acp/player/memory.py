"""The player's sessions on disk: one file of lines each, written before anything is sent, so that a
player can be killed and still load everything that its client saw."""

import os
import re
import time
from collections.abc import Iterator
from typing import Any

from rookery.core.json import Json, dumps, loads
from rookery.wire import listing

SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
OVER = ("completed", "failed")


class Session:
    """One conversation. Its file holds {"session"}, {"set"}, {"turn"} and {"update"} lines."""

    def __init__(self, path: str, about: Json) -> None:
        self.about = about
        """id, cwd, additionalDirectories, created, title, mode, values (of the options)"""
        self.servers = ""
        """The names of the client's MCP servers."""
        self.turns = 0
        self.messages = 0
        self.tool_ids: set[str] = set()
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @property
    def id(self) -> str:
        return str(self.about["id"])

    @property
    def cwd(self) -> str:
        return str(self.about["cwd"])

    def set(self, **fields: Any) -> None:
        self._append({"set": fields})
        self.about.update(fields)

    def begin_turn(self) -> int:
        """Begin a turn and return its number, from 0."""
        self._append({"turn": self.turns})
        self.turns += 1
        return self.turns - 1

    def remember(self, update: Json) -> None:
        self._append({"update": update})
        self._note(update)

    def updates(self) -> Iterator[Json]:
        """Yield everything that was sent, oldest first, including a turn that never ended."""
        for line in _lines(self._path):
            if isinstance(line.get("update"), dict):
                yield line["update"]

    def new_message_id(self) -> str:
        self.messages += 1
        return f"{self.id}-m{self.messages}"

    def new_tool_id(self, wish: str | None) -> str:
        """Return an id that is unique in the session, even if a script plays the same turn
        twice."""
        number = 2 if wish else len(self.tool_ids) + 1
        tool_id = wish or f"call-{number}"
        while tool_id in self.tool_ids:
            tool_id = f"{wish or 'call'}-{number}"
            number += 1
        return tool_id

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def restore(self) -> None:
        """Read the file, up to where its writer was killed."""
        for line in _lines(self._path):
            if isinstance(line.get("set"), dict):
                self.about.update(line["set"])
            elif "turn" in line:
                self.turns += 1
            elif isinstance(line.get("update"), dict):
                self._note(line["update"])
        size = os.fstat(self._fd).st_size
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            self._write("\n")

    def _note(self, update: Json) -> None:
        if isinstance(update.get("messageId"), str):
            self.messages += 1  # at least as many as there were: new ids stay new
        if isinstance(update.get("toolCallId"), str):
            self.tool_ids.add(update["toolCallId"])

    def _append(self, line: Json) -> None:
        self._write(dumps(line) + "\n")

    def _write(self, text: str) -> None:
        if self._fd >= 0:
            os.write(self._fd, text.encode("ascii"))


class Memory:
    """The directory of the sessions' files."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        os.makedirs(directory, mode=0o700, exist_ok=True)

    def create(self, cwd: str, roots: list[str]) -> Session:
        id = f"play-{os.urandom(8).hex()}"
        about = {"id": id, "cwd": cwd, "additionalDirectories": roots, "created": time.time_ns()}
        session = Session(self._path(id), dict(about))
        session._append({"session": about})
        return session

    def open(self, id: str) -> Session | None:
        about = self._about(id)
        if about is None:
            return None
        session = Session(self._path(id), about)
        session.restore()
        return session

    def delete(self, id: str) -> None:
        if SESSION_ID.fullmatch(id) and os.path.exists(self._path(id)):
            os.unlink(self._path(id))

    def all(self) -> list[Json]:
        names = [name for name in os.listdir(self._directory) if name.endswith(".jsonl")]
        listed = [self._about(name.removesuffix(".jsonl")) for name in names]
        return [about for about in listed if about is not None]

    def _path(self, id: str) -> str:
        return os.path.join(self._directory, f"{id}.jsonl")

    def _about(self, id: str) -> Json | None:
        if not SESSION_ID.fullmatch(id) or not os.path.exists(self._path(id)):
            return None
        about: Json | None = None
        for line in _lines(self._path(id), b'{"se'):
            if isinstance(line.get("session"), dict):
                about = line["session"]
            elif about is not None and isinstance(line.get("set"), dict):
                about.update(line["set"])
        if about is not None:
            about["updated"] = os.stat(self._path(id)).st_mtime
        return about


def _lines(path: str, beginning: bytes = b"{") -> Iterator[Json]:
    with open(path, "rb") as file:
        for line in file:
            if not line.startswith(beginning):
                continue
            try:
                value = loads(line)
            except ValueError:  # the line that its writer was killed in
                continue
            if isinstance(value, dict):
                yield value


def info_of(about: Json) -> Json:
    """Return the entry of a session in the answer to session/list."""
    roots, title = about.get("additionalDirectories", []), about.get("title", "")
    return listing.info(about["id"], about["cwd"], about["updated"], title, roots)
