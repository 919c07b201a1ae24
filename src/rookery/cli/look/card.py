"""A tool call as a card: a line with its state, verb and object, then what a person would check."""

import os

from rookery.cli.look import lines
from rookery.cli.look.paint import Paint, count, duration
from rookery.cli.look.safe import clean_line
from rookery.core import loose
from rookery.core.document import Block

VERBS = {
    "read": "read",
    "edit": "edit",
    "delete": "delete",
    "move": "move",
    "search": "search",
    "execute": "run",
    "fetch": "fetch",
}

MARKS = {
    "pending": "pending",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "interrupted": "stopped",
    "unfinished": "stopped",
    "cancelled": "stopped",
}

QUIET = ("read", "search", "fetch", "think")
"""Kinds whose output says little that the answer does not: its length stands for it."""


def is_over(block: Block) -> bool:
    return block["status"] not in ("pending", "running")


def headline(
    block: Block, terminals: list[Block], paint: Paint, cwd: str, *, durations: bool = True
) -> str:
    """`edit src/app.py +12 −3`, `run pytest -q · 4.2 s · exit 0`, with the mark of its state."""
    status = block["status"]
    name = MARKS.get(status, "pending")
    extras = [words for words in _extras(block, terminals, durations=durations) if words]
    dot = f" {paint.sign('dot')} "
    rest = dot + paint.faint(dot.join(extras)) if extras else ""
    return f"{paint.mark(name)} {title(block, cwd)}{_changes(block, paint)}{rest}"


def title(block: Block, cwd: str) -> str:
    """The call in a few words: the agent's own where they say what is done."""
    said = clean_line(block["title"])
    verb = VERBS.get(block.get("kind", ""), "")
    if block.get("kind") == "execute":
        return f"run {_without_verb(_command(block) or said or 'a command', verb)}"
    paths = [part["path"] for part in block["parts"] if part["type"] == "diff" and part["path"]]
    if block.get("kind") == "edit" and paths:
        return f"edit {', '.join(dict.fromkeys(short_path(path, cwd) for path in paths))}"
    if said:
        bare = " " not in said and ("/" in said or "." in said)
        return f"{verb} {short_path(said, cwd)}" if bare and verb else said
    places = loose.texts(block, "locations")
    return f"{verb or 'tool'} {short_path(places[0], cwd)}" if places else (verb or "a tool")


def _without_verb(said: str, verb: str) -> str:
    first, _, rest = said.partition(" ")
    said = rest if first.lower().rstrip(":") in (verb, "execute", "running") and rest else said
    return said.strip("`")


def _command(block: Block) -> str:
    given = loose.mapping(block, "input").get("value")
    words = given.get("command") if isinstance(given, dict) else None
    if isinstance(words, list):
        words = " ".join(word for word in words if isinstance(word, str))
    return clean_line(words) if isinstance(words, str) else ""


def short_path(path: str, cwd: str) -> str:
    path = clean_line(path)
    if cwd and path.startswith(cwd.rstrip("/") + "/"):
        return os.path.relpath(path, cwd)
    return path


def _changes(block: Block, paint: Paint) -> str:
    diffs = [part for part in block["parts"] if part["type"] == "diff"]
    if not diffs:
        return ""
    counts = [lines.changed(part) for part in diffs]
    added = paint.in_("done", f"+{sum(plus for plus, _ in counts)}")
    taken = paint.in_("failed", f"{paint.sign('minus')}{sum(minus for _, minus in counts)}")
    return f" {added} {taken}"


def _extras(block: Block, terminals: list[Block], *, durations: bool) -> list[str]:
    status = block["status"]
    told = durations and block.get("seconds", 0) >= 0.05
    said = [duration(block["seconds"]) if told else ""]
    code = _exit_code(block, terminals)
    said.append(f"exit {code}" if code is not None else "")
    if status == "done" and block.get("kind") in QUIET:
        texts = [loose.text(part, "text") for part in block["parts"] if part["type"] == "markdown"]
        length = sum(len(text.strip("\n").splitlines()) for text in texts)
        said.append(count(length, "line") if length else "")
    if status not in ("done", "pending", "running", "failed"):
        said.append(clean_line(status))
    return [*said, "failed"] if status == "failed" else said


def _exit_code(block: Block, terminals: list[Block]) -> int | None:
    output = loose.mapping(block, "output").get("value")
    found = [loose.integer(output, key) for key in ("exitCode", "exit_code", "exit")]
    found += [terminal.get("exit") for terminal in terminals]
    return next((code for code in found if code is not None), None)


def details(block: Block, terminals: list[Block], paint: Paint, *, full: bool) -> list[str]:
    """What the card opens to: diffs, output, and the arguments where nothing else tells."""
    if block.get("kind") in QUIET and block["status"] != "failed" and not full:
        return []
    several = sum(part["type"] == "diff" for part in block["parts"]) > 1
    found: list[str] = []
    for part in block["parts"]:
        if part["type"] == "diff" and several:
            found.append(clean_line(part["path"]))
        if part["type"] == "terminal" or (part["type"] == "markdown" and _is_command(block)):
            found += lines.of_output(_unfenced(loose.text(part, "text")), paint, full=full)
        else:
            found += lines.of_part(part, paint, full=full)
    for terminal in terminals:
        found += lines.of_output(terminal["text"], paint, full=full)
    if not found:
        found = [paint.faint(words) for words in _arguments(block)]
    return found


def _is_command(block: Block) -> bool:
    return block.get("kind") == "execute"


def _unfenced(text: str) -> str:
    """Output that its agent put between fences, without them."""
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        return bare.split("\n", 1)[1].removesuffix("```")
    return text


def _arguments(block: Block) -> list[str]:
    if _is_command(block) or "input" not in block:
        return []
    return [lines.short_json(block["input"]["value"], 200)]
