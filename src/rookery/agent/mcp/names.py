"""The names of MCP tools: the server's own for the model, with a prefix if that is taken; for rules
and the user always `mcp__server__tool`. Kept beside the conversation, so that a name means the same
tool after a load, whichever server answers first."""

import json
import os
import re
import shutil
import threading
from collections.abc import Collection, Mapping

from rookery.home import paths

FILE = "mcp_tools.json"
LONGEST = 64
"""Characters that every provider accepts."""
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def whole(server: str, tool: str) -> str:
    """As rules name it."""
    return f"mcp__{server}__{tool}"


def read(folder: str) -> dict[str, str]:
    """The model's names, and what each stands for."""
    found = paths.read_json(os.path.join(folder, FILE)) or {}
    return {name: tool for name, tool in found.items() if isinstance(tool, str)}


def copy(source: str, target: str) -> None:
    """With a fork, which has the same calls."""
    if os.path.exists(os.path.join(source, FILE)):
        shutil.copy2(os.path.join(source, FILE), os.path.join(target, FILE))


class Names:
    """Of one conversation. `reserved`: names with another meaning."""

    def __init__(self, folder: str, reserved: Collection[str] = ()) -> None:
        self.meaning = read(folder)
        """What each of the model's names stands for. A live table."""
        self._folder = folder
        self._reserved = frozenset(reserved)
        self._lock = threading.Lock()

    def give(
        self, tools: Mapping[str, Collection[str]], taken: Collection[str]
    ) -> dict[tuple[str, str], str]:
        """The model's name for each tool of servers that connect together. If two share a name,
        both get the prefix. `taken`: names of other tools."""
        with self._lock:
            before = dict(self.meaning)
            given = {
                (server, tool): self._give(server, tool, tools, taken)
                for server, names in tools.items()
                for tool in names
            }
            if self.meaning != before:
                path = os.path.join(self._folder, FILE)
                paths.write_atomic(path, json.dumps(self.meaning).encode())
            return given

    def _give(
        self, server: str, tool: str, tools: Mapping[str, Collection[str]], taken: Collection[str]
    ) -> str:
        meant = whole(server, tool)
        known = [name for name, means in self.meaning.items() if means == meant]
        if known and known[0] not in taken:
            return known[0]
        twice = sum(tool in names for names in tools.values()) > 1
        fits = 0 < len(tool) <= LONGEST and not _FOREIGN.search(tool)
        prefixed = _prefixed(meant)
        numbered = [f"{prefixed[:60]}_{n}" for n in range(100)]
        for name in (tool if fits and not twice else prefixed, prefixed, *numbered):
            if name not in taken and name not in self._reserved and name not in self.meaning:
                self.meaning[name] = meant
                return name
        raise ValueError(f"no name is left for {meant}")


def _prefixed(meant: str) -> str:
    """Short enough for providers; a long name keeps its end, which says most."""
    plain = _FOREIGN.sub("_", meant)
    return plain if len(plain) <= LONGEST else f"mcp__{plain[-(LONGEST - 5) :]}"
