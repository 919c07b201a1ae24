"""An ask as lines: what will happen, then the ways to answer it with their keys."""

from typing import Any

from rich.style import Style

from rookery.core.blocks import Block, asks, captions
from rookery.core.json import lenient
from rookery.render.ask_choices import ALWAYS, always_words, choices
from rookery.tui.look import ask_body, part
from rookery.tui.look.runs import (
    Line,
    clean,
    clean_line,
    cut,
    prefixed,
    trimmed,
    width_of,
    width_of_line,
    wrap,
)
from rookery.tui.look.view import ALL_ALIKE, View

LEAST_CODE = 8
"""Columns of a command that still say something."""


def rendered(block: Block, view: View) -> list[Line]:
    if block["status"] != "asked":
        return _closed(block, view)
    look = view.look
    danger = clean_line(str(block.get("danger") or ""))
    edge = look.failed if danger else look.needs
    inner = view.narrower(2)
    lines = wrap(
        [(f"{look.states['needs-you'][0]} ", edge), (question(block, view), look.heading)],
        inner.prose,
    )
    body = ask_body.on_card(block, inner.narrower(2))
    if body:
        lines.append([])
    for each in block["parts"]:
        same = str(each.get("text", "")).strip("` \n") == clean_line(block["title"]).strip("`")
        if not same and asks.says_more(each, block):  # else it is above
            body += part.rendered(each, inner.narrower(2)._replace(opened=True))
    lines += prefixed(body, [("  ", look.plain)])
    if view.explains:
        for row in map(clean_line, lenient.texts(block, "explains")):
            lines += prefixed(wrap([(row, look.soft)], inner.prose - 2), [("  ", look.plain)])
    if note := clean_line(str(block.get("note") or "")):
        lines += wrap([(note, look.soft)], inner.prose)
    if danger:
        warning = f"This cannot be undone: it {danger}."
        lines += wrap([(warning, look.failed + look.bold)], inner.prose)
    lines.append([])
    lines += _answers(block, inner) if view.doubtful is None else _second_step(block, inner)
    return prefixed(lines, [("┃ ", edge)])


def action_lines(place: int, action: dict[str, Any], view: View) -> list[Line]:
    look = view.look
    label = clean_line(str(action.get("label") or ""))
    press = Style.from_meta({"act": place})
    number = view.key(f"ask.option{place + 1}") if place < 9 else " "
    key: Line = [(f" {number} ", look.key + press), (" ", look.plain)]
    if why := clean_line(str(action.get("disabled") or "")):
        off: Line = [(f" {number}  ", look.faint)]
        lines = wrap([(label, look.soft + look.strike), (f"  {why}", look.soft)], view.prose - 4)
        return prefixed(lines, off, [("    ", look.plain)])
    runs = [(label, look.ink + press)]
    if view.doubtful == place:
        hint = f"  {view.key('ask.confirm')} to confirm, any other key to go back"
        runs.append((hint, look.failed + look.bold))
    elif action.get("danger"):
        runs.append(("  asks you to confirm", look.soft))
    return prefixed(wrap(runs, max(1, view.prose - 4)), key, [("    ", look.plain)])


def _second_step(block: Block, view: View) -> list[Line]:
    """Return what the first key chose, for confirmation before it is done."""
    look = view.look
    if verdict := ALL_ALIKE.get(view.doubtful or 0):
        return _all_alike(block, verdict, view)
    action, lines = block["actions"][view.doubtful or 0], list[Line]()
    if action.get("kind") in ALWAYS:
        head = str(action["label"]) if action.get("reach") else "Allow from now on: "
        lines += wrap([(clean_line(head), look.soft)], view.prose)
        rule = wrap([(always_words(action), look.ink)], max(1, view.prose - 2))
        lines += prefixed(rule, [("  ", look.plain)])
    purpose = "to confirm," if action.get("danger") else "to always allow this,"
    return [*lines, _confirm(purpose, view)]


