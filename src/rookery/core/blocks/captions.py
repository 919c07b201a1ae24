"""Short texts for tool calls and asks: the same in every look, whatever renders them.

`clean` is the look's own function that makes an agent's text safe to show on one line."""

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Any

from rookery.core import command_line
from rookery.core.blocks.document import Block
from rookery.core.json import lenient
from rookery.core.json.safe_text import clean_line
from rookery.core.units import duration

type Clean = Callable[[str], str]

VERBS = {kind: kind for kind in ("read", "edit", "delete", "move", "search", "fetch", "think")}
VERBS["execute"] = "run"
ASKED = ("execute", "edit", "delete", "move", "fetch")
"""Kinds of calls that an ask names by their verb."""

MARKS = {status: status for status in ("pending", "running", "done", "failed")}
MARKS |= dict.fromkeys(("interrupted", "unfinished", "cancelled", "rejected"), "stopped")
"""By a call's status: the name of its mark."""

QUIET = ("read", "search", "fetch", "think")
"""Kinds whose output says little that the answer does not: its length stands for it."""

SUBAGENT = "subagent"
"""The kind of the block that shows one."""

EXITS = ("exitCode", "exit_code", "exit")
"""Keys under which agents report a command's exit code."""

_COMMANDS = ("command", "cmd", "script", "code", "commandLine", "argv", "args")
"""Keys under which agents pass the command line to run."""


# --- calls ---------------------------------------------------------------------------------------


def is_rejected(block: Block) -> bool:
    """Whether a call did not run because the user or a rule said no. Agents report that as a
    failure or a success, or never mention the call again."""
    return block["status"] == "rejected" or (bool(block.get("rejected")) and is_over(block))


def status_of(block: Block) -> str:
    """Return the status in one word, whatever the agent calls it: `rejected`; `interrupted` by a
    cancel or by another end of the turn; `unfinished` if the turn ended well and the call never
    did."""
    return "rejected" if is_rejected(block) else block["status"]


def mark_of(block: Block) -> str:
    return MARKS.get(status_of(block), "pending")


def is_over(block: Block) -> bool:
    return block["status"] not in ("pending", "running")


def is_quiet(block: Block) -> bool:
    return block["role"] == "tool" and block.get("kind") in QUIET and block["status"] == "done"


def is_subagent(block: Block) -> bool:
    """Whether a call is a sub-agent, or has started one that reported its work."""
    return block["role"] == "tool" and "calls" in block


def actions_of(block: Block) -> list[dict[str, Any]]:
    """Return the actions that a block offers; a call has them only while it runs."""
    actions: list[dict[str, Any]] = block["actions"]
    return [] if block["role"] == "tool" and is_over(block) else actions


def call_words(block: Block, cwd: str, clean: Clean = clean_line) -> tuple[str, str]:
    """Return a verb and an object for a call, in the agent's own words where they say it."""
    label = clean(block["title"] or lenient.text(block, "tool"))
    kind = block.get("kind", "")
    verb = VERBS.get(kind, "")
    if kind == SUBAGENT:
        return "sub-agent", label
    if is_command(block):
        first, *more = command_of(block).split("\n") or [""]
        return "run", (clean(first) or label or "a command") + (" …" if more else "")
    paths = [path for part in diffs(block) if (path := lenient.text(part, "path"))]
    if kind == "edit" and paths:
        return verb, ", ".join(dict.fromkeys(short_path(path, cwd, clean) for path in paths))
    if label:
        first, _, rest = label.partition(" ")
        if verb and first.lower() == verb:
            return verb, short_path(rest or label, cwd, clean)
        bare = " " not in label and ("/" in label or "." in label)
        return (verb, short_path(label, cwd, clean)) if bare and verb else ("", label)
    if places := lenient.texts(block, "locations"):
        return verb or "tool", short_path(places[0], cwd, clean)
    return (verb, "") if verb else ("", "a tool")


def path_of(block: Block) -> str:
    """Return the one file that a call is about, or "" if there are none or several."""
    changed = {lenient.text(part, "path") for part in diffs(block)}
    paths = changed or set(lenient.texts(block, "locations")[:2])
    return paths.pop() if len(paths) == 1 else ""


def parts_of(block: Block) -> list[dict[str, Any]]:
    """Return the parts that a call shows. A change that only its ask showed stays with the call; a
    text that repeats a shown change is left out."""
    shown: list[dict[str, Any]] = block["parts"]
    if not any(lenient.text(part, "type") == "diff" for part in shown):
        shown = [*lenient.mappings(block, "proposed"), *shown]
    changes = [part for part in shown if lenient.text(part, "type") == "diff"]
    return [part for part in shown if not (changes and _repeats(part, changes))]


_PREFIX = re.compile(r"[-+ ]?\s*\d*\s*[|:\t]?")
"""The prefix of a diff's line in a text: its sign, its number, and a separator."""


def _repeats(part: dict[str, Any], changes: list[dict[str, Any]]) -> bool:
    """Whether a text has a line for each line that these changes remove or add."""
    rows = lenient.text(part, "text").splitlines() if part.get("type") == "markdown" else []
    if not any(row.startswith(("-", "+")) for row in rows):
        return False
    lines = {_PREFIX.sub("", row, count=1).strip() for row in rows} | {
        row[1:].strip() for row in rows
    }
    for each in changes:
        old, new = (set(lenient.text(each, key).splitlines()) for key in ("old", "new"))
        if any(line.strip() and line.strip() not in lines for line in old ^ new):
            return False
    return True


