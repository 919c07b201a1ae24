"""Parts as lines: diffs, output, lists, forms; and asks, notices, prompts and dividers."""

import time
from typing import TYPE_CHECKING, Any

from rookery.cli.output.paint import Paint
from rookery.cli.output.safe import clean, clean_line, clean_output
from rookery.core.asks import forms
from rookery.core.blocks import Block, asks, captions
from rookery.core.blocks.failures import CONTINUE_WORDS
from rookery.core.json import dumps, lenient
from rookery.core.json.safe_text import count
from rookery.core.settings.held import CONFIRM
from rookery.render.ask_choices import is_link, letters_of
from rookery.render.local_time import localized
from rookery.render.signs import notice_state

if TYPE_CHECKING:
    from rookery.render.diff import Row


type Part = dict[str, Any]

LONGEST_LINE = 400
DIFF_LINES = 60
OUTPUT_LINES = 16
TEXT_LINES = 40
CHOICES = 50

LINK_ANSWERS = (("y", "I opened it"), ("n", "Decline"))
BOXES = {"completed": "[x]", "in_progress": "[>]"}
TOKENS = {"completed": "done", "in_progress": "running"}
SIDES = {"+": "done", "-": "failed", "@": "faint"}


def of_part(part: Part, paint: Paint, *, full: bool = False) -> list[str]:
    """The lines of one part, without an indent."""
    match part["type"]:
        case "markdown":
            return middle(clean(part["text"]).strip("\n").split("\n"), TEXT_LINES, paint, full)
        case "diff":
            return of_diff(part, paint, full=full)
        case "terminal":
            return of_output(lenient.text(part, "text"), paint, full=full)
        case "checklist":
            return [of_item(item, paint) for item in part["items"]]
        case "image":
            size = count(part.get("bytes", 0), "byte")
            name = clean_line(lenient.text(part, "name"))
            said = [each for each in (name, clean_line(part["mime"]), size) if each]
            return [f"[image {', '.join(said)}]"]
        case "link":
            name, uri = clean_line(part["name"]), clean_line(part["uri"])
            return [f"[{name}]" if name == uri else f"[{name}] {uri}"]
        case "form":
            return of_form(part)
    return [short_json(part.get("value"), LONGEST_LINE if not full else 1_000_000)]


def short_json(value: object, most: int) -> str:
    text = clean_line(value if isinstance(value, str) else dumps(value))
    return text if len(text) <= most else text[: most - 1] + "…"


# ---------------------------------------------------------------- diffs


def of_diff(part: Part, paint: Paint, *, full: bool = False) -> list[str]:
    """A unified diff without the file names."""
    lines = [paint.in_(SIDES.get(line[:1], ""), line) for line in _diff_lines(part)]
    if part.get("cut"):
        lines.append(paint.faint(f"… {count(part['cut'], 'more character')}"))
    return middle(lines, DIFF_LINES, paint, full)


def _diff_lines(part: Part) -> list[str]:
    from rookery.render.diff import GAP, rows_of

    hunks: list[list[Row]] = [[]]
    for row in rows_of(part, clean):
        if row.sign == GAP:
            hunks.append([])
        else:
            hunks[-1].append(row)
    found: list[str] = []
    for hunk in hunks:
        if part.get("old") and hunk and part.get("line", 1) is not None:
            old = _range([row.old for row in hunk if row.old], part)
            new = _range([row.new for row in hunk if row.new], part)
            found.append(f"@@ -{old} +{new} @@")
        found += [row.sign + row.text for row in hunk]
    return found


def _range(numbers: list[int], part: Part) -> str:
    """`12,7` of a hunk's header."""
    first = numbers[0] if numbers else part.get("line", 1) - 1
    return f"{first},{len(numbers)}" if len(numbers) != 1 else str(first)


# ---------------------------------------------------------------- output, lists, forms


def of_output(text: str, paint: Paint, *, full: bool = False) -> list[str]:
    lines = clean_output(text.strip("\n"), colour=paint.colour)
    return middle(lines, OUTPUT_LINES, paint, full) if text.strip() else []


def middle(lines: list[str], most: int, paint: Paint, full: bool = False) -> list[str]:
    """The beginning and the end, with a count of what is left out; long lines are cut."""
    if full:
        return lines
    if len(lines) > most:
        head = most // 2
        tail = most - head - 1
        left = count(len(lines) - head - tail, "more line")
        more = paint.faint(f"{paint.sign('more')} {left}")
        lines = [*lines[:head], more, *lines[-tail:]]
    return [_shortened(line) for line in lines]


