"""The name of a tool, by which rules match it and an ask shows it; it is not always what its agent
displays. For an MCP server's tool the name is the only thing that does not change."""

import json

from rookery.core.json import Json, lenient

MCP = "mcp__"
"""The prefix of the names of tools from MCP servers: `mcp__server__tool`."""

_KEYS = ("toolName", "tool_name")
_CODEX = frozenset({"server", "tool", "arguments"})
MAX_JSON_LENGTH = 1_000_000
"""The longest input, in characters, that is JSON in a string and parsed as such."""


def name_of(call: Json) -> str:
    """Return the name from the call itself, from `_meta` (qwen, vibe, and claude in its own
    namespace), or from two fields of the input (codex); "" if it has none."""
    meta = lenient.mapping(call, "_meta")
    named = [lenient.text(call, "name"), *(lenient.text(meta, key) for key in _KEYS)]
    named += [lenient.text(space, "toolName") for space in meta.values()]
    return next((name for name in named if name), "") or _of_server(call)


def _of_server(call: Json) -> str:
    """Return the name if the input is the whole of an MCP call. Text that a model may write into
    its arguments is no name: nothing else may be beside them, and the agent must say that it is
    such a call."""
    raw, meta = lenient.mapping(call, "rawInput"), lenient.mapping(call, "_meta")
    server, tool = lenient.text(raw, "server"), lenient.text(raw, "tool")
    if not server or not tool or set(raw) != _CODEX:
        return ""
    is_titled = lenient.text(call, "title") == f"mcp.{server}.{tool}"
    return f"{MCP}{server}__{tool}" if is_titled or lenient.flag(meta, "is_mcp_tool_call") else ""


def is_codex_mcp(call: Json) -> bool:
    """Return whether a call is an MCP server's tool that codex announces as a command to run."""
    return lenient.text(call, "title").startswith("mcp.") and bool(_of_server(call))


def is_bare(title: str) -> bool:
    """Return whether a title is nothing but a call's arguments, as in qwen's asks."""
    return title.startswith("{") and title.endswith("}")


def arguments_of(call: Json) -> Json:
    """Return a call of an MCP server's tool, with the tool's own arguments as its input."""
    raw = lenient.mapping(call, "rawInput")
    inner = raw.get("arguments")
    if set(raw) == _CODEX and isinstance(inner, dict) and _of_server({**call, "name": ""}):
        return {**call, "rawInput": inner}
    return call


def readable(call: Json) -> Json:
    """Return a call whose input is JSON in a string (vibe) as if the input were the object."""
    parsed = _object(call.get("rawInput"))
    return call if parsed is None else {**call, "rawInput": parsed}


def written_input(call: Json) -> Json | None:
    """Return the input from a call's content, if its model has written all of it there (kimi asks
    before it sends `rawInput`)."""
    content = lenient.sequence(call, "content")
    if len(content) != 1 or call.get("rawInput") is not None:
        return None
    return _object(lenient.text(lenient.mapping(content[0], "content"), "text"))


def _object(text: object) -> Json | None:
    if not isinstance(text, str) or not text.startswith("{") or len(text) > MAX_JSON_LENGTH:
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
