"""The full content of an ask: the commands, paths, changes and arguments that the user judges, not
what the agent calls them. The worker writes it into the `_ask` event as `does`; for an older log's
ask without it, it is derived from the call that the ask carries.

An item: `what` (command, path, address, tool, input, plan, diff), `text` (whole, with nothing
invisible), `call` (whose), `kind` (of that call), `removed` (invisible letters); a diff has `path`,
`old`, `new` and `line` instead of a text."""

from collections.abc import Iterable, Sequence
from typing import Any

from rookery.core.blocks.parts import diffs
from rookery.core.command_line.syntax import line_of
from rookery.core.json import Json, lenient, safe_text
from rookery.core.json.events import dumps_short
from rookery.core.policy import call_input, danger, go_asks
from rookery.core.tools.calls import key_of
from rookery.core.tools.names import MCP, arguments_of, name_of

_QUIET = frozenset(
    (
        *("description", "explanation", "justification", "reason", "summary", "timeout"),
        *("timeoutms", "timeoutseconds", "securityrisk", "kind"),
    )
)
"""Beside a command: the agent's words about it, and what changes nothing of what it does."""
_ADDRESS = ("url", "uri", "href", "address")
_PATCH = ("diff", "patch", "unified_diff", "unifiedDiff")
_CONTENT = frozenset(
    (
        *("content", "contents", "text", "filetext", "oldstring", "newstring", "oldstr", "newstr"),
        *("oldtext", "newtext", "old", "new", "replacement"),
    )
)
"""Arguments that a diff shows."""
_LONGEST = 500
"""Characters of a title."""
_VERBS = ("create", "write", "edit", "insert", "str_replace", "replace", "view", "read")
"""Commands of an editor tool's `command` argument: beside a diff they add nothing."""


def of(calls: Iterable[Json], cwd: str, roots: Sequence[str], home: str) -> list[Json]:
    """Return the items of the calls that an ask stands for."""
    return [item for call in calls for item in _of_call(call, (cwd, *roots), home)]


def _of_call(call: Json, roots: tuple[str, ...], home: str) -> list[Json]:
    changes, name = diffs(call), name_of(call)
    base = {"call": key_of(call), "kind": lenient.text(call, "kind", "other")[:40]}
    if name.startswith(MCP):
        rest = _rest(arguments_of(call), [], roots, frozenset())
        entries = [("tool", name), *([("input", rest)] if rest else [])]
        return [_item(what, text, base) for what, text in entries] + changes
    plan = lenient.text(call.get("rawInput"), "plan").strip()
    if plan and go_asks.is_one(base["kind"], (name,)):
        return [_item("tool", name or go_asks.THEIR_TOOL, base), _item("plan", plan, base)]
    lines = call_input.lines(call)
    paths = dict.fromkeys(map(danger.normal, danger.paths_of(call, roots, home)))
    addresses = _addresses(call) if not lines and not paths else []
    entries = [("command", line) for line in lines]
    if not lines and paths:
        entries.append(("path", "\n".join(path.replace("\n", "␊") for path in paths)))
    entries += [("address", each) for each in addresses]
    quiet = _QUIET if lines else frozenset()
    rest = _rest(call, [*lines, *paths, *addresses], roots, quiet)
    if not entries and not changes and (named := name or _server_tool(call)):
        entries.append(("tool", named))
    if rest:
        entries.append(("input", rest))
    return [_item(what, text, base) for what, text in entries] + changes


def _server_tool(call: Json) -> str:
    """Return the title as the tool's name: gemini names the tool of an MCP server nowhere else. It
    is enough to show, but too little for rules to match."""
    title = lenient.text(call, "title")
    return title[:_LONGEST] if title.endswith(" MCP Server)") else ""


def _item(what: str, text: str, base: Json) -> Json:
    shown = safe_text.shown(text)
    item = {"what": what, "text": shown.text, **base}
    return item | ({"removed": shown.removed} if shown.removed else {})


def _addresses(call: Json) -> list[str]:
    raw = lenient.mapping(call, "rawInput")
    return [raw[key] for key in _ADDRESS if lenient.text(raw, key).strip()]


# --- arguments ---------------------------------------------------------------------------------


def _rest(call: Json, shown: list[str], roots: tuple[str, ...], quiet: frozenset[str]) -> str:
    """Return the arguments that nothing else in the ask shows."""
    raw = call.get("rawInput")
    if not isinstance(raw, dict):
        text = raw if isinstance(raw, str) else "" if raw is None else dumps_short(raw)
        is_argv = isinstance(raw, list) and all(isinstance(each, str) for each in raw)
        return "" if text in ("", *shown) or is_argv else text
    seen = _Seen(shown, call, roots)
    arguments = []
    for key, value in raw.items():
        if value in (None, False, "", [], {}) or _plain(key) in quiet or seen.is_said(key, value):
            continue
        arguments.append(_argument(key, value))
    return "\n".join(arguments)


def _line(tokens: list[Any]) -> str:
    return line_of([word for word in tokens if isinstance(word, str)])


class _Seen:
    """The parts of an input that the ask shows elsewhere: in `shown`, or in a change."""

    def __init__(self, shown: list[str], call: Json, roots: tuple[str, ...]) -> None:
        self._shown = shown
        self._roots = roots
        self._reads = lenient.text(call, "kind") == "read"
        content = lenient.mappings(call, "content")
        texts = [(lenient.text(part, "oldText"), lenient.text(part, "newText")) for part in content]
        self._old = "\n".join(old for old, _ in texts)
        self._new = "\n".join(new for _, new in texts)

    def is_said(self, key: str, value: Any) -> bool:
        match value:
            case str():
                return self._is_text_said(key, value)
            case dict():
                return bool(value) and all(self.is_said(*pair) for pair in value.items())
            case list() if call_input.is_command(key) and _line(value) in self._shown:
                return True
            case list():
                return bool(value) and all(self.is_said(key, each) for each in value)
        return False

    def _is_text_said(self, key: str, text: str) -> bool:
        path = danger.normal(danger.absolute([text], self._roots, "~")[0]) if text else ""
        if text in self._shown or path in self._shown:
            return True
        if key == "cwd":
            return path in map(danger.normal, self._roots)
        if call_input.is_command(key):
            return any(text in each for each in self._shown) or (
                text in _VERBS and (self._reads or bool(self._old or self._new))
            )
        if _plain(key) in _CONTENT:
            return text in self._new or text in self._old
        return key in _PATCH and bool(self._old or self._new) and self._is_patch(text)

    def _is_patch(self, text: str) -> bool:
        """Whether a text is a patch that repeats the changes beside it."""
        for sign, whole in (("+", self._new), ("-", self._old)):
            rows = {row[1:] for row in text.splitlines() if row.startswith(sign)}
            if any(not row.startswith(sign * 2) for row in rows - set(whole.splitlines())):
                return False
        return True


def _plain(key: str) -> str:
    return key.replace("_", "").lower()


def _argument(key: str, value: object) -> str:
    """Return `key: value`; a multi-line text goes below its name."""
    text = value if isinstance(value, str) else dumps_short(value)
    key = key.replace("\n", "␊")
    if "\n" not in text:
        return f"{key}: {text}"
    return f"{key}:\n" + "\n".join(f"  {line}" for line in text.split("\n"))
