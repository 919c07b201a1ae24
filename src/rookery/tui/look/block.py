"""Blocks as lines, by their role."""

from rookery.core.blocks import Block, asks, captions
from rookery.core.json import lenient
from rookery.render.local_time import localized
from rookery.render.signs import notice_state
from rookery.tui.look import ask, card, markdown, part
from rookery.tui.look.palette import Look
from rookery.tui.look.runs import Line, clean, clean_line, prefixed, trimmed, width_of, wrap
from rookery.tui.look.view import View

LONGEST_PROMPT = 20
"""Lines shown of a folded prompt."""

LONGEST_TEXT = 32_000

LIVE, LIVE_TEXT = 6, 1200
"""Lines of a thought that is still growing, and the characters that they are made of."""


def rendered(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """Return a block as lines. `terminals`: those of a call."""
    match block["role"]:
        case "tool":
            return card.rendered(block, terminals, view)
        case "terminal":
            return card.rendered(block, [block], view)
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


def _prompt(block: Block, view: View) -> list[Line]:
    look = view.look
    inner = view.narrower(2)
    text = clean(block["text"][:LONGEST_TEXT]).strip("\n")
    origin = clean_line(block["title"])  # of one that the user did not send
    lines = wrap([(text, look.soft if origin else look.ink)], inner.prose) if text else []
    lines = part.capped(lines, part.OPENED if view.opened else LONGEST_PROMPT, inner)
    for each in block["parts"]:
        lines += part.rendered(each, inner)
    if origin:
        lines.insert(0, [(origin if ", from " in origin else f"from {origin}", look.soft)])
    return prefixed(lines or [[]], [("▎ ", look.soft if origin else look.accent)])


def _answer(block: Block, view: View) -> list[Line]:
    text = block["text"]
    lines = markdown.rendered(text, view.prose, view.look, view.width) if text else []
    for each in block["parts"]:
        lines += part.rendered(each, view)
    return lines


def _message(block: Block, view: View) -> list[Line]:
    """Return a sub-agent's message: what it says, is told, or hands over."""
    look, text = view.look, block["text"][:LONGEST_TEXT]
    lines = markdown.rendered(text, view.prose, look, view.width) if text.strip() else []
    for each in block["parts"]:
        lines += part.rendered(each, view)
    lines = part.capped(lines, part.OPENED if view.opened else LONGEST_PROMPT, view)
    return [*([[(clean_line(block["title"]), look.soft)]] if block["title"] else []), *lines]


def _thought(block: Block, view: View) -> list[Line]:
    look = view.look
    text = block["text"].strip()
    sign = "▾" if view.opened else "▸"
    head = [(f"{sign} {captions.thought(block, live=view.live)}", look.soft + look.italic)]
    lines = [trimmed(head, view.width)]
    inner, style = view.narrower(2), look.soft + look.italic
    if view.opened:
        body = wrap([(clean(text[:LONGEST_TEXT]), style)], inner.prose)
        lines += prefixed(part.capped(body, part.OPENED, inner), [("  ", look.plain)])
    elif view.live and text:
        body = wrap([(clean(text[-LIVE_TEXT:]), style)], inner.prose)[-LIVE:]
        lines += prefixed(body, [("  ", look.plain)])
    return lines


def _plan(block: Block, view: View) -> list[Line]:
    title = clean_line(block["title"]) or "Plan"
    if not view.opened:
        return [trimmed(_plan_line(title, block, view), view.prose)]
    lines: list[Line] = [[(title, view.look.heading)]]
    inner = view.narrower(2)
    for each in block["parts"]:
        lines += prefixed(part.rendered(each, inner), [("  ", view.look.plain)])
    return lines


def _plan_line(title: str, block: Block, view: View) -> Line:
    """Return the headline of a plan, with its current step."""
    look = view.look
    items = [item for each in block["parts"] for item in lenient.mappings(each, "items")]
    now = next((item for item in items if lenient.text(item, "status") == "in_progress"), None)
    doing = f" · {clean_line(lenient.text(now, 'text'))}" if now else ""
    return [("▸ ", look.soft), (title, look.heading), (doing, look.soft)]


def _divider(block: Block, view: View) -> list[Line]:
    look = view.look
    title = f" {clean_line(block['title'])} "
    wide = view.prose
    left = 3 if wide > 12 else 0
    right = max(0, wide - left - width_of(title))
    rule = trimmed([("─" * left, look.line), (title, look.soft), ("─" * right, look.line)], wide)
    text = clean(block["text"][:LONGEST_TEXT]).strip()
    body = wrap([(text, look.soft)], view.prose) if text else []
    lines = [rule, *(part.capped(body, part.OPENED if view.opened else 3, view))]
    for place, action in enumerate(block["actions"]):
        lines += ask.action_lines(place, action, view)
    return lines


def _raw(block: Block, view: View) -> list[Line]:
    """Return an update of an unknown kind as lines."""
    look = view.look
    value = block["parts"][0].get("value") if block["parts"] else ""
    head: Line = [("· ", look.faint), (clean_line(block["title"]), look.soft)]
    if not view.opened:
        bare = dict(value) if isinstance(value, dict) else value
        if isinstance(bare, dict) and bare.get("sessionUpdate") == block["title"]:
            del bare["sessionUpdate"]  # it is in the title
        brief = clean_line(part.brief_json(bare))
        return [trimmed([*head, (f"  {brief}", look.faint)], view.width)]
    inner = view.narrower(2)
    body = [line for each in block["parts"] for line in part.rendered(each, inner)]
    return [trimmed(head, view.width), *prefixed(body, [("  ", look.plain)])]


def _coded(text: str, look: Look) -> Line:
    """Return a text in which the parts between backticks look like code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return [(text, look.soft)]
    return [(each, look.code if at % 2 else look.soft) for at, each in enumerate(pieces)]


def _notice(block: Block, view: View) -> list[Line]:
    """Return a notice as lines: what happened, why, what helps, and the keys for that."""
    look = view.look
    sign, style = look.states[notice_state(block)]
    inner = view.narrower(2)
    text = clean(localized(block, view.now)[:LONGEST_TEXT]).strip("\n")
    head = clean_line(block["title"])
    if view.agent and head.startswith(f"{view.agent} "):
        head = head[:1].upper() + head[1:]
    if not head:
        first, _, text = text.partition("\n")
        head = first.strip()
    lines = wrap([(head, look.heading if block["title"] else look.ink)], inner.prose)
    if text.strip():
        body = wrap(_coded(text, look), inner.prose)
        lines += part.capped(body, part.OPENED if view.opened else 8, inner)
    if view.opened or len(block["parts"]) == 1:
        for each in block["parts"]:
            lines += part.rendered(each, inner)
    for place, action in enumerate(block["actions"]):
        lines += ask.action_lines(place, action, inner)
    return prefixed(lines, [(f"{sign} ", style)], [("  ", look.plain)])


_BY_ROLE = {
    "prompt": _prompt,
    "answer": _answer,
    "thought": _thought,
    "message": _message,
    "plan": _plan,
    "ask": ask.rendered,
    "divider": _divider,
    "raw": _raw,
}
