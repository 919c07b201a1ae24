"""A tool call as a card: one line with its state, verb and object; it opens to what a person would
check."""

import os

from rich.style import Style

from rookery.core import loose
from rookery.core.document import Block
from rookery.tui.look import diff, part
from rookery.tui.look.plain import clean_line, count, duration
from rookery.tui.look.runs import Line, Run, prefixed, trimmed
from rookery.tui.look.view import View

VERBS = {
    "read": "read",
    "edit": "edit",
    "delete": "delete",
    "move": "move",
    "search": "search",
    "execute": "run",
    "fetch": "fetch",
    "think": "think",
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
"""Kinds whose output says little that the answer does not."""

EXITS = ("exitCode", "exit_code", "exit")
"""What agents call the code that a command ended with; the headline says it."""

LIVE = 6
"""Lines of output that a running card shows."""

WHY = 8
"""Lines that a failed card shows without being opened."""


def is_over(block: Block) -> bool:
    return block["status"] not in ("pending", "running")


def is_quiet(block: Block) -> bool:
    return block["role"] == "tool" and block.get("kind") in QUIET and block["status"] == "done"


def rendered(block: Block, terminals: list[Block], view: View) -> list[Line]:
    lines = [headline(block, terminals, view)]
    inner = view.narrower(2)
    if view.opened:
        body = details(block, terminals, inner)
    elif not is_over(block):
        body = [line for each in terminals for line in part.output(each["text"], inner, LIVE)]
    elif block["status"] == "failed":
        body = details(block, terminals, inner)
        body = part.capped(body, WHY, inner)
    else:
        body = []
    return lines + prefixed(body, [("  ", view.look.plain)])


def headline(block: Block, terminals: list[Block], view: View) -> Line:
    """`✓ edit src/app.py +12 −3`, `✓ run pytest -q · 4.2 s · exit 0`."""
    look = view.look
    sign, style = look.states[MARKS.get(block["status"], "pending")]
    verb, thing = words_of(block, view.cwd)
    runs: Line = [(f"{sign} ", style)]
    if verb:
        runs.append((f"{verb} ", look.soft))
    runs.append((thing, look.ink))
    ending: Line = [*_changes(block, view), *_extras(block, terminals, view)]
    room = max(8, view.width - sum(len(text) for text, _ in ending))
    return trimmed([*trimmed(runs, room), *ending], view.width)


def words_of(block: Block, cwd: str) -> tuple[str, str]:
    """A verb and an object: the agent's own words where they say what is done."""
    said = clean_line(block["title"])
    kind = block.get("kind", "")
    verb = VERBS.get(kind, "")
    if kind == "execute" or block["role"] == "terminal":
        return "run", _without_verb(_command(block) or said or "a command", "run")
    paths = [
        loose.text(each, "path") for each in block["parts"] if loose.text(each, "type") == "diff"
    ]
    if kind == "edit" and any(paths):
        shown = dict.fromkeys(short_path(path, cwd) for path in paths if path)
        return verb, ", ".join(shown)
    if said:
        if verb and said.partition(" ")[0].lower() == verb:
            return verb, short_path(said.partition(" ")[2] or said, cwd)
        bare = " " not in said and ("/" in said or "." in said)
        return (verb, short_path(said, cwd)) if bare and verb else ("", said)
    places = loose.texts(block, "locations")
    return verb or "tool", short_path(places[0], cwd) if places else ""


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


def _changes(block: Block, view: View) -> list[Run]:
    diffs = [each for each in block["parts"] if loose.text(each, "type") == "diff"]
    if not diffs:
        return []
    counts = [diff.changed(each) for each in diffs]
    plus, minus = sum(each for each, _ in counts), sum(each for _, each in counts)
    return [(f" +{plus}", view.look.done), (f" −{minus}", view.look.failed)]


def _extras(block: Block, terminals: list[Block], view: View) -> list[Run]:
    look, status = view.look, block["status"]
    said: list[Run] = []
    seconds = _seconds(block, view.now)
    if seconds is not None and seconds >= 0.05:
        said.append((duration(seconds), look.soft))
    code = _exit_code(block, terminals)
    if code is not None:
        said.append((f"exit {code}", look.soft if code == 0 else look.failed))
    if is_quiet(block):
        texts = [loose.text(each, "text") for each in block["parts"]]
        length = sum(len(text.strip("\n").splitlines()) for text in texts)
        if length:
            said.append((count(length, "line"), look.soft))
    if status == "failed" and code in (None, 0):
        said.append(("failed", look.failed))
    elif status not in ("done", "pending", "running", "failed"):
        said.append((clean_line(status), look.soft))
    dots: list[Run] = []
    for run in said:
        dots += [(" · ", look.faint), run]
    return dots


def _seconds(block: Block, now: int) -> float | None:
    since = block.get("since")
    if block["status"] == "running" and isinstance(since, int) and now > since:
        return float((now - since) // 1000)
    return loose.number(block, "seconds")


def _exit_code(block: Block, terminals: list[Block]) -> int | None:
    value = loose.mapping(block, "output").get("value")
    found = [loose.integer(value, key) for key in EXITS]
    found += [loose.integer(each, "exit") for each in [*terminals, block]]
    return next((code for code in found if code is not None), None)


def details(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """Diffs, output, and the arguments where nothing else tells."""
    found: list[Line] = []
    several = sum(loose.text(each, "type") == "diff" for each in block["parts"]) > 1
    for each in block["parts"]:
        if loose.text(each, "type") == "diff" and several:
            found.append([(short_path(diff.title(each), view.cwd), view.look.heading)])
        if loose.text(each, "type") == "markdown" and _is_output(block, loose.text(each, "text")):
            found += part.output(_unfenced(loose.text(each, "text")), view, _most(view), tail=False)
        elif loose.text(each, "type") != "terminal" or loose.text(each, "text"):
            found += part.rendered(each, view)
    for terminal in terminals:
        found += part.output(terminal["text"], view, _most(view))
    if not found:
        found = _arguments(block, view)
    return found


def _is_output(block: Block, text: str) -> bool:
    """Whether its lines are to stay as they came: of a file that was read, too, where its agent
    did not fence it."""
    kind = block.get("kind")
    return kind == "execute" or (kind in ("read", "search") and "```" not in text)


def _most(view: View) -> int:
    return part.OPENED if view.opened else part.FOLDED


def _unfenced(text: str) -> str:
    """Output that its agent put between fences, without them."""
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        return bare.split("\n", 1)[1].removesuffix("```")
    return text


def _arguments(block: Block, view: View) -> list[Line]:
    found: list[Line] = []
    for key in ("input", "output"):
        value = loose.mapping(block, key).get("value")
        if key in block and not (isinstance(value, dict) and set(value) <= set(EXITS)):
            found += part.as_json(value, view)
    return found or [[("nothing more is known of it", view.look.faint)]]


def has_details(block: Block, terminals: list[Block]) -> bool:
    return bool(
        block["parts"]
        or any(each["text"] for each in terminals)
        or "input" in block
        or "output" in block
    )


def style_of(block: Block, view: View) -> Style:
    return view.look.states[MARKS.get(block["status"], "pending")][1]