def diffs(block: Block) -> list[dict[str, object]]:
    return [part for part in parts_of(block) if lenient.text(part, "type") == "diff"]


def _without_verb(text: str) -> str:
    first, _, rest = text.partition(" ")
    text = rest if first.lower().rstrip(":") in ("run", "execute", "running") and rest else text
    return text.strip("`")


def is_command(block: Block) -> bool:
    return block.get("kind") == "execute" or block["role"] == "terminal"


def command_of(block: Block) -> str:
    """Return what a call runs, whole and with its line breaks: a here-document on one line would
    read as something else."""
    given = lenient.mapping(block, "input").get("value")
    candidates = [given.get(key) for key in _COMMANDS] if isinstance(given, dict) else [given]
    command = next((each for each in candidates if each), None)

    if isinstance(command, list):
        command = command_line.syntax.line_of([word for word in command if isinstance(word, str)])
    text = command if isinstance(command, str) and command.strip() else block["title"]
    return command_line.syntax.unwrapped(_without_verb(text.strip()))


def short_path(path: str, cwd: str, clean: Clean = clean_line) -> str:
    """Return a path relative to the session's directory, if it lies in there."""
    path, within = clean(path), cwd.rstrip("/") + "/"
    if cwd and path.startswith(within):
        return posixpath.normpath(path.removeprefix(within).lstrip("/"))
    return path


def exit_code(block: Block, terminals: list[Block]) -> int | None:
    value = lenient.mapping(block, "output").get("value")
    codes = [lenient.integer(value, key) for key in EXITS]
    codes += [lenient.integer(each, "exit") for each in [*terminals, block]]
    return next((code for code in codes if code is not None), None)


def length_of(block: Block, terminals: Sequence[Block] = ()) -> int:
    """Count the lines of a call's output."""
    texts = [unfenced(lenient.text(part, "text")) for part in [*block["parts"], *terminals]]
    return sum(len(text.strip("\n").splitlines()) for text in texts)


_FENCE = re.compile(r"\s*(`{3,}|~{3,})[^`\n]*\n")


def unfenced(text: str) -> str:
    """Return output without the code fences that its agent put around it; one may be cut."""
    if not (opened := _FENCE.match(text)):
        return text
    fence, body = opened[1], text[opened.end() :]
    closing = re.search(rf"^ *{fence}{fence[0]}*[ \t]*$", body, re.MULTILINE)
    if closing is None:
        return body
    return text if body[closing.end() :].strip() else body[: closing.start()]


def as_output(block: Block, text: str) -> str | None:
    """Return a text of a call's content that is to be shown verbatim: what a command printed, or
    what was read; None if it is Markdown."""
    kind, bare = block.get("kind"), unfenced(text)
    reads = kind in ("read", "search") and (bare != text or "```" not in text)
    return bare if kind == "execute" or reads else None


# --- thoughts ------------------------------------------------------------------------------------


def thought(block: Block, *, live: bool = False) -> str:
    """Return `Thought for 4 s`, or `Thinking · 4 s` while it is `live`, if it was streamed."""
    seconds = lenient.number(block, "seconds")
    if live:
        return f"Thinking · {duration(seconds)}" if seconds else "Thinking"
    return f"Thought for {duration(seconds)}" if seconds else "Thought"


# --- asks ----------------------------------------------------------------------------------------


def question(block: Block, agent: str) -> str:
    kind = block.get("kind", "")
    title = clean_line(block["title"]) or "may it go on?"
    who = clean_line(agent) or "the agent"
    if kind not in ASKED:
        return f"{who} asks: {title}"
    verb = VERBS[kind]
    first, _, rest = title.partition(" ")
    ending = f" {rest}" if first.lower() == verb else f": {title.strip('`')}"
    return f"{who} wants to {verb}{ending}"


PLACES = {
    "terminal": "in the terminal",
    "web": "in the browser",
    "cli": "on the command line",
    "acp": "in an editor",
}
"""The faces that answers come from."""


def outcome(block: Block, here: str = "") -> str:
    """Return how an ask ended: `You allowed it`. The device that answered is named; otherwise, if
    the answer came from another face than the one that shows it (`here`), that face."""
    text = clean_line(block["text"]) or clean_line(block["status"])
    if then := clean_line(lenient.text(block, "then")):
        text = f"{text} · {then}"
    if where := clean_line(lenient.text(block, "where")):
        return f"{text} ({where})"
    face = lenient.text(block, "by")
    return f"{text} ({PLACES[face]})" if here and face in PLACES and face != here else text


def remark(block: Block, clean: Clean) -> str:
    """Return what the user said with the answer, such as why not; "" if nothing."""
    reason = clean(lenient.text(block, "reason")).strip()
    return f"“{reason}”" if reason else ""


def outcome_mark(block: Block) -> str:
    """Return the name of the sign for an ask's outcome; "" if it is neither yes nor no."""
    return {"allow": "done", "reject": "failed"}.get(lenient.text(block, "verdict"), "")
