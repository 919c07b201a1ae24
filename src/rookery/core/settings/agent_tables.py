"""The table `[agents.NAME]` of config.toml: an agent's command, environment and MCP servers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rookery.core.json import Json
from rookery.core.policy.rule_tables import Fault

KEYS = ("command", "confined", "env", "mcp")

type McpChoice = bool | tuple[str, ...]
"""Every MCP server, none, or those with these names."""


class Extras(NamedTuple):
    """What the table says besides the command."""

    env: Mapping[str, str] = MappingProxyType({})
    """Overrides the environment of its sessions."""
    mcp: McpChoice | None = None
    """None: its profile decides."""

    def plain(self) -> Json:
        """As JSON, for the record of what was confirmed."""
        mcp = list(self.mcp) if isinstance(self.mcp, tuple) else self.mcp
        return {"env": dict(self.env), "mcp": mcp}


def fault_of(table: Json) -> Fault | None:
    """What is wrong with a table, if anything."""
    if not isinstance(table.get("confined", True), bool):
        return Fault("confined", "must be true or false")
    env = table.get("env", {})
    if not isinstance(env, dict) or not all(_is_variable(*each) for each in env.items()):
        return Fault("env", 'must be a table of strings, for example { KEY = "value" }')
    mcp = table.get("mcp", True)
    named = isinstance(mcp, list) and all(isinstance(name, str) for name in mcp)
    if not isinstance(mcp, bool) and not named:
        return Fault("mcp", "must be true, false, or a list of MCP server names")
    if (table and "command" not in table) or _is_command(table.get("command")):
        return None
    wanted = 'must be a list of strings, for example ["my-agent", "--acp"]'
    return Fault("command", wanted) if "command" in table else Fault("", f"command {wanted}")


def extras_of(table: Json) -> Extras:
    mcp = table.get("mcp")
    return Extras(dict(table.get("env", {})), tuple(mcp) if isinstance(mcp, list) else mcp)


def extras_from(plain: object) -> Extras:
    """The inverse of `plain`."""
    return extras_of(plain) if isinstance(plain, dict) else Extras()


def _is_command(words: object) -> bool:
    if not isinstance(words, list) or not words:
        return False
    return all(isinstance(word, str) for word in words) and bool(words[0].strip())


def _is_variable(name: object, value: object) -> bool:
    texts = isinstance(name, str) and isinstance(value, str)
    return texts and bool(name) and "=" not in str(name) and "\0" not in f"{name}{value}"
