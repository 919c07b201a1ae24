"""Blocks as lines, by their role."""

from rookery.core.blocks import Block, asks, captions
from rookery.core.json import lenient
from rookery.render import lines as drawers
from rookery.render.lines import card, part
from rookery.render.lines.view import OPENED, View
from rookery.render.local_time import localized
from rookery.render.runs import (
    PROSE,
    Line,
    clean,
    clean_line,
    count,
    prefixed,
    trimmed,
    width_of,
    wrap,
)
from rookery.render.signs import SIGNS, notice_state
from rookery.render.stretches import Start, stretch

LONGEST_PROMPT = 20
"""Lines shown of a folded prompt."""

LONGEST_TEXT = 32_000

NOUNS = {"read": "read", "search": "search", "fetch": "fetch", "think": "thought"}
PLURALS = {"read": "reads", "search": "searches", "fetch": "fetches", "think": "thoughts"}

LIVE, LIVE_TEXT = 6, 1200
"""Lines of a thought that is still growing, and the characters that they are made of."""


def rendered(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """Return a block as lines. `terminals`: those of a call."""
    match block["role"]:
        case "tool":
            return card.rendered(block, terminals, view)
        case "terminal":
            return card.rendered(block, [block], view)
        case "ask":
            return drawers.ask.rendered(block, view)
        case role:
            return _BY_ROLE.get(role, _notice)(block, view)


def can_open(block: Block, terminals: list[Block]) -> bool:
    """Tell whether a block has more than its folded lines."""
    text = block["text"]
    match block["role"]:
        case "thought" | "divider":
            return bool(text.strip())
        case "plan":
            return bool(block["parts"])
        case "tool":
            return captions.is_subagent(block) or card.has_details(block, terminals)
        case "terminal":
            return bool(text)
        case "raw" | "notice" | "error":
            return bool(block["parts"]) or len(text) > 600
        case "prompt" | "message":
            return text.count("\n") >= LONGEST_PROMPT or len(text) > 1200
    return False


def text_of(block: Block, terminals: list[Block]) -> str:
    """Return a whole block as text, to copy or edit."""
    if block.get("does") and block["status"] == "asked":
        return asks.as_text(block)
    texts = [block["text"]] if block["text"] else []
    for each in captions.parts_of(block):
        match each:
            case {"type": "markdown" | "terminal", "text": str(text)}:
                texts.append(text)
            case {"type": "diff", "path": path, "new": new}:
                texts.append(f"--- {path}\n{new}")
            case {"type": "checklist", "items": items}:
                texts += [f"- {item.get('text', '')}" for item in items]
            case {"type": "link", "uri": uri}:
                texts.append(str(uri))
    texts += [each["text"] for each in terminals if each["text"]]
    return "\n".join(texts) or block["title"]


def stretch_of(block: Block, starts: tuple[Start, ...], number: int, view: View) -> list[Line]:
    """Return one stretch of an answer; the last one with the block's parts."""
    text = stretch(block["text"], starts, number)
    lines = drawers.markdown.prose(text, view) if text.strip() else []
    last = number == len(starts) - 1
    if not last and not starts[number + 1].fence and text.endswith("\n\n"):
        lines.append([])
    return [*lines, *parts(block, view)] if last else lines


def parts(block: Block, view: View) -> list[Line]:
    return [line for each in block["parts"] for line in part.rendered(each, view)]


def row_line(members: list[Block], view: View) -> Line:
    """Return the line of quiet calls: `✓ 4 reads, 2 searches · app.py, main.py, …`"""
    kinds: dict[str, int] = {}
    for member in members:
        kind = member.get("kind", "")
        kinds[kind] = kinds.get(kind, 0) + 1
    summary = ", ".join(
        f"{number} {(NOUNS if number == 1 else PLURALS).get(kind, kind)}"
        for kind, number in kinds.items()
    )
    things = ", ".join(card.words_of(member, view.cwd)[1] for member in members[:12])
    line: Line = [("✓ ", "done"), (summary or count(len(members), "call"), "soft")]
    if view.controls.folds:
        line.append((" ▾" if view.opened else " ▸", "faint"))
    rest: Line = [] if view.opened else [(f" · {things}", "faint")]
    return trimmed([*line, *rest], view.width)


def _capped(lines: list[Line], most: int, view: View) -> list[Line]:
    """Return the beginning, or what an open block has; all is printed."""
    return lines if view.printed else part.capped(lines, OPENED if view.opened else most)


def _prompt(block: Block, view: View) -> list[Line]:
    inner = view.narrower(2)
    text = clean(view.text(block["text"], LONGEST_TEXT)).strip("\n")
    origin = clean_line(block["title"])  # of one that the user did not send
    lines = _laid_out(text, "soft" if origin else "ink", inner)
    lines = [*_capped(lines, LONGEST_PROMPT, inner), *parts(block, inner)]
    if origin:
        lines.insert(0, [(origin if ", from " in origin else f"from {origin}", "soft")])
    return prefixed(lines or [[]], [("▎ ", "soft" if origin else "accent")])


def _laid_out(text: str, name: str, view: View) -> list[Line]:
    """Return a clean text that is no Markdown."""
    if view.source:
        return [[(row, name)] for row in text.split("\n")] if text else []
    return wrap([(text, name)], view.prose) if text else []


def _answer(block: Block, view: View) -> list[Line]:
    text = block["text"]
    return [*(drawers.markdown.prose(text, view) if text else []), *parts(block, view)]


def _message(block: Block, view: View) -> list[Line]:
    """Return a sub-agent's message: what it says, is told, or hands over."""
    text = view.text(block["text"], LONGEST_TEXT)
    lines = drawers.markdown.prose(text.strip("\n"), view) if text.strip() else []
    lines += parts(block, view)
    most = view.limit if view.opened else LONGEST_PROMPT
    head: Line = [(clean_line(block["title"]), "soft")]
    return [*([head] if block["title"] else []), *part.capped(lines, most)]


def _thought(block: Block, view: View) -> list[Line]:
    text, style = block["text"].strip(), "soft italic"
    sign = "∴" if not view.controls.folds else "▾" if view.opened else "▸"
    head = [(f"{sign} {captions.thought(block, live=view.live)}", style)]
    lines = [trimmed(head, view.width)]
    inner = view.narrower(2)
    if view.opened:
        body = _laid_out(clean(view.text(text, LONGEST_TEXT)), style, inner)
        lines += prefixed(_capped(body, OPENED, inner), [("  ", "")])
    elif view.live and text:
        body = wrap([(clean(text[-LIVE_TEXT:]), style)], inner.prose)[-LIVE:]
        lines += prefixed(body, [("  ", "")])
    return lines


def _plan(block: Block, view: View) -> list[Line]:
    title = clean_line(block["title"]) or "Plan"
    if not view.opened:
        return [trimmed(_plan_line(title, block), view.prose)]
    return [[(title, "heading")], *prefixed(parts(block, view.narrower(2)), [("  ", "")])]


def _plan_line(title: str, block: Block) -> Line:
    """Return the headline of a plan, with its current step."""
    items = [item for each in block["parts"] for item in lenient.mappings(each, "items")]
    now = next((item for item in items if lenient.text(item, "status") == "in_progress"), None)
    doing = f" · {clean_line(lenient.text(now, 'text'))}" if now else ""
    return [("▸ ", "soft"), (title, "heading"), (doing, "soft")]


def _divider(block: Block, view: View) -> list[Line]:
    title = f" {clean_line(block['title'])} "
    wide = min(view.prose, PROSE)
    left = 3 if wide > 12 else 0
    right = max(0, wide - left - width_of(title))
    rule = trimmed([("─" * left, "line"), (title, "soft"), ("─" * right, "line")], view.prose)
    text = clean(view.text(block["text"], LONGEST_TEXT)).strip()
    body = _capped(_laid_out(text, "soft", view), 3, view)
    return [rule, *body, *view.controls.actions(block, view)]


def _raw(block: Block, view: View) -> list[Line]:
    """Return an update of an unknown kind as lines."""
    value = block["parts"][0].get("value") if block["parts"] else ""
    head: Line = [("· ", "faint"), (clean_line(block["title"]), "soft")]
    if not view.opened:
        bare = dict(value) if isinstance(value, dict) else value
        if isinstance(bare, dict) and bare.get("sessionUpdate") == block["title"]:
            del bare["sessionUpdate"]  # it is in the title
        brief = clean_line(part.brief_json(bare))
        return [trimmed([*head, (f"  {brief}", "faint")], view.width)]
    return [trimmed(head, view.width), *prefixed(parts(block, view.narrower(2)), [("  ", "")])]


def _coded(text: str) -> Line:
    """Return a text in which the parts between backticks look like code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return [(text, "soft")]
    return [(each, "code" if at % 2 else "soft") for at, each in enumerate(pieces)]


def _notice(block: Block, view: View) -> list[Line]:
    """Return a notice as lines: what happened, why, what helps, and how to do that."""
    state = notice_state(block)
    inner = view.narrower(2)
    text = clean(view.text(localized(block, view.now), LONGEST_TEXT)).strip("\n")
    head = clean_line(block["title"])
    if view.agent and head.startswith(f"{view.agent} "):
        head = head[:1].upper() + head[1:]
    if not head:
        first, _, text = text.partition("\n")
        head = first.strip()
    lines = wrap([(head, "heading" if block["title"] else "ink")], inner.prose)
    if text.strip():
        body = _laid_out(text, "soft", inner) if view.source else wrap(_coded(text), inner.prose)
        lines += _capped(body, 8, inner)
    if view.opened or view.printed or len(block["parts"]) == 1:
        lines += parts(block, inner)
    lines += view.controls.actions(block, inner)
    return prefixed(lines, [(f"{SIGNS[state][0]} ", state)], [("  ", "")])


_BY_ROLE = {
    "prompt": _prompt,
    "answer": _answer,
    "thought": _thought,
    "message": _message,
    "plan": _plan,
    "divider": _divider,
    "raw": _raw,
}
