"""What a tool is called: by what rules match it and an ask names it, which is not always what its
agent shows. Of an MCP server's tool the name is the only thing that does not change."""

import json

from rookery.core.json import Json, lenient

MCP = "mcp__"
"""What the names of tools from MCP servers begin with: `mcp__server__tool`."""

_KEYS = ("toolName", "tool_name")
_CODEX = frozenset({"server", "tool", "arguments"})
LONGEST = 1_000_000
"""Characters of an input that is JSON in a text and read as that."""


def name_of(call: Json) -> str:
    """In the call itself, in `_meta` (qwen, vibe, or claude in a space of its own), or of two words
    in the input (codex); "": it has none."""
    meta = lenient.mapping(call, "_meta")
    named = [lenient.text(call, "name"), *(lenient.text(meta, key) for key in _KEYS)]
    named += [lenient.text(space, "toolName") for space in meta.values()]
    return next((name for name in named if name), "") or _of_server(call)


def _of_server(call: Json) -> str:
    """Where the input is the whole of an MCP call. What a model may write into its arguments is no
    name: nothing else may stand beside them, and the agent says that it is such a call."""
    raw, meta = lenient.mapping(call, "rawInput"), lenient.mapping(call, "_meta")
    server, tool = lenient.text(raw, "server"), lenient.text(raw, "tool")
    if not server or not tool or set(raw) != _CODEX:
        return ""
    said = lenient.text(call, "title") == f"mcp.{server}.{tool}"
    return f"{MCP}{server}__{tool}" if said or lenient.flag(meta, "is_mcp_tool_call") else ""


def is_codex_mcp(call: Json) -> bool:
    """Whether a call is an MCP server's tool that codex announces as something to run."""
    return lenient.text(call, "title").startswith("mcp.") and bool(_of_server(call))


def is_bare(title: str) -> bool:
    """Whether a title is nothing but a call's arguments, as in an ask of qwen's."""
    return title.startswith("{") and title.endswith("}")


def arguments_of(call: Json) -> Json:
    """A call of an MCP server's tool with what the tool itself is given as its input."""
    raw = lenient.mapping(call, "rawInput")
    inner = raw.get("arguments")
    if set(raw) == _CODEX and isinstance(inner, dict) and _of_server({**call, "name": ""}):
        return {**call, "rawInput": inner}
    return call


def readable(call: Json) -> Json:
    """A call whose input is JSON in a text (vibe), as if it were the object."""
    found = _object(call.get("rawInput"))
    return call if found is None else {**call, "rawInput": found}


def written_input(call: Json) -> Json | None:
    """The input that stands in a call's content, where its model has written the whole of it (kimi
    asks before it says `rawInput`)."""
    content = lenient.sequence(call, "content")
    if len(content) != 1 or call.get("rawInput") is not None:
        return None
    return _object(lenient.text(lenient.mapping(content[0], "content"), "text"))


def _object(text: object) -> Json | None:
    if not isinstance(text, str) or not text.startswith("{") or len(text) > LONGEST:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
