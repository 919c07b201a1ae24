"""An ask as lines: what will happen, then the agent's options in its order with their keys."""

from typing import Any

from rich.style import Style

from rookery.core.blocks import asks, captions
from rookery.core.blocks.document import Block
from rookery.tui.look import ask_body, part
from rookery.tui.look.plain import clean_line
from rookery.tui.look.runs import Line, prefixed, trimmed, width_of_line, wrap
from rookery.tui.look.view import View


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
    for each in block["parts"]:
        same = str(each.get("text", "")).strip("` \n") == clean_line(block["title"]).strip("`")
        if not same and asks.says_more(each, block):  # else it is above
            body += part.rendered(each, inner.narrower(2)._replace(opened=True))
    lines += prefixed(body, [("  ", look.plain)])
    if note := clean_line(str(block.get("note") or "")):
        lines += wrap([(note, look.soft)], inner.prose)
    if danger:
        warning = f"This cannot be undone: it {danger}."
        lines += wrap([(warning, look.failed + look.bold)], inner.prose)
    lines.append([])
    for place, action in enumerate(block["actions"]):
        lines += action_lines(place, action, inner)
    lines += _others(block, inner)
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
        words = f"  {view.key('ask.confirm')} confirms, any other key does not"
        runs.append((words, look.failed + look.bold))
    elif action.get("danger"):
        runs.append(("  asks again", look.soft))
    return prefixed(wrap(runs, max(1, view.prose - 4)), key, [("    ", look.plain)])


def _others(block: Block, view: View) -> list[Line]:
    """The keys that every ask has besides its options."""
    look = view.look
    is_form = any(each.get("type") == "form" for each in block["parts"])
    keys = [("fill", "fill in"), ("decline", "decline")]
    keys = keys if is_form else [("reject", "reject with a reason")]
    keys.append(("defer", "decide later"))
    if not is_form and not block.get("danger"):
        keys += [("risky", "allow, ask only if risky")]
        keys += [("all", "allow all from now on")]
    lines: list[Line] = [[]]
    for want, words in keys:
        press, key = Style.from_meta({"want": want}), view.key(f"ask.{want}")
        group: Line = [(f" {key} ", look.key + press), (f" {words}  ", look.soft + press)]
        if lines[-1] and width_of_line([*lines[-1], *group]) > view.prose:
            lines.append([])
        lines[-1] += group
    if not view.focused:
        here: Line = [(f" {view.key('ask.next')} goes here", look.faint)]
        room = [line for line in lines if width_of_line([*line, *here]) <= view.prose]
        if room:
            room[0] += here
        else:
            lines.append(here)
    return [trimmed(line, view.width) for line in lines]


def question(block: Block, view: View) -> str:
    words = asks.question(block, view.agent, view.cwd)
    return words[:1].upper() + words[1:]


def _closed(block: Block, view: View) -> list[Line]:
    """How it ended, and where: `Allow once · cli`."""
    look = view.look
    said = captions.outcome(block)
    asked = question(block, view)
    runs: Line = [("  ↳ ", look.faint)]
    if block["parent"] is None:
        runs = [(f"{look.states['needs-you'][0]} ", look.faint)]
        runs.append((f"{asked}  ", look.soft))
    return [trimmed([*runs, (said, look.soft)], view.prose)]
