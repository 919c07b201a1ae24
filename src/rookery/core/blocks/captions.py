"""A tool call and an ask in a few words: the same in every look, whatever it is painted with.

`clean` is the look's own way to make an agent's text fit for one line.
"""

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Any

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
"""What agents call the code that a command ended with."""

_COMMANDS = ("command", "cmd", "script", "code", "commandLine", "argv", "args")
"""What agents call the line that is run."""


# --- calls ---------------------------------------------------------------------------------------


def is_rejected(block: Block) -> bool:
    """Whether a call did not run because the user or a rule said no. Agents call that a failure or
    a success, or never mention the call again."""
    return block["status"] == "rejected" or (bool(block.get("rejected")) and is_over(block))


def status_of(block: Block) -> str:
    """In one word, whatever its agent calls it: `rejected`; `interrupted` by a cancel or by another
    end of the turn; `unfinished` if the turn ended well and the call never did."""
    return "rejected" if is_rejected(block) else block["status"]


def mark_of(block: Block) -> str:
    return MARKS.get(status_of(block), "pending")


def is_over(block: Block) -> bool:
    return block["status"] not in ("pending", "running")


def is_quiet(block: Block) -> bool:
    return block["role"] == "tool" and block.get("kind") in QUIET and block["status"] == "done"


def is_subagent(block: Block) -> bool:
    """Whether a call is a sub-agent, or has started one that told what it did."""
    return block["role"] == "tool" and "calls" in block


def actions_of(block: Block) -> list[dict[str, Any]]:
    """What it offers; a call, while it runs."""
    found: list[dict[str, Any]] = block["actions"]
    return [] if block["role"] == "tool" and is_over(block) else found


def call_words(block: Block, cwd: str, clean: Clean = clean_line) -> tuple[str, str]:
    """A verb and an object: the agent's own words where they say what is done."""
    said = clean(block["title"] or lenient.text(block, "tool"))
    kind = block.get("kind", "")
    verb = VERBS.get(kind, "")
    if kind == SUBAGENT:
        return "sub-agent", said
    if is_command(block):
        first, *more = command_of(block).split("\n") or [""]
        return "run", (clean(first) or said or "a command") + (" …" if more else "")
    paths = [path for part in diffs(block) if (path := lenient.text(part, "path"))]
    if kind == "edit" and paths:
        return verb, ", ".join(dict.fromkeys(short_path(path, cwd, clean) for path in paths))
    if said:
        first, _, rest = said.partition(" ")
        if verb and first.lower() == verb:
            return verb, short_path(rest or said, cwd, clean)
        bare = " " not in said and ("/" in said or "." in said)
        return (verb, short_path(said, cwd, clean)) if bare and verb else ("", said)
    if places := lenient.texts(block, "locations"):
        return verb or "tool", short_path(places[0], cwd, clean)
    return (verb, "") if verb else ("", "a tool")


def path_of(block: Block) -> str:
    """The one file that a call is about; "": none, or several."""
    changed = {lenient.text(part, "path") for part in diffs(block)}
    found = changed or set(lenient.texts(block, "locations")[:2])
    return found.pop() if len(found) == 1 else ""


def parts_of(block: Block) -> list[dict[str, Any]]:
    """What a call shows. A change that only its ask showed stays with it; a text that tells a shown
    change once more is left out."""
    shown: list[dict[str, Any]] = block["parts"]
    if not any(lenient.text(part, "type") == "diff" for part in shown):
        shown = [*lenient.mappings(block, "proposed"), *shown]
    changes = [part for part in shown if lenient.text(part, "type") == "diff"]
    return [part for part in shown if not (changes and _repeats(part, changes))]


_PREFIX = re.compile(r"[-+ ]?\s*\d*\s*[|:\t]?")
"""Of a line of a diff in a text: its sign, its number, and what stands between it and the line."""


def _repeats(part: dict[str, Any], changes: list[dict[str, Any]]) -> bool:
    """Whether a text has a line for each that these changes remove or add."""
    rows = lenient.text(part, "text").splitlines() if part.get("type") == "markdown" else []
    if not any(row.startswith(("-", "+")) for row in rows):
        return False
    told = {_PREFIX.sub("", row, count=1).strip() for row in rows} | {
        row[1:].strip() for row in rows
    }
    for each in changes:
        old, new = (set(lenient.text(each, key).splitlines()) for key in ("old", "new"))
        if any(line.strip() and line.strip() not in told for line in old ^ new):
            return False
    return True