def _shortened(line: str) -> str:
    lost = len(line) - LONGEST_LINE
    if lost <= 20:
        return line
    # A colour without its end would run on.
    end = "\x1b[0m" if "\x1b" in line else ""
    return f"{line[:LONGEST_LINE]}{end} … {count(lost, 'more character')}"


def of_item(item: Part, paint: Paint) -> str:
    status = lenient.text(item, "status")
    box = paint.in_(TOKENS.get(status, ""), BOXES.get(status, "[ ]"))
    return f"{box} {clean_line(lenient.text(item, 'text'))}"


def of_form(part: Part) -> list[str]:
    schema = lenient.mapping(part, "schema")
    needed = lenient.texts(schema, "required")
    lines = []
    for name, field in lenient.mapping(schema, "properties").items():
        words = lenient.text(field, "title") or lenient.text(field, "description")
        kind = lenient.text(field, "type", "text") + (", required" if name in needed else "")
        lines.append(clean_line(f"{name} ({kind})" + (f": {words}" if words else "")))
        lines += [f"  {clean_line(choice.words)}" for choice in forms.choices(field)[:CHOICES]]
    return lines


def of_message(block: Block, paint: Paint, *, full: bool = False) -> list[str]:
    """Of a sub-agent: what it says, is told, and hands over."""
    told = clean(block["text"]).strip("\n").split("\n") if block["text"].strip() else []
    for part in block["parts"]:
        told += of_part(part, paint, full=full)
    title = [paint.faint(f"{clean_line(block['title'])}:")] if block["title"] and told else []
    return [*title, *middle(told, OUTPUT_LINES, paint, full)]


def of_prompt(block: Block, paint: Paint) -> list[str]:
    """With a rule at the left."""
    rule = paint.mark("rule")
    head = [paint.faint(clean_line(block["title"]))] if block["title"] else []
    body = clean(block["text"]).strip("\n").split("\n") if block["text"] else []
    for part in block["parts"]:
        body += of_part(part, paint)
    return [f"{rule} {line}".rstrip() for line in [*head, *body]]


def of_thought(block: Block, paint: Paint, *, full: bool = False) -> list[str]:
    """How long it took; in full: also what it says."""
    said = clean(block["text"]).strip()
    head = f"{paint.sign('thought')} {captions.thought(block)}"
    body = said.split("\n") if full and said else []
    return [paint.faint(head), *(f"  {paint.faint(line)}".rstrip() for line in body)]


def of_notice(block: Block, paint: Paint) -> list[str]:
    """What happened, why, and what helps."""
    name = notice_state(block)
    text = localized(block, time.time() * 1000)
    body = clean(text).strip("\n").split("\n") if text.strip() else []
    head = clean_line(block["title"]) if block["title"] else body.pop(0) if body else ""
    for part in block["parts"]:
        body += of_part(part, paint)
    mark = paint.mark(name)
    return [f"{mark} {paint.in_(name, head)}", *(f"  {line}" for line in body)]


WINDOWS = {"agents": "rookery agents", "servers": "rookery mcp", "model": "rookery setup"}
"""The commands that do what an action's window does."""


def of_actions(block: Block, session: str, paint: Paint) -> list[str]:
    """The commands for a block's actions."""
    found = []
    for action in block["actions"]:
        match action:
            case {"choose": "agent", "command": {"do": "switch"}}:
                found.append(f"rookery switch-agent {session} AGENT")
            case {"compose": {"recap": int(seq)}}:
                found.append(f"rookery recap {session} --before {seq}")
            case {"command": {"do": "retry"}}:
                found.append(f"rookery retry {session}")
            case {"command": {"do": "prompt"}}:
                found.append(f'rookery prompt {session} "{CONTINUE_WORDS}"')
            case {"command": {"do": "clear"}}:
                found.append(f"rookery clear {session}")
            case {"command": {"do": "resume", **rest}}:
                then = "--not-at-reset" if rest.get("off") else "--at-reset"
                found.append(f"rookery retry {session} {then}")
            case {"command": {"do": "settings"}}:
                found.append(CONFIRM)
            case {"window": "move"}:
                found.append(f"rookery move {session}")
            case {"window": "log", "of": "worker"}:
                found.append(f"rookery logs --worker {session}")
            case {"window": "log"}:
                found.append(f"rookery logs {session}")
            case {"command": {"do": "restart"}}:
                found.append(f"rookery restart {session}")
            case {"window": str(name)} if name in WINDOWS:
                found.append(WINDOWS[name])
            case _:
                continue
        found[-1] = f"  {clean_line(action['label'])}: {found[-1]}"
    return [paint.faint(line) for line in found]


