"""An ask as lines: what will happen, then how to answer, which is the face's own."""

from rookery.core.blocks import Block, asks, captions
from rookery.core.json import lenient
from rookery.render.lines import ask_body, part
from rookery.render.lines.view import View
from rookery.render.runs import Line, clean, clean_line, prefixed, wrap
from rookery.render.signs import SIGNS

NEEDS = f"{SIGNS['needs-you'][0]} "


def rendered(block: Block, view: View) -> list[Line]:
    if block["status"] != "asked":
        return _closed(block, view)
    danger = clean_line(str(block.get("danger") or ""))
    edge = "failed" if danger else "needs"
    inner = view.narrower(2)
    lines = wrap([(NEEDS, edge), (question(block, view), "heading")], inner.prose)
    body = ask_body.on_card(block, inner.narrower(2))
    if body and not view.printed:
        lines.append([])
    for each in block["parts"]:
        same = str(each.get("text", "")).strip("` \n") == clean_line(block["title"]).strip("`")
        if not same and asks.says_more(each, block):  # else it is above
            body += part.rendered(each, inner.narrower(2)._replace(opened=True))
    lines += prefixed(body, [("  ", "")])
    if view.controls.explains:
        for row in map(clean_line, lenient.texts(block, "explains")):
            lines += prefixed(wrap([(row, "soft")], inner.prose - 2), [("  ", "")])
    if note := clean_line(str(block.get("note") or "")):
        lines += wrap([(note, "soft")], inner.prose)
    if danger:
        warning = f"This cannot be undone: it {danger}."
        lines += wrap([(warning, "failed bold")], inner.prose)
    if not view.printed:
        lines.append([])
    return prefixed([*lines, *view.controls.answers(block, inner)], [("┃ ", edge)])


def question(block: Block, view: View) -> str:
    text = asks.question(block, view.agent, view.cwd, short=block["status"] != "asked")
    return text[:1].upper() + text[1:]


def _closed(block: Block, view: View) -> list[Line]:
    """Return how an ask ended, and where: `✓ You allowed it (in the browser)`."""
    outcome, mark = captions.outcome(block, view.here), captions.outcome_mark(block)
    sign, style = (SIGNS[mark][0], mark) if mark else ("↳", "faint")
    runs: Line = [(f"  {sign} ", style)]
    if block["parent"] is None or not view.below:
        runs = [(NEEDS, "faint"), (f"{question(block, view)}  ", "soft")]
    lines = view.fitted([*runs, (outcome, "soft")], view.prose)
    for row in captions.remark(block, clean).split("\n") if block.get("reason") else ():
        lines += prefixed(wrap([(row, "ink")], max(1, view.prose - 4)), [("    ", "")])
    return lines