def diffs(block: Block) -> list[dict[str, object]]:
    return [part for part in parts_of(block) if lenient.text(part, "type") == "diff"]


def _without_verb(said: str) -> str:
    first, _, rest = said.partition(" ")
    said = rest if first.lower().rstrip(":") in ("run", "execute", "running") and rest else said
    return said.strip("`")


def is_command(block: Block) -> bool:
    return block.get("kind") == "execute" or block["role"] == "terminal"


def command_of(block: Block) -> str:
    """What a call runs, whole and with its lines: a here-document on one line reads as something
    else."""
    given = lenient.mapping(block, "input").get("value")
    found = [given.get(key) for key in _COMMANDS] if isinstance(given, dict) else [given]
    words = next((each for each in found if each), None)
    from rookery.core.command_line.words import line_of, unwrapped  # no first picture needs it

    if isinstance(words, list):
        words = line_of([word for word in words if isinstance(word, str)])
    said = words if isinstance(words, str) and words.strip() else block["title"]
    return unwrapped(_without_verb(said.strip()))


def short_path(path: str, cwd: str, clean: Clean = clean_line) -> str:
    """From the session's directory on, where it lies in there."""
    path, within = clean(path), cwd.rstrip("/") + "/"
    if cwd and path.startswith(within):
        return posixpath.normpath(path.removeprefix(within).lstrip("/"))
    return path


def exit_code(block: Block, terminals: list[Block]) -> int | None:
    value = lenient.mapping(block, "output").get("value")
    found = [lenient.integer(value, key) for key in EXITS]
    found += [lenient.integer(each, "exit") for each in [*terminals, block]]
    return next((code for code in found if code is not None), None)


def length_of(block: Block, terminals: Sequence[Block] = ()) -> int:
    """Lines of what a call brought."""
    texts = [unfenced(lenient.text(part, "text")) for part in [*block["parts"], *terminals]]
    return sum(len(text.strip("\n").splitlines()) for text in texts)


_FENCE = re.compile(r"\s*(`{3,}|~{3,})[^`\n]*\n")


def unfenced(text: str) -> str:
    """Output that its agent put between fences, without them; the last may be cut off."""
    if not (opened := _FENCE.match(text)):
        return text
    fence, body = opened[1], text[opened.end() :]
    closing = re.search(rf"^ *{fence}{fence[0]}*[ \t]*$", body, re.MULTILINE)
    if closing is None:
        return body
    return text if body[closing.end() :].strip() else body[: closing.start()]


def as_output(block: Block, text: str) -> str | None:
    """A text of a call's content that is to be shown as it is: what a command printed, or what was
    read; None: it is Markdown."""
    kind, bare = block.get("kind"), unfenced(text)
    reads = kind in ("read", "search") and (bare != text or "```" not in text)
    return bare if kind == "execute" or reads else None


# --- thoughts ------------------------------------------------------------------------------------


def thought(block: Block, *, live: bool = False) -> str:
    """`Thought for 4 s`; while it is `live`, `Thinking · 4 s`. Only streamed thoughts have a
    duration."""
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
    said = f" {rest}" if first.lower() == verb else f": {title.strip('`')}"
    return f"{who} wants to {verb}{said}"


PLACES = {
    "terminal": "in the terminal",
    "web": "in the browser",
    "cli": "on the command line",
    "acp": "in an editor",
}
"""The faces that answers come from."""


def outcome(block: Block, here: str = "") -> str:
    """How an ask ended: `You allowed it`. The device that answered is named; else, if the answer
    came from another face than the one that says it (`here`), that one."""
    said = clean_line(block["text"]) or clean_line(block["status"])
    if then := clean_line(lenient.text(block, "then")):
        said = f"{said} · {then}"
    if where := clean_line(lenient.text(block, "where")):
        return f"{said} ({where})"
    face = lenient.text(block, "by")
    return f"{said} ({PLACES[face]})" if here and face in PLACES and face != here else said


def remark(block: Block, clean: Clean) -> str:
    """What the user said with the answer: why not, or what else; "": nothing."""
    said = clean(lenient.text(block, "reason")).strip()
    return f"“{said}”" if said else ""


def outcome_mark(block: Block) -> str:
    """The name of its sign; "": neither yes nor no."""
    return {"allow": "done", "reject": "failed"}.get(lenient.text(block, "verdict"), "")
