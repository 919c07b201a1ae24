"""A tool call as a card: a line with its state, verb and object that opens to details."""

from typing import Any

from rookery import render
from rookery.core.blocks import Block, captions
from rookery.core.json import lenient
from rookery.render import lines as drawers
from rookery.render.lines import part
from rookery.render.lines.view import View
from rookery.render.runs import Line, clean, clean_line, fold, prefixed, trimmed
from rookery.render.signs import SIGNS

LIVE = 6
"""Lines of output on a running card."""

LAST, NEAR = 3, 12
"""Lines of output of a command that is over, and those among which they are found."""

WHY = 8
"""Lines of a folded card that failed."""

CHANGE, COMMAND, SLACK = 20, 10, 3
"""Lines of a change and of a command that a folded card shows, and so few more that folding would
save nothing."""


PICTURES = 3
"""Pictures that a folded card shows."""


def rendered(block: Block, terminals: list[Block], view: View) -> list[Line]:
    inner = view.narrower(2)
    offers = view.controls.actions(block, inner)
    lines = [*headline(block, terminals, view), *prefixed(offers, [("  ", "")])]
    if captions.is_subagent(block) and not has_details(block, terminals):
        return lines
    if captions.is_rejected(block):
        body = details(block, terminals, inner) if view.opened and captions.diffs(block) else []
    elif view.opened:
        body = details(block, terminals, inner)
    elif captions.diffs(block) and block["status"] != "failed":
        body = [] if view.folded else _changes(block, inner)
    elif not captions.is_over(block):
        body = [line for each in terminals for line in part.output(each["text"], inner, LIVE)]
    elif block["status"] == "failed":
        body = details(block, terminals, inner)
        body = part.capped(body, WHY)
    elif block.get("kind") == "execute" or block["role"] == "terminal":
        body = _last_lines(block, terminals, inner)
    else:
        body = []
    if not view.opened and not view.folded and block["status"] != "failed":
        body = [*body, *_pictures(block, inner)]
    body = [*_command(block, inner), *body]
    return lines + prefixed(body, [("  ", "")])


def _command(block: Block, view: View) -> list[Line]:
    """Return a command of several lines as it was written; a shorter one is in the headline."""
    command = captions.command_of(block) if captions.is_command(block) else ""
    if "\n" not in command or view.folded:
        return []
    most = view.limit if view.opened else COMMAND
    rows = clean(command).split("\n")
    shown = rows if len(rows) <= most + SLACK else rows[:most]
    width = max(1, view.width - 2)
    lines = [line for row in shown for line in fold([(row, "ink")], width)]
    lines = prefixed(part.capped(lines, 3 * most), [("│ ", "faint")])
    if len(shown) < len(rows):
        lines.append(part.more_lines(len(rows) - most))
    return lines


def is_short_change(block: Block) -> bool:
    """Tell whether a card shows a change in full without being opened."""
    if captions.is_rejected(block) or block["status"] == "failed":
        return False
    parts = captions.diffs(block)
    return bool(parts) and sum(len(render.diff.rows_of(each)) for each in parts) <= CHANGE + SLACK


def _changes(block: Block, view: View) -> list[Line]:
    """Return what a call changes; of much, the beginning."""
    parts = captions.diffs(block)
    lines: list[Line] = []
    room, more = CHANGE, 0
    for each in parts:
        rows = len(render.diff.rows_of(each))
        shown = min(rows, room if rows > room + SLACK else rows) if room > 0 else 0
        if shown and len(parts) > 1:
            lines.append(_path(each, view))
        if shown:
            lines += drawers.diff.body(each, view, shown)
        room, more = room - shown, more + rows - shown
    if more:
        lines.append(part.more_lines(more))
    return part.capped(lines, 3 * CHANGE)


def _path(change: dict[str, Any], view: View) -> Line:
    return [(captions.short_path(drawers.diff.title(change), view.cwd), "heading")]


