"""The names of MCP tools: `mcp__server__tool` for the model, as for rules and the user.

A name follows from the server and the tool alone, so it depends neither on which server answers
first nor on what the others offer. It is changed, by a digest that is the same everywhere, only if
a provider would refuse it or two tools could share it.

The names that a conversation has used are stored beside it. Earlier builds gave the model the plain
name if it was free: their conversations keep those."""

import hashlib
import itertools
import json
import os
import re
import shutil
import threading
from collections.abc import Collection, Iterator

from rookery.home import paths

FILE = "mcp_tools.json"
MAX_NAME_LENGTH = 64
"""Characters that every provider accepts."""
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def whole(server: str, tool: str) -> str:
    """Return a tool's name as rules use it."""
    return f"mcp__{server}__{tool}"


def read(folder: str) -> dict[str, str]:
    """Return the model's names, and what each stands for."""
    names = paths.read_json(os.path.join(folder, FILE)) or {}
    return {name: tool for name, tool in names.items() if isinstance(tool, str)}


def copy(source: str, target: str) -> None:
    """Copy the names to a fork, which has the same calls."""
    if os.path.exists(os.path.join(source, FILE)):
        shutil.copy2(os.path.join(source, FILE), os.path.join(target, FILE))


class Names:
    """The tool names of one conversation."""

    def __init__(self, folder: str) -> None:
        self.meaning = read(folder)
        """What each of the model's names stands for. A live table."""
        self._owners: dict[str, tuple[str, str]] = {}
        self._folder = folder
        self._lock = threading.Lock()

    def give(
        self, server: str, tools: Collection[str], taken: Collection[str] = ()
    ) -> dict[str, str]:
        """Return the model's name for each tool of a server. `taken`: names of other tools."""
        with self._lock:
            before = len(self.meaning)
            given = {tool: self._give(server, tool, taken) for tool in tools}
            if len(self.meaning) != before:
                path = os.path.join(self._folder, FILE)
                paths.write_atomic(path, json.dumps(self.meaning).encode())
            return given

    def given(self, server: str) -> list[str]:
        """Return the model's names for the tools of a server that has answered."""
        with self._lock:
            return [name for name, (owner, _) in self._owners.items() if owner == server]

    def _give(self, server: str, tool: str, taken: Collection[str]) -> str:
        meant, owner = whole(server, tool), (server, tool)
        names = _names_of(server, tool)
        first = next(names)
        kept = [name for name, means in self.meaning.items() if means == meant]
        kept.sort(key=lambda name: (name != first, name != tool))
        for name in itertools.chain(kept, (first,), names):
            free = name not in taken and self._owners.get(name, owner) == owner
            if free and self.meaning.get(name, meant) == meant:
                self.meaning[name], self._owners[name] = meant, owner
                return name
        raise AssertionError("digests do not end")


def _names_of(server: str, tool: str) -> Iterator[str]:
    """Yield the possible names, best first. A long name keeps its end, which says most."""
    meant = whole(server, tool)
    plain = _FOREIGN.sub("_", meant)
    is_unclear = "__" in server or server.endswith("_")  # where the tool's name begins
    if plain == meant and len(plain) <= MAX_NAME_LENGTH and not is_unclear:
        yield plain
    for n in itertools.count():
        about = json.dumps([server, tool, n]).encode()
        digest = hashlib.sha256(about).hexdigest()[:8]
        yield f"mcp__{plain.removeprefix('mcp__')[-(MAX_NAME_LENGTH - 14) :]}_{digest}"
