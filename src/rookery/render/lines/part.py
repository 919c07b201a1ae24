"""The parts of a block as lines."""

import json
from typing import Any

from rookery.core import units
from rookery.core.asks import forms
from rookery.core.blocks.parts import unshown
from rookery.core.json import lenient
from rookery.render import lines as drawers
from rookery.render import terminal
from rookery.render.lines.texts import highlighted, printed
from rookery.render.lines.view import WHOLE, View
from rookery.render.links import can_follow
from rookery.render.runs import (
    Line,
    clean,
    clean_line,
    count,
    fold,
    prefixed,
    styled,
    trimmed,
    wrap,
)
from rookery.render.signs import SIGNS

type Part = dict[str, Any]

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
            return drawers.diff.rendered(part, view, view.most * 2)
        case {"type": "terminal"}:
            return output(lenient.text(part, "text"), view, view.most)
        case {"type": "checklist", "items": list(items)}:
            return [line for item in items for line in step(item, view)]
        case {"type": "image"}:
            return image(part, view)
        case {"type": "link"}:
            return _link(part, view)
        case {"type": "form"}:
            return form(part, view)
    return as_json(part.get("value") if part.get("type") == "json" else part, view)


def _markdown(part: Part, text: str, view: View) -> list[Line]:
    shown = view.text(text, LONGEST_TEXT).strip("\n")
    lines = drawers.markdown.prose(shown, view)
    if name := clean_line(lenient.text(part, "name")):
        lines = [[(name, "soft")], *lines]
    lines = capped(lines, view.most)
    lost = max(0, len(text) - LONGEST_TEXT if not view.printed else 0)
    lost += lenient.integer(part, "cut") or 0
    if lost and not text.startswith("… "):
        lines.append([(f"… {count(lost, 'more character')}", "soft")])
    return lines


def capped(lines: list[Line], most: int) -> list[Line]:
    if len(lines) <= most + 1:
        return lines
    return [*lines[:most], more_lines(len(lines) - most)]


def more_lines(number: int) -> Line:
    return [(f"… {count(number, 'more line')}", "soft")]


def output(text: str, view: View, most: int, *, tail: bool = True) -> list[Line]:
    """Return the output of a command: its last lines, or its first ones; in print both ends."""
    text = text.strip("\n")
    if not text.strip():
        return []
    total = text.count("\n") + 1
    if total <= most + 1:
        return _folded(text, view, most * 3)
    more = more_lines(total - most)
    if view.printed:
        head = _folded("\n".join(text.split("\n", most // 2)[: most // 2]), view, most * 3)
        last = text.rsplit("\n", most - most // 2)[1:]
        return [*head, more, *_folded("\n".join(last), view, most * 3)]
    if tail:
        return [more, *_folded("\n".join(text.rsplit("\n", most)[1:]), view, most * 3)]
    return [*_folded("\n".join(text.split("\n", most)[:most]), view, most * 3), more]


def _folded(text: str, view: View, most: int) -> list[Line]:
    longest = view.limit if view.limit == WHOLE else terminal.LONGEST_LINE
    lines = printed(text, "output", longest=longest)
    return capped([row for line in lines for row in fold(line, view.width)], most)


STEPS = {"completed": "done", "in_progress": "running"}
"""The state of a plan's step."""


def step(item: Any, view: View) -> list[Line]:
    """Return one step of a plan."""
    status = lenient.text(item, "status")
    state = STEPS.get(status, "pending")
    name = {"completed": "soft", "in_progress": "heading"}.get(status, "ink")
    text = clean_line(lenient.text(item, "text"))
    lines = wrap([(text, name)], max(1, view.prose - 2))
    return prefixed(lines, [(f"{SIGNS[state][0]} ", state)], [("  ", "")])


def image(part: Part, view: View) -> list[Line]:
    """Return an image's caption, and the picture if the terminal draws it between lines."""
    name = clean_line(lenient.text(part, "name"))
    size = lenient.number(part, "bytes")
    details = [name, clean_line(lenient.text(part, "mime")), units.size(size) if size else ""]
    caption_text = " · ".join(each for each in details if each)
    why = unshown(part)
    drawing = view.drawing() if part.get("blob") and not why else None
    hints = [view.controls.hint("block.show", "to open")] if part.get("blob") else []
    if drawing is not None and drawing.can_open:
        hints.insert(0, view.controls.hint("block.view", "to view"))
    press = "want=view" if drawing is not None else ""
    caption = [("▣ ", styled("accent", press)), (caption_text or "image", styled("ink", press))]
    about = why or ", ".join(filter(None, hints))
    line = trimmed([*caption, (f"  {about}" if about else "", "faint")], view.width)
    rows = drawing.rows(part, view.width) if drawing is not None else []
    return [line, *([(text, styled(name, press)) for text, name in row] for row in rows)]


def _link(part: Part, view: View) -> list[Line]:
    name, uri = clean_line(lenient.text(part, "name")), clean_line(lenient.text(part, "uri"))
    style = f"link link={uri}" if can_follow(uri) else "link"
    runs = [("↗ ", "accent"), (name or uri, style)]
    if uri and name not in ("", uri):
        runs.append((f" {uri}", "faint"))
    return wrap(runs, view.prose)


def form(part: Part, view: View) -> list[Line]:
    output: list[Line] = []
    for field in forms.fields_of(lenient.mapping(part, "schema")):
        runs = [("▢ ", "faint"), (clean_line(field.title), "ink")]
        if field.required:
            runs.append((" required", "needs"))
        if field.about:
            runs.append((f"  {clean_line(field.about)}", "soft"))
        if how := view.controls.field(clean_line(field.name)):
            runs.append((f"  {how}", "faint"))
        output += wrap(runs, view.prose)
        for choice in forms.choices(field.schema)[:CHOICES]:
            label = clean_line(choice.name)
            option: Line = [(label, "ink"), (f"  {clean_line(choice.about)}", "soft")]
            lines = wrap(option, max(1, view.prose - 4))
            output += prefixed(lines, [("  · ", "faint")], [("    ", "faint")])
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
        rows = clean(view.text(value, 4000)).strip("\n").split("\n")
        lines = [line for row in rows for line in fold([(row, "soft")], view.width)]
        return capped(lines, view.most)
    try:
        text = view.text(json.dumps(value, indent=2, ensure_ascii=False), 20_000)
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__} nested too deeply"
    output: list[Line] = []
    for line in highlighted(text, "" if view.source else "json")[: view.most + 2]:
        output += fold(line, view.width)
    return capped(output, view.most)
