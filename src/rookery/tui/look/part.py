"""The parts of a block as lines."""

import json
from typing import Any

from rich.style import Style

from rookery.core import units
from rookery.core.asks import forms
from rookery.core.blocks.parts import unshown
from rookery.core.json import lenient
from rookery.render.links import can_follow
from rookery.tui.look import diff, markdown
from rookery.tui.look.colours import highlighted, printed
from rookery.tui.look.runs import (
    Line,
    clean,
    clean_line,
    count,
    fold,
    leading_to,
    prefixed,
    trimmed,
    wrap,
)
from rookery.tui.look.view import View

type Part = dict[str, Any]

FOLDED = 12
OPENED = 400
"""Lines of one part."""

LONGEST_TEXT = 64_000
"""Characters of one part's prose."""

CHOICES = 20
"""Choices listed for a form's field; the form itself has them all."""


def rendered(part: Part, view: View) -> list[Line]:
    """Return a part as lines. One of an unknown or damaged shape is shown as JSON."""
    match part:
        case {"type": "markdown", "text": str(text)}:
            return _markdown(part, text, view)
        case {"type": "diff"}:
            limit = most(view) * 2
            return diff.rendered(part, view.width, view.look, split=view.split, most=limit)
        case {"type": "terminal"}:
            return output(lenient.text(part, "text"), view, most(view))
        case {"type": "checklist", "items": list(items)}:
            return checklist(items, view)
        case {"type": "image"}:
            return image(part, view)
        case {"type": "link"}:
            return _link(part, view)
        case {"type": "form"}:
            return form(part, view)
    return as_json(part.get("value") if part.get("type") == "json" else part, view)


def most(view: View) -> int:
    return OPENED if view.opened else FOLDED


def _markdown(part: Part, text: str, view: View) -> list[Line]:
    shown = text[:LONGEST_TEXT].strip("\n")
    lines = markdown.rendered(shown, view.prose, view.look, view.width)
    if name := clean_line(lenient.text(part, "name")):
        lines = [[(name, view.look.soft)], *lines]
    lines = capped(lines, most(view), view)
    lost = max(0, len(text) - LONGEST_TEXT) + (lenient.integer(part, "cut") or 0)
    if lost and not text.startswith("… "):
        lines.append([(f"… {count(lost, 'more character')}", view.look.soft)])
    return lines


def capped(lines: list[Line], most: int, view: View) -> list[Line]:
    if len(lines) <= most + 1:
        return lines
    more = count(len(lines) - most, "more line")
    return [*lines[:most], [(f"… {more}", view.look.soft)]]


def output(text: str, view: View, most: int, *, tail: bool = True) -> list[Line]:
    """Return the output of a command: its last lines, or its first ones."""
    text = text.strip("\n")
    if not text.strip():
        return []
    total = text.count("\n") + 1
    more: Line = [(f"… {count(total - most, 'more line')}", view.look.soft)]
    if total <= most + 1:
        return _folded(text, view, most * 3)
    if tail:
        kept = _folded("\n".join(text.rsplit("\n", most)[1:]), view, most * 3)
        return [more, *kept]
    return [*_folded("\n".join(text.split("\n", most)[:most]), view, most * 3), more]


def _folded(text: str, view: View, most: int) -> list[Line]:
    lines: list[Line] = []
    for line in printed(text, view.look):
        lines += fold([(piece, view.look.soft + style) for piece, style in line], view.width)
    return capped(lines, most, view)


STEPS = {"completed": "done", "in_progress": "running"}
"""The state of a plan's step."""


def checklist(items: list[Any], view: View) -> list[Line]:
    look = view.look
    lines: list[Line] = []
    for item in items:
        status = lenient.text(item, "status")
        box, style = look.states[STEPS.get(status, "pending")]
        text_style = {"completed": look.soft, "in_progress": look.heading}.get(status, look.ink)
        text = clean_line(lenient.text(item, "text"))
        lines += prefixed(
            wrap([(text, text_style)], max(1, view.prose - 2)),
            [(f"{box} ", style)],
            [("  ", look.plain)],
        )
    return lines


def image(part: Part, view: View) -> list[Line]:
    """Return an image's caption, and the picture if the terminal draws it between lines."""
    name = clean_line(lenient.text(part, "name"))
    size = lenient.number(part, "bytes")
    details = [name, clean_line(lenient.text(part, "mime")), units.size(size) if size else ""]
    caption_text = " · ".join(each for each in details if each)
    why = unshown(part)
    drawing = view.drawing() if part.get("blob") and not why else None
    keys = f"  {view.key('block.show')} to open" if part.get("blob") else ""
    if drawing is not None and drawing.can_open:
        keys = f"  {view.key('block.view')} to view, {view.key('block.show')} to open"
    look = view.look
    press = Style.from_meta({"want": "view"}) if drawing is not None else look.plain
    caption = [("▣ ", look.accent + press), (caption_text or "image", look.ink + press)]
    line = trimmed([*caption, (f"  {why}" if why else keys, look.faint)], view.width)
    rows = drawing.rows(part, view.width) if drawing is not None else []
    return [line, *([(text, style + press) for text, style in row] for row in rows)]


def _link(part: Part, view: View) -> list[Line]:
    name, uri = clean_line(lenient.text(part, "name")), clean_line(lenient.text(part, "uri"))
    style = view.look.link + (leading_to(uri) if can_follow(uri) else view.look.plain)
    runs = [("↗ ", view.look.accent), (name or uri, style)]
    if uri and name not in ("", uri):
        runs.append((f" {uri}", view.look.faint))
    return wrap(runs, view.prose)


def form(part: Part, view: View) -> list[Line]:
    look = view.look
    output: list[Line] = []
    for field in forms.fields_of(lenient.mapping(part, "schema")):
        runs = [("▢ ", look.faint), (clean_line(field.title), look.ink)]
        if field.required:
            runs.append((" required", look.needs))
        if field.about:
            runs.append((f"  {clean_line(field.about)}", look.soft))
        output += wrap(runs, view.prose)
        for choice in forms.choices(field.schema)[:CHOICES]:
            label = clean_line(choice.name)
            option: Line = [(label, look.ink), (f"  {clean_line(choice.about)}", look.soft)]
            lines = wrap(option, max(1, view.prose - 4))
            output += prefixed(lines, [("  · ", look.faint)], [("    ", look.faint)])
    return output


def brief_json(value: object) -> str:
    """Return the start of a value, on one line."""
    try:
        return json.dumps(value, ensure_ascii=False)[:300]
    except (ValueError, RecursionError):
        return f"a {type(value).__name__}"


def as_json(value: object, view: View) -> list[Line]:
    """Return a value, indented and in colour."""
    if isinstance(value, str):
        rows = clean(value[:4000]).strip("\n").split("\n")
        lines = [line for row in rows for line in fold([(row, view.look.soft)], view.width)]
        return capped(lines, most(view), view)
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False)[:20_000]
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__} nested too deeply"
    output: list[Line] = []
    for line in highlighted(text, "json", view.look)[: most(view) + 2]:
        output += fold(line, view.width)
    return capped(output, most(view), view)