def of_divider(block: Block, paint: Paint) -> list[str]:
    rule = paint.sign("line") * 2
    words = clean_line(block["title"])
    text = clean(block["text"]).strip().split("\n") if block["text"].strip() else []
    return [paint.faint(f"{rule} {words} {rule}"), *(paint.faint(f"   {line}") for line in text)]


def of_raw(block: Block, paint: Paint) -> str:
    """An update of an unknown kind."""
    value = block["parts"][0].get("value") if block["parts"] else ""
    title = clean_line(block["title"])
    return paint.faint(f"{paint.sign('dot')} {title} {short_json(value, 160)}")


# ---------------------------------------------------------------- asks


def of_ask(
    block: Block, paint: Paint, agent: str, cwd: str = "", *, alone: bool = False
) -> list[str]:
    """What will happen, in full, then the agent's options in its order. `alone`: without the
    transcript, which has a plan just above."""
    danger = clean_line(block.get("danger", ""))
    name = "failed" if danger else "needs-you"
    found = [f"{paint.mark('needs-you')} {paint.in_(name, asks.question(block, agent, cwd))}"]
    for piece in asks.pieces(block, agent, cwd):
        found += _piece(piece if alone or not piece.title else _titled(piece), paint)
    for part in block["parts"]:
        if asks.says_more(part, block):
            found += [f"    {line}" for line in of_part(part, paint, full=True)]
    if danger:
        found.append(f"  {paint.in_('failed', f'Cannot be undone: this {danger}')}")
    found += [f"  {paint.faint(line)}" for line in lenient.texts(block, "explains")]
    if is_link(block):
        return [*found, *(f"  {letter}  {words}" for letter, words in LINK_ANSWERS)]
    keys = letters_of(block)
    for number, action in enumerate(block["actions"], 1):
        found.append(_option(number, action, keys.get(number - 1, ""), paint))
        if alone and (reach := clean_line(lenient.text(action, "reach"))):
            found.append(f"       {paint.faint(reach)}")
    if danger:  # an edge along the card
        found = [f"{paint.in_('failed', paint.sign('rule'))} {line}" for line in found]
    return found


def _titled(piece: asks.Piece) -> asks.Piece:
    return piece._replace(text=piece.title)


def _piece(piece: asks.Piece, paint: Paint) -> list[str]:
    """What will run has an edge, so that it cannot pass for our own text."""
    match piece.look:
        case "words":
            return [f"  {clean(piece.text)}"]
        case "note":
            return [f"    {paint.in_('warn', piece.text)}"]
        case "diff":
            path = [clean_line(piece.text)] if piece.text else []
            body = of_diff(piece.part or {}, paint, full=True)
            return [f"    {line}" for line in path + body]
    edge = paint.faint(paint.sign("edge"))
    return [f"    {edge} {line}".rstrip() for line in clean(piece.text).split("\n")]


def _option(number: int, action: dict[str, Any], letter: str, paint: Paint) -> str:
    """`letter`: by what it means, the same for every agent."""
    label = f"  {number}  {clean_line(action['label'])}" + (f" [{letter}]" if letter else "")
    why = clean_line(action.get("disabled", ""))
    if why:
        return paint.faint(f"{label} ({why})")
    return label + (f" {paint.sign('dot')} asks you to confirm" if action.get("danger") else "")


def of_outcome(block: Block, paint: Paint) -> list[str]:
    """How an ask ended, and where: `✓ You allowed it (in the terminal)`; below it, what the user
    said with it."""
    said, mark = captions.outcome(block, "cli"), captions.outcome_mark(block)
    name = "stopped" if block["status"] == "cancelled" else "note"
    head = f"  {paint.mark(mark) if mark else paint.sign('answer')} {paint.in_(name, said)}"
    remark = captions.remark(block, clean)
    return [head, *(f"    {line}" for line in remark.split("\n") if remark)]
