"""A tool call in ACP's terms: title, kind, locations, input, and what it would do. Also under the
name that a model has for its tool: `bash`, `git`, `str_replace_editor`, or an MCP tool's short
name. The SDK knows a call's real tool only at its end; what streams must match it."""

import itertools
import json
import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from rookery.agent.translate import content, patches
from rookery.core.json import Json
from rookery.core.policy import danger

LONGEST_TITLE = 200
LONGEST_INPUT = 400_000
ASIDE = {"security_risk", "summary", "kind"}
"""Arguments that the SDK adds to every call."""

EDITORS = {"file_editor", "planning_file_editor", "str_replace_editor"}
TERMINALS = {"terminal", "execute_bash", "bash"}
SEARCHES = {"grep", "glob"}
PATCH = "apply_patch"
SUB_AGENTS = {"task", "delegate", "workflow", "start_child_conversation"}
SUB_AGENT_ID = ":subagent:"
"""Between a session's id and that of the action that started a sub-agent: a client cancels the
sub-agent by it."""
PLANS = {"task_tracker"}
SPOKEN = {"think": "thought", "finish": "message"}
"""Tools that are a way of speaking, and the argument with the words."""

_VERBS = {
    "view": "view",
    "create": "create",
    "str_replace": "edit",
    "insert": "edit",
    "undo_edit": "undo the last edit of",
}


