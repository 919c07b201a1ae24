"""Tools under the names that models have for them: `bash`, `git`, `str_replace_editor`, or an MCP
tool's short name. The SDK knows a call's real tool only at its end; what streams must match it."""

import re
from collections.abc import Mapping

from rookery.agent.translate.calls import Call
from rookery.core.json import Json

ALIASES = {
    **dict.fromkeys(("bash", "command", "execute", "execute_bash", "git", "reset"), "terminal"),
    **dict.fromkeys(("str_replace", "str_replace_editor"), "file_editor"),
}
PROGRAMS = {"git", "reset"}
"""Names of programs: their argument is the rest of the command line."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EDITS = (("old_str", "str_replace"), ("insert_line", "insert"), ("file_text", "create"))


def real(call: Call, names: Mapping[str, str]) -> Call:
    """`names`: the model's names of MCP tools, and what they stand for."""
    if call.tool in names:
        return call._replace(tool=names[call.tool])
    word = _WORD.match(call.tool)  # some models leave markup after the name
    name = word[0] if word else call.tool
    tool = ALIASES.get(name)
    if tool is None:
        return call
    given = call.arguments
    if name in PROGRAMS:
        given = _command_line(name, given, call.whole)
    elif tool == "file_editor" and "command" not in given:
        given = _edit(given, call.whole)
    return call._replace(tool=tool, arguments=given)


def _command_line(program: str, given: Json, whole: bool) -> Json:
    rest = given.get("command")
    if not rest:
        return {**given, "command": program} if whole else given
    line = str(rest)
    return {**given, "command": line if line.split()[:1] == [program] else f"{program} {line}"}


def _edit(given: Json, whole: bool) -> Json:
    """The arguments show which edit it is; that it is a view, only all of them."""
    kind = next((kind for key, kind in _EDITS if key in given), None)
    if kind is None and whole and "path" in given:
        kind = "view"
    return {"command": kind, **given} if kind else given
