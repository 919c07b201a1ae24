"""Rendering a tool call as a card: one line with its state, verb and object, which opens to show
its details."""

from collections.abc import Sequence

from rookery.core.blocks import captions
from rookery.core.blocks.document import Block
from rookery.core.json import lenient
from rookery.core.json.safe_text import count
from rookery.core.units import duration
from rookery.core.view.recap import DID
from rookery.export.html import part
from rookery.export.html.text import esc, esc_line, tag
from rookery.export.html.view import View
from rookery.render import call
from rookery.render.diff import rows_of

SHORT = 10
"""Lines of output that are shown without being asked for."""

LONGEST_OBJECT = 160
"""Characters of a command in the card's line; all of it stands inside."""

DOING = {"run": "Running", "edit": "Editing", "read": "Reading", "search": "Searching"}
DOING |= {"delete": "Deleting", "move": "Moving", "fetch": "Fetching", "think": "Thinking about"}
NAMES = ("run", "edit", "read", "delete", "move", "fetch")
"""Verbs whose object is code: a command, a path, an address."""

FILES = ("edit", "read")
"""Kinds of calls whose file can be looked at."""

TIMES = {"search": "searched", "fetch": "fetched", "think": "thought"}


def rendered(block: Block, terminals: list[Block], view: View, asks: str = "") -> str:
    """Render the card. `asks` is the HTML of what was asked about the call, and how it was
    answered."""
    body = details(block, terminals, view)
    line = headline(block, terminals, view, pressed=bool(body))
    path = _file(block)
    if body and path and view.file(path, 0):  # no link may be in what folds the card
        short = esc_line(captions.short_path(path, view.cwd))
        body += view.named(path, _line(block), f"Open {short}", "unseen")
    if captions.actions_of(block):
        body += view.actions(block)
    if captions.is_subagent(block):  # what is nested in it follows, and is folded with it
        live = "" if captions.is_over(block) else " live"
        opened = " open" if live else ""
        inside = tag("div", body, "inside") if body else ""
        summary = f"<summary>{line}</summary>{inside}"
        return f'<details class="card sub{live}"{opened}>{summary}</details>{asks}'
    if not body:
        return tag("div", tag("div", line, "line"), "card bare") + asks
    opened = " open" if _opens(block, terminals) else ""
    inside = tag("div", body, "inside")
    return f'<details class="card"{opened}><summary>{line}</summary>{inside}</details>{asks}'


def headline(block: Block, terminals: list[Block], view: View, *, pressed: bool = False) -> str:
    """Render the headline: `✓ Edited src/app.py +12 −3`. `pressed` means that the line itself is a
    button."""
    verb, thing = captions.call_words(block, view.cwd)
    short = thing[: LONGEST_OBJECT - 1] + "…" if len(thing) > LONGEST_OBJECT else thing
    label = esc_line(short)
    text = tag("span", label, "name") if verb in NAMES else tag("span", label)
    if path := _file(block):
        text = view.named(path, _line(block), label, "name", focusable=not pressed)
    text = f"{tag('span', _verb(verb, block, terminals), 'verb')} {text}" if verb else text
    extras = tag("span", _extras(block, terminals), "extras")
    return f"{part.mark(captions.mark_of(block))}{tag('span', text, 'what')}{extras}"


def _file(block: Block) -> str:
    """Return the file that a call read or changed, or "" if there is none or several."""
    return captions.path_of(block) if block.get("kind") in FILES else ""


def _line(block: Block) -> int:
    """Return the line that the call looked at or changed first, or 0 if it is not known."""
    changed = captions.diffs(block)
    if not changed:
        return lenient.integer(block, "line") or 0
    return next((row.new or 0 for row in rows_of(changed[0]) if row.sign in "+-"), 0)


def _verb(verb: str, block: Block, terminals: list[Block]) -> str:
    ran = verb == "run" and captions.exit_code(block, terminals) is not None
    if captions.is_rejected(block):
        return verb.capitalize()
    if block["status"] == "done" or ran:
        return DID.get(verb, verb.capitalize())
    return DOING.get(verb, verb.capitalize()) if block["status"] == "running" else verb.capitalize()