class Call(NamedTuple):
    """A tool's name and its arguments so far."""

    tool: str
    arguments: Json
    cwd: str
    whole: bool = True
    """No more arguments will come."""

    def kind(self) -> str:
        if self.tool in EDITORS and self.arguments.get("command") == "view":
            return "read"
        if self.tool == PATCH and (verbs := {file.verb for file in self._files()}):
            [verb, *more] = verbs
            return verb if verb in ("delete", "move") and not more else "edit"
        return _KINDS.get(self.tool) or ("fetch" if self.tool.startswith("browser") else "other")

    def title(self) -> str:
        return _line(self._label()) or self.tool

    def _label(self) -> str:
        given = self.arguments
        if self.tool in TERMINALS:
            if given.get("reset") and not given.get("command"):
                return "reset the terminal"
            if not given.get("command"):
                return "wait for the running command" if "command" in given else "run a command"
            return f"{'type' if given.get('is_input') else 'run'} {given['command']}"
        if self.tool in EDITORS:
            verb = _VERBS.get(str(given.get("command")), "edit")
            return f"{verb} {self.near(_text(given, 'path') or 'a file')}"
        if self.tool == PATCH:
            return self._patch_words()
        if self.tool in PLANS:
            return "look at the plan" if given.get("command") == "view" else "update the plan"
        for key, label in _TITLES.get(self.tool, ()):
            if value := _text(given, key):
                return f"{label} {self.near(value) if 'path' in key else value}"
        if self.tool.startswith("browser"):
            what = self.tool.removeprefix("browser").strip("_").replace("_", " ")
            return f"browser: {what} {_text(given, 'url')}".rstrip()
        if self.tool.startswith("mcp__"):
            return ": ".join(self.tool.removeprefix("mcp__").split("__", 1))
        return self.tool

    def _files(self) -> list[patches.File]:
        return patches.read(_text(self.arguments, "patch"))

    def _patch_words(self) -> str:
        files = self._files()
        if not files:
            return "apply a patch"
        first, more = files[0], len(files) - 1
        rest = f" and {more} more file{'s' * (more > 1)}" if more else ""
        to = f" to {self.near(first.moved)}" if first.moved else ""
        return f"{first.verb} {self.near(first.path)}{to}{rest}"

    def near(self, path: str) -> str:
        """Return a path, relative if inside the session's directory."""
        whole = self.absolute(path)
        inside = os.path.relpath(whole, self.cwd) if whole.startswith("/") else whole
        return whole if inside.startswith("..") else inside

    def absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.cwd, os.path.expanduser(path)))

    def locations(self) -> list[Json]:
        given = self.arguments
        if self.tool == PATCH:
            named = patches.paths_in(_text(given, "patch"))
            return [{"path": self.absolute(path)} for path in named]
        path = _text(given, "path", "file_path", "directory", "dir_path")
        if self.tool == "glob" and (led := _led_to(_text(given, "pattern"))):
            path = os.path.join(path, led)
        if not path and (url := _text(given, "url")).startswith("file:"):
            path = unquote(urlsplit(url).path)
        span = given.get("view_range")
        line = span[0] if isinstance(span, list) and span else given.get("insert_line")
        if self.tool == "read_file" and type(given.get("offset")) is int:
            line = given["offset"] + 1
        place: Json = {"path": self.absolute(path)} if path else {}
        if place and type(line) is int and line >= 1:
            place["line"] = line
        return [place] if place else []

    def raw_input(self) -> Json:
        given = {
            key: value
            for key, value in self.arguments.items()
            if key not in ASIDE and value is not None
        }
        if len(json.dumps(given, default=str)) <= LONGEST_INPUT:
            return given
        # A command keeps enough for its judge to see that there was more.
        return {
            key: value[: danger.MAX_LINE_LENGTH]
            if key in danger.TEXT_KEYS and isinstance(value, str)
            else content.shortened(value, 50_000)
            if isinstance(value, str)
            else value
            for key, value in given.items()
            if isinstance(value, str | int | float | bool)
        }

    def proposal(self) -> list[Json]:
        """Return what the call would do: the command, or the edit as a diff."""
        given = self.arguments
        if self.tool in TERMINALS:
            command = _text(given, "command")
            return [content.fenced(command, "sh")] if command else []
        path = _text(given, "path", "file_path")
        if path and (change := self._change(self.absolute(path))):
            return [change]
        if self.tool == PATCH:
            return self._patch_changes()
        if self.tool in SUB_AGENTS and (task := _text(given, "prompt", "task")):
            return [content.shown(task)]
        return []

    def _patch_changes(self) -> list[Json]:
        """Return a patch's changes in the form of the other editors' edits."""
        edits = [change for file in self._files() for change in file.changes]
        if not edits:
            patch = _text(self.arguments, "patch")
            return [content.fenced(patch, "diff")] if patch else []
        changes = []
        for path, old, new in edits:
            place = self.absolute(path)
            before = content.now(place) if old is None or new is None else old
            changes.append(content.diff(place, before, new or ""))
        return changes

    def _change(self, path: str) -> Json | None:
        """Return the edit, once its texts are known: half of it would look like another one."""
        given = self.arguments
        new = _text(given, "new_str", "new_string")
        match given.get("command"):
            case "create" if "file_text" in given:
                return content.diff(path, None, _text(given, "file_text"))
            case "str_replace" if _text(given, "old_str") and ("new_str" in given or self.whole):
                return content.diff(path, _text(given, "old_str"), new)
            case "insert" if new:
                return self._insertion(path, new)
            case None if self.tool == "edit" and ("new_string" in given):
                return content.diff(path, _text(given, "old_string") or None, new)
            case None if self.tool == "write_file" and "content" in given:
                return content.diff(path, content.now(path), _text(given, "content"))
        return None

    def _insertion(self, path: str, new: str) -> Json:
        """Return an insertion as a change of the whole file, so that its place is visible."""
        before, at = content.now(path), self.arguments.get("insert_line")
        if before is None or type(at) is not int or not 0 <= at <= before.count("\n") + 1:
            return content.fenced(new)
        lines = before.splitlines(keepends=True)
        head = "".join(lines[:at])
        head += "" if not head or head.endswith("\n") else "\n"
        after = "".join(lines[at:])
        return content.diff(path, before, f"{head}{new.removesuffix(chr(10))}\n{after}")