def _all_alike(block: Block, verdict: str, view: View) -> list[Line]:
    """Return all asks that one key answers, each in full."""
    look, same = view.look, lenient.sequence(block, "same")
    lines: list[Line] = []
    for at, each in enumerate(same, 1):
        rows = clean(lenient.text(each, "text")).split("\n")
        wrapped = [line for row in rows for line in wrap([(row, look.ink)], max(1, view.prose - 4))]
        lines += prefixed(wrapped, [(f" {at}. ", look.soft)], [("    ", look.plain)])
    return [*lines, _confirm(f"to {verdict} these {len(same)} once,", view)]


def _confirm(purpose: str, view: View) -> Line:
    look, key = view.look, view.key("ask.confirm")
    press = Style.from_meta({"choose": "ask.confirm"})
    go: Line = [(f" {key} ", look.key + press), (f" {purpose} ", look.heading + press)]
    back: Line = [("any other key to go back", look.soft + Style.from_meta({"choose": "back"}))]
    return trimmed([*go, *back], view.width)


def _answers(block: Block, view: View) -> list[Line]:
    """Return each way to answer with its key; those rarely used only on demand."""
    look = view.look
    seen, more = choices(block)
    lines = _flow([(each.name, each.label) for each in seen], view)
    if not more:
        return _going(lines, view)
    if not view.more:
        return _going(_flow([("ask.more", "more options")], view, lines), view)
    lines.append([])
    for each in more:
        if each.place is not None:
            lines += action_lines(each.place, block["actions"][each.place], view)
    rest = [(each.name, each.label) for each in more if each.place is None]
    split = [("block.split", "diff side by side")] if asks.shows_diff(block) else []
    lines += _flow([*rest, ("block.copy", "copy"), *split], view)
    lines.append([(f" {view.key('ask.more')} fewer options", look.faint)])
    return lines


def _flow(keys: list[tuple[str, str]], view: View, lines: list[Line] | None = None) -> list[Line]:
    """Return the keys with their labels, as many on a line as fit."""
    look = view.look
    lines = lines or [[]]
    for name, text in keys:
        press = Style.from_meta({"choose": name})
        press += Style(reverse=name == view.chosen)
        key = f" {view.key(name)} "
        fitted = _fitting(text, view.width - width_of(key) - 3)
        group: Line = [(key, look.key + press), (f" {fitted} ", look.ink + press)]
        group.append((" ", look.plain))
        if lines[-1] and width_of_line([*lines[-1], *group]) > view.prose:
            lines.append([])
        lines[-1] += group
    return [trimmed(line, view.width) for line in lines]


def _fitting(text: str, room: int) -> str:
    """Cut the code in a label that is too long: what follows the code says how far the answer
    reaches."""
    before, _, rest = text.partition("`")
    code, _, after = rest.rpartition("`")
    left = room - width_of(f"{before}``{after}")
    return f"{before}`{cut(code, left)}`{after}" if code and left >= LEAST_CODE else text


def _going(lines: list[Line], view: View) -> list[Line]:
    """Add the key that leads to the ask, unless it has the focus."""
    if view.focused:
        return lines
    here: Line = [(f" {view.key('ask.next')} to answer", view.look.needs)]
    return [*lines, here]


def question(block: Block, view: View) -> str:
    text = asks.question(block, view.agent, view.cwd, short=block["status"] != "asked")
    return text[:1].upper() + text[1:]


def _closed(block: Block, view: View) -> list[Line]:
    """Return how an ask ended, and where: `✓ You allowed it (in the browser)`."""
    look = view.look
    outcome, mark = captions.outcome(block, "terminal"), captions.outcome_mark(block)
    asked = question(block, view)
    sign, style = look.states[mark] if mark else ("↳", look.faint)
    runs: Line = [(f"  {sign} ", style)]
    if block["parent"] is None:
        runs = [(f"{look.states['needs-you'][0]} ", look.faint)]
        runs.append((f"{asked}  ", look.soft))
    lines = [trimmed([*runs, (outcome, look.soft)], view.prose)]
    for row in captions.remark(block, clean).split("\n") if block.get("reason") else ():
        lines += prefixed(wrap([(row, look.ink)], max(1, view.prose - 4)), [("    ", look.plain)])
    return lines