def _extras(block: Block, terminals: list[Block]) -> str:
    pieces = []
    if counts := call.changes(block):
        plus, minus = (tag("span", f"{sign}{n}", kind) for sign, n, kind in _signed(counts))
        pieces.append(f"{plus} {minus}")
    for text, bad in call.extras(block, terminals, lenient.number(block, "seconds")):
        pieces.append(tag("span", esc_line(text), "failed") if bad else esc_line(text))
    return " · ".join(pieces)


def _signed(counts: tuple[int, int]) -> list[tuple[str, int, str]]:
    return [("+", counts[0], "done"), ("−", counts[1], "failed")]


def details(block: Block, terminals: Sequence[Block], view: View) -> str:
    """Render diffs and output, or else the arguments."""
    html = ""
    several = len(captions.diffs(block)) > 1
    command = _command(block)
    for each in captions.parts_of(block):
        kind, text = lenient.text(each, "type"), lenient.text(each, "text")
        if kind == "diff" and several:
            path = captions.short_path(lenient.text(each, "path"), view.cwd)
            named = view.named(lenient.text(each, "path"), 0, esc_line(path))
            html += tag("p", named, "path")
        output = captions.as_output(block, text) if kind == "markdown" else None
        if output is not None:
            html += part.output(output, command)
            command = ""
        elif kind != "terminal" or text:
            html += part.rendered(each, view)
    for each in [block, *terminals] if block["role"] != "tool" else terminals:
        if each["text"].strip():
            html += view.output(each, command) or part.output(each["text"], command)
            command = ""
    if command and (html or len(command) > LONGEST_OBJECT or "\n" in command):
        html = part.output("", command) + html
    return html or ("" if captions.is_command(block) else _arguments(block))


def _command(block: Block) -> str:
    """Return the command line of a call in full, with its line breaks, or "" if it is no
    command."""
    return esc(captions.command_of(block)[:20_000]) if captions.is_command(block) else ""


def _arguments(block: Block) -> str:
    html = ""
    for key in ("input", "output"):
        value = lenient.mapping(block, key).get("value")
        if key in block and not (isinstance(value, dict) and set(value) <= set(captions.EXITS)):
            html += part.raw(value)
    return html


def _opens(block: Block, terminals: Sequence[Block]) -> bool:
    """Tell whether the card is open at first: changes, images, failures and short output are."""
    if captions.is_quiet(block):
        return any(lenient.text(each, "type") == "image" for each in block["parts"])
    if any(lenient.text(each, "type") in ("diff", "image") for each in captions.parts_of(block)):
        return True
    if not captions.is_command(block):
        return bool(block["status"] == "failed")
    if block["status"] == "running":
        return True
    own = [block] if block["role"] == "terminal" else []
    length = captions.length_of(block, [*terminals, *own])
    return length <= SHORT or (block["status"] == "failed" and length <= 8 * SHORT)


# --- rows of quiet calls -------------------------------------------------------------------------


def row_line(members: Sequence[Block]) -> str:
    """Render `Read 7 files, searched twice`, and how long it took."""
    kinds: dict[str, int] = {}
    for member in members:
        kinds[member.get("kind", "")] = kinds.get(member.get("kind", ""), 0) + 1
    summary = ", ".join(_times(kind, number) for kind, number in kinds.items())
    taken = sum(lenient.number(member, "seconds") or 0 for member in members)
    extras = duration(taken) if taken >= 0.05 else ""
    label = tag("span", summary[:1].upper() + summary[1:], "what")
    return f"{part.mark('done')}{label}{tag('span', extras, 'extras')}"


def _times(kind: str, number: int) -> str:
    if kind == "read":
        return f"read {count(number, 'file')}"
    often = {1: "once", 2: "twice"}.get(number, f"{number} times")
    return f"{TIMES.get(kind, 'used a tool')} {often}"
