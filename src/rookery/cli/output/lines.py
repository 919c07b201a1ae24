"""Rendering parts as lines: diffs, output, lists, forms; also asks, notices and prompts."""

import time
from typing import TYPE_CHECKING, Any

from rookery import render
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
    """Return the lines of one part, without an indent."""
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
            facts = [each for each in (name, clean_line(part["mime"]), size) if each]
            return [f"[image {', '.join(facts)}]"]
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
    """Return the lines of a unified diff, without the file names."""
    lines = [paint.in_(SIDES.get(line[:1], ""), line) for line in _diff_lines(part)]
    if part.get("cut"):
        lines.append(paint.faint(f"… {count(part['cut'], 'more character')}"))
    return middle(lines, DIFF_LINES, paint, full)


def _diff_lines(part: Part) -> list[str]:
    hunks: list[list[Row]] = [[]]
    for row in render.diff.rows_of(part, clean):
        if row.sign == render.diff.GAP:
            hunks.append([])
        else:
            hunks[-1].append(row)
    rows: list[str] = []
    for hunk in hunks:
        if part.get("old") and hunk and part.get("line", 1) is not None:
            old = _range([row.old for row in hunk if row.old], part)
            new = _range([row.new for row in hunk if row.new], part)
            rows.append(f"@@ -{old} +{new} @@")
        rows += [row.sign + row.text for row in hunk]
    return rows


def _range(numbers: list[int], part: Part) -> str:
    """Return the range in a hunk's header, such as `12,7`."""
    first = numbers[0] if numbers else part.get("line", 1) - 1
    return f"{first},{len(numbers)}" if len(numbers) != 1 else str(first)


# ---------------------------------------------------------------- output, lists, forms


def of_output(text: str, paint: Paint, *, full: bool = False) -> list[str]:
    lines = clean_output(text.strip("\n"), colour=paint.colour)
    return middle(lines, OUTPUT_LINES, paint, full) if text.strip() else []


def middle(lines: list[str], most: int, paint: Paint, full: bool = False) -> list[str]:
    """Keep the beginning and the end, and count what is left out; cut long lines."""
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
    lines = []
    for field in forms.fields_of(lenient.mapping(part, "schema")):
        label = lenient.text(field.schema, "title") or field.about
        kind = lenient.text(field.schema, "type", "text") + (", required" * field.required)
        lines.append(clean_line(f"{field.name} ({kind})" + (f": {label}" if label else "")))
        choices = forms.choices(field.schema)[:CHOICES]
        lines += [f"  {clean_line(choice.line)}" for choice in choices]
    return lines


def of_message(block: Block, paint: Paint, *, full: bool = False) -> list[str]:
    """Return the lines of a sub-agent's message: what it says, is told, and hands over."""
    body = clean(block["text"]).strip("\n").split("\n") if block["text"].strip() else []
    for part in block["parts"]:
        body += of_part(part, paint, full=full)
    title = [paint.faint(f"{clean_line(block['title'])}:")] if block["title"] and body else []
    return [*title, *middle(body, OUTPUT_LINES, paint, full)]


def of_prompt(block: Block, paint: Paint) -> list[str]:
    """Return the lines of a prompt, with a rule at the left."""
    rule = paint.mark("rule")
    head = [paint.faint(clean_line(block["title"]))] if block["title"] else []
    body = clean(block["text"]).strip("\n").split("\n") if block["text"] else []
    for part in block["parts"]:
        body += of_part(part, paint)
    return [f"{rule} {line}".rstrip() for line in [*head, *body]]


def of_thought(block: Block, paint: Paint, *, full: bool = False) -> list[str]:
    """Return how long a thought took; in full, also its text."""
    text = clean(block["text"]).strip()
    head = f"{paint.sign('thought')} {captions.thought(block)}"
    body = text.split("\n") if full and text else []
    return [paint.faint(head), *(f"  {paint.faint(line)}".rstrip() for line in body)]