def _last_lines(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """Return the end of a command's output, which shows how it went."""
    texts = [each["text"] for each in terminals]
    texts += [
        captions.unfenced(lenient.text(each, "text"))
        for each in captions.parts_of(block)
        if lenient.text(each, "type") in ("markdown", "terminal")
    ]
    text = next((text.strip() for text in texts if text.strip()), "")
    rows = text.rsplit("\n", NEAR)[-NEAR:]
    kept = [row for row in rows if row.strip()][-LAST:]
    return part.output("\n".join(kept), view, LAST)[-LAST:]


def headline(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """Return the headline, such as `✓ edit src/app.py +12 −3` or `✓ run pytest -q · 4.2 s · exit
    0`: one line, unless it is printed."""
    state = captions.mark_of(block)
    verb, thing = words_of(block, view.cwd)
    runs: Line = [(f"{SIGNS[state][0]} ", state)]
    if captions.is_subagent(block) and view.controls.folds:
        runs.append(("▾ " if view.opened else "▸ ", "soft"))
    if verb:
        runs.append((f"{verb} ", "soft"))
    runs.append((thing, "ink"))
    ending = _ending(block, terminals, view)
    if captions.is_subagent(block):  # who it is matters more than the end of its result
        return view.fitted([*runs, *ending], view.width)
    room = max(8, view.width - sum(len(text) for text, _ in ending))
    head = runs if view.printed else trimmed(runs, room)
    return view.fitted([*head, *ending], view.width)


def words_of(block: Block, cwd: str) -> tuple[str, str]:
    return captions.call_words(block, cwd, clean_line)


def _ending(block: Block, terminals: list[Block], view: View) -> Line:
    runs: Line = []
    if counts := render.call.changes(block):
        runs = [(f" +{counts[0]}", "done"), (f" −{counts[1]}", "failed")]
    seconds = _seconds(block, view.now) if view.timed else None
    for text, bad in render.call.extras(block, terminals, seconds):
        runs += [(" · ", "faint"), (text, "failed" if bad else "soft")]
    return runs


def _seconds(block: Block, now: int) -> float | None:
    since = block.get("since")
    if block["status"] == "running" and isinstance(since, int) and now > since:
        return float((now - since) // 1000)
    return lenient.number(block, "seconds")


def details(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """Return diffs and output, or else the arguments."""
    return results(block, terminals, view) or _arguments(block, view)


def results(block: Block, terminals: list[Block], view: View) -> list[Line]:
    lines: list[Line] = []
    several = len(captions.diffs(block)) > 1
    for each in captions.parts_of(block):
        kind, text = lenient.text(each, "type"), lenient.text(each, "text")
        if kind == "diff" and several:
            lines.append(_path(each, view))
        output = captions.as_output(block, text) if kind == "markdown" else None
        if output is not None:
            lines += part.output(output, view, view.most, tail=False)
        elif kind != "terminal" or text:
            lines += part.rendered(each, view)
    for terminal in terminals:
        lines += part.output(terminal["text"], view, view.most)
    return lines


def _pictures(block: Block, view: View) -> list[Line]:
    """Return the first pictures of a folded card, if the terminal can draw them."""
    images = [each for each in captions.parts_of(block) if lenient.text(each, "type") == "image"]
    drawn = (part.image(each, view) for each in images[:PICTURES])
    return [line for lines in drawn if lines[1:] for line in lines]


def _arguments(block: Block, view: View) -> list[Line]:
    lines: list[Line] = []
    if view.printed and captions.is_command(block):  # it is in the headline
        return lines
    for key in ("input", "output"):
        value = lenient.mapping(block, key).get("value")
        if key in block and not (isinstance(value, dict) and set(value) <= set(captions.EXITS)):
            lines += part.as_json(value, view)
    return lines or ([] if view.printed else [[("no details", "faint")]])


def has_details(block: Block, terminals: list[Block]) -> bool:
    return bool(
        captions.parts_of(block)
        or any(each["text"] for each in terminals)
        or "input" in block
        or "output" in block
    )