_KINDS = {
    **dict.fromkeys(TERMINALS, "execute"),
    **dict.fromkeys(PLANS, "think"),
    **dict.fromkeys(SEARCHES, "search"),
    **dict.fromkeys((*EDITORS, "edit", "write_file", PATCH), "edit"),
    **dict.fromkeys(("read_file", "list_directory"), "read"),
    **dict.fromkeys(("web_fetch", "web_search"), "fetch"),
}

_TITLES: dict[str, tuple[tuple[str, str], ...]] = {
    "grep": (("pattern", "search for"),),
    "glob": (("pattern", "find files"),),
    "task": (("description", "task:"), ("prompt", "task:")),
    "delegate": (("command", "sub-agents:"),),
    "workflow": (("description", "workflow:"), ("name", "workflow:")),
    "start_child_conversation": (("title", "child conversation:"), ("task", "child conversation:")),
    "edit": (("file_path", "edit"),),
    "write_file": (("file_path", "write"),),
    "read_file": (("file_path", "view"),),
    "list_directory": (("dir_path", "list"),),
    "invoke_skill": (("name", "use the skill"),),
    "web_fetch": (("url", "fetch"),),
    "web_search": (("search_query", "search the web for"),),
}


def ready(call: Call) -> bool:
    """Tell whether enough is known for a title that will not change."""
    needed = NEEDED.get(call.tool)
    return needed is None or all(key in call.arguments for key in needed)


NEEDED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(TERMINALS, ("command",)),
    **dict.fromkeys(EDITORS, ("command", "path")),
    **dict.fromkeys(SEARCHES, ("pattern",)),
    **dict.fromkeys(("edit", "write_file", "read_file"), ("file_path",)),
    "list_directory": ("dir_path",),
    PATCH: ("patch",),
    "web_fetch": ("url",),
    "web_search": ("search_query",),
}


def of_event(event: Any, cwd: str) -> Call:
    """Build the call of an ActionEvent, from what the model sent, else from the SDK's action."""
    sent = parse(event.tool_call.arguments)
    if set(sent) == {"arguments"} and event.action is not None:
        dumped = content.dump(event.action)
        sent = dumped if isinstance(dumped, dict) else {}
    return Call(event.tool_name, sent, cwd)


def parse(arguments: Any) -> Json:
    try:
        parsed = json.loads(arguments, strict=False)
    except (ValueError, TypeError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        return parsed
    return {"arguments": str(arguments)} if arguments else {}


def _text(given: Json, *keys: str) -> str:
    for key in keys:
        if isinstance(value := given.get(key), str) and value:
            return value
    return ""


def _led_to(pattern: str) -> str:
    """Return where a pattern leads that does not stay below its directory; "" if it stays."""
    if not pattern.startswith(("/", "~")) and ".." not in pattern.split("/"):
        return ""
    whole = itertools.takewhile(lambda part: not _WILD.search(part), pattern.split("/"))
    return "/".join(whole) or "/"


def _line(text: str) -> str:
    """Return the first line that is not blank, cut to a title's length."""
    first, *more = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    if len(first) > LONGEST_TITLE:
        return first[: LONGEST_TITLE - 1] + "…"
    return first + " …" if more else first


ALIASES = {
    **dict.fromkeys(("bash", "command", "execute", "execute_bash", "git", "reset"), "terminal"),
    **dict.fromkeys(("str_replace", "str_replace_editor"), "file_editor"),
}
PROGRAMS = {"git", "reset"}
"""Names of programs: their argument is the rest of the command line."""

_WILD = re.compile(r"[*?\[{]")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EDITS = (("old_str", "str_replace"), ("insert_line", "insert"), ("file_text", "create"))


def real(call: Call, names: Mapping[str, str]) -> Call:
    """Resolve the tool's name. `names`: the model's names of MCP tools, and their meanings."""
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
    """Infer the kind of edit from the arguments; that it is a view, only from all of them."""
    kind = next((kind for key, kind in _EDITS if key in given), None)
    if kind is None and whole and "path" in given:
        kind = "view"
    return {"command": kind, **given} if kind else given