def of_notice(block: Block, paint: Paint) -> list[str]:
    """Return the lines of a notice: what happened, why, and what helps."""
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
    """Return the commands for a block's actions."""
    rows = []
    for action in block["actions"]:
        match action:
            case {"choose": "agent", "command": {"do": "switch"}}:
                rows.append(f"rookery switch-agent {session} AGENT")
            case {"compose": {"recap": int(seq)}}:
                rows.append(f"rookery recap {session} --before {seq}")
            case {"command": {"do": "retry"}}:
                rows.append(f"rookery retry {session}")
            case {"command": {"do": "prompt"}}:
                rows.append(f'rookery prompt {session} "{CONTINUE_WORDS}"')
            case {"command": {"do": "clear"}}:
                rows.append(f"rookery clear {session}")
            case {"command": {"do": "resume", **rest}}:
                then = "--not-at-reset" if rest.get("off") else "--at-reset"
                rows.append(f"rookery retry {session} {then}")
            case {"command": {"do": "settings"}}:
                rows.append(CONFIRM)
            case {"window": "move"}:
                rows.append(f"rookery move {session}")
            case {"window": "log", "of": "worker"}:
                rows.append(f"rookery logs --worker {session}")
            case {"window": "log"}:
                rows.append(f"rookery logs {session}")
            case {"command": {"do": "restart"}}:
                rows.append(f"rookery restart {session}")
            case {"window": str(name)} if name in WINDOWS:
                rows.append(WINDOWS[name])
            case _:
                continue
        rows[-1] = f"  {clean_line(action['label'])}: {rows[-1]}"
    return [paint.faint(line) for line in rows]


def of_divider(block: Block, paint: Paint) -> list[str]:
    rule = paint.sign("line") * 2
    title = clean_line(block["title"])
    text = clean(block["text"]).strip().split("\n") if block["text"].strip() else []
    return [paint.faint(f"{rule} {title} {rule}"), *(paint.faint(f"   {line}") for line in text)]


def of_raw(block: Block, paint: Paint) -> str:
    """Return the line of an update of an unknown kind."""
    value = block["parts"][0].get("value") if block["parts"] else ""
    title = clean_line(block["title"])
    return paint.faint(f"{paint.sign('dot')} {title} {short_json(value, 160)}")


# ---------------------------------------------------------------- asks


def of_ask(
    block: Block, paint: Paint, agent: str, cwd: str = "", *, alone: bool = False
) -> list[str]:
    """Return the lines of an ask: what will happen, in full, then the agent's options in its order.
    `alone`: without the transcript, in which a plan would be just above."""
    danger = clean_line(block.get("danger", ""))
    name = "failed" if danger else "needs-you"
    rows = [f"{paint.mark('needs-you')} {paint.in_(name, asks.question(block, agent, cwd))}"]
    for piece in asks.pieces(block, agent, cwd):
        rows += _piece(piece if alone or not piece.title else _titled(piece), paint)
    for part in block["parts"]:
        if asks.says_more(part, block):
            rows += [f"    {line}" for line in of_part(part, paint, full=True)]
    if danger:
        rows.append(f"  {paint.in_('failed', f'Cannot be undone: this {danger}')}")
    rows += [f"  {paint.faint(line)}" for line in lenient.texts(block, "explains")]
    if is_link(block):
        return [*rows, *(f"  {letter}  {meaning}" for letter, meaning in LINK_ANSWERS)]
    keys = letters_of(block)
    for number, action in enumerate(block["actions"], 1):
        rows.append(_option(number, action, keys.get(number - 1, ""), paint))
        if alone and (reach := clean_line(lenient.text(action, "reach"))):
            rows.append(f"       {paint.faint(reach)}")
    if danger:  # an edge along the card
        rows = [f"{paint.in_('failed', paint.sign('rule'))} {line}" for line in rows]
    return rows


def _titled(piece: asks.Piece) -> asks.Piece:
    return piece._replace(text=piece.title)


def _piece(piece: asks.Piece, paint: Paint) -> list[str]:
    """Return a piece's lines. What will run has an edge, so it cannot pass for our text."""
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
    """Return the line of an option. `letter`: the key for its meaning, the same for every agent."""
    label = f"  {number}  {clean_line(action['label'])}" + (f" [{letter}]" if letter else "")
    why = clean_line(action.get("disabled", ""))
    if why:
        return paint.faint(f"{label} ({why})")
    return label + (f" {paint.sign('dot')} asks you to confirm" if action.get("danger") else "")


def of_outcome(block: Block, paint: Paint) -> list[str]:
    """Return how an ask ended, and where: `✓ You allowed it (in the terminal)`; below it, the
    user's remark."""
    outcome, mark = captions.outcome(block, "cli"), captions.outcome_mark(block)
    name = "stopped" if block["status"] == "cancelled" else "note"
    head = f"  {paint.mark(mark) if mark else paint.sign('answer')} {paint.in_(name, outcome)}"
    remark = captions.remark(block, clean)
    return [head, *(f"    {line}" for line in remark.split("\n") if remark)]
