"""Rendering one block as HTML, according to its role."""

from rookery.core.blocks import asks, captions
from rookery.core.blocks.asks import Piece
from rookery.core.blocks.document import Block
from rookery.core.json import lenient
from rookery.export.html import card, diff, markdown, part
from rookery.export.html.code import left_out
from rookery.export.html.text import esc, esc_line, linked, tag
from rookery.export.html.view import View
from rookery.render.local_time import localized
from rookery.render.signs import notice_state

LONGEST_TEXT = 400_000
"""Characters shown of one text."""
WRITTEN = ("answer", "thought")
"""Roles of texts that are written piece by piece."""
LONGEST_ASIDE = 400
"""Characters of text below a divider: what is longer, such as a summary, is folded."""


def rendered(block: Block, view: View) -> str:
    """Render one block by itself, with an id to link to."""
    body = inner(block, view)
    name = esc_line(str(block["id"]), 100)
    return f'<div class="block {role_of(block)}" id="b{name}">{body}</div>\n' if body else ""


def role_of(block: Block) -> str:
    """Return the block's role, or `notice` if it is one without a rendering of its own."""
    role = str(block["role"])
    return role if role in _LOOKS else "notice"


def inner(block: Block, view: View, terminals: list[Block] | None = None, more: str = "") -> str:
    """Render what a block shows. `terminals` are those of a call; `more` is the HTML of its
    asks."""
    role = role_of(block)
    if role in ("tool", "terminal"):
        return card.rendered(block, terminals or [] if role == "tool" else [], view, more)
    return _LOOKS[role](block, view) + more


def _text(block: Block) -> tuple[str, str]:
    """Return the block's text, and a note of what is left out of it."""
    text = block["text"].strip("\n")
    cut = len(text) - LONGEST_TEXT
    more = tag("p", left_out(cut, "more character")) if cut > 0 else ""
    return text[:LONGEST_TEXT], more


def _parts(block: Block, view: View) -> str:
    return "".join(part.rendered(each, view) for each in block["parts"])


def _prompt(block: Block, view: View) -> str:
    text, more = _text(block)
    title = esc_line(block["title"])  # of one that the user did not send
    kind = "said soft" if title else "said"
    body = f'<div class="{kind}" dir="auto">{linked(text)}</div>' if text else ""
    label = title if ", from " in title else f"from {title}"
    origin = tag("p", label, "soft") if title else ""
    return origin + body + more + _parts(block, view) + view.actions(block)


def _answer(block: Block, view: View) -> str:
    return _prose(block, view) + _parts(block, view)


def _prose(block: Block, view: View) -> str:
    if view.prose is not None and block["role"] in WRITTEN:
        return view.prose(block)
    text, more = _text(block)
    return tag("div", markdown.rendered(text) + more, "prose") if text.strip() else ""


def _message(block: Block, view: View) -> str:
    """Render what a sub-agent says, is told, or hands over."""
    title = tag("p", esc_line(block["title"]), "soft") if block["title"] else ""
    return title + _answer(block, view)


def _thought(block: Block, view: View) -> str:
    parts = _parts(block, view)
    if not (body := _prose(block, view)):
        return parts
    grows = block["id"] == view.opened
    live = ' open class="live"' if grows else ""
    summary = tag("summary", captions.thought(block, live=grows))
    return f"<details{live}>{summary}{body}</details>{parts}"


def _plan(block: Block, view: View) -> str:
    title = esc_line(block["title"]) or "Plan"
    items = [item for each in block["parts"] for item in lenient.mappings(each, "items")]
    done = sum(lenient.text(item, "status") == "completed" for item in items)
    bar = ""
    if items:
        title = title.replace(f"Plan {done}/", f"Plan {done} of ")
        bar = f'<progress value="{done}" max="{len(items)}" aria-label="{title}"></progress>'
    head = tag("div", f"<strong>{title}</strong>{bar}", "head")
    return tag("div", head + _parts(block, view), "card plan-card")


def _divider(block: Block, view: View) -> str:
    text, more = _text(block)
    heading = tag("span", esc_line(block["title"]))
    body = tag("div", markdown.rendered(text) + more, "prose soft") if text.strip() else ""
    if len(text) > LONGEST_ASIDE:
        body = f"<details><summary>Summary</summary>{body}</details>"
    return tag("div", heading, "rule") + body + view.actions(block)


def _notice(block: Block, view: View) -> str:
    """Render what happened, why, and what helps."""
    state = notice_state(block)
    text, more = _text({**block, "text": localized(block, view.now)})
    head = esc_line(block["title"])
    if not head:
        first, _, text = text.partition("\n")
        head = coded(first.strip())
    body = tag("div", coded(text.strip("\n")), "said") if text.strip() else ""
    inner = tag("div", f"<strong>{head}</strong>{body}{more}{_parts(block, view)}", "words")
    return tag("div", part.mark(state) + inner + view.actions(block), f"note {state}")


def coded(text: str) -> str:
    """Render text in which backticks mark code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return esc(text)
    return "".join(
        tag("code", esc(each)) if at % 2 else esc(each) for at, each in enumerate(pieces)
    )


def _raw(block: Block, _view: View) -> str:
    """Render an update of an unknown kind."""
    value = block["parts"][0].get("value") if block["parts"] else None
    line = tag("span", esc_line(block["title"]) or "an update", "what")
    line += tag("span", "", "extras")
    if value is None:
        return tag("div", part.mark("pending") + line, "line soft")
    body = tag("div", part.raw(value), "inside")
    return f'<details class="card"><summary>{part.mark("pending")}{line}</summary>{body}</details>'


# --- asks ----------------------------------------------------------------------------------------


def _ask(block: Block, view: View) -> str:
    asked = asks.question(block, view.agent, view.cwd, short=block["status"] != "asked")
    asked = esc_line(asked[:1].upper() + asked[1:])
    if block["status"] != "asked":
        outcome = esc_line(captions.outcome(block, view.here))
        label = outcome if block["parent"] is not None else f"{asked} · {outcome}"
        name = captions.outcome_mark(block)
        line = tag("p", f"{part.mark(name) if name else '↳'} {label}", "answered")
        remark = captions.remark(block, esc)
        return line + (tag("blockquote", remark, "remark") if remark else "")
    danger = esc_line(lenient.text(block, "danger"))
    pieces = asks.pieces(block, view.agent, view.cwd, short=False)
    body = "".join(_piece(piece, view) for piece in pieces)
    actions = view.actions(block)
    shown = [p for p in block["parts"] if asks.says_more(p, block)]
    if actions:  # which have the fields of a form
        shown = [p for p in shown if lenient.text(p, "type") != "form"]
    body += "".join(part.rendered(p, view) for p in shown)
    if lines := lenient.texts(block, "explains"):
        listed = "".join(tag("li", esc_line(line, 500)) for line in lines)
        summary = tag("summary", "What this would do")
        body += tag("details", summary + tag("ul", listed), "explain")
    if note := esc_line(lenient.text(block, "note")):
        body += tag("p", note, "soft")
    if danger:
        body += tag("p", f"This cannot be undone: it {danger}.", "failed")
    actions = actions or tag("p", "Waiting for an answer", "needs")
    head = tag("div", f"{part.mark('needs-you')}<strong>{asked}</strong>", "line")
    kind = "card asked danger" if danger else "card asked"
    return tag("div", head + tag("div", body + actions, "inside"), kind)


def _piece(piece: Piece, view: View) -> str:
    match piece.look:
        case "plan":
            plan = part.rendered({"type": "markdown", "text": piece.text}, view)
            if not piece.title or view.alone:
                return plan
            title = tag("summary", esc_line(piece.title))
            return tag("details", title + plan, "plan")
        case "words":
            return tag("p", esc_line(piece.text))
        case "note":
            return tag("p", esc_line(piece.text), "needs")
        case "diff":
            path = tag("p", esc_line(piece.text), "path") if piece.text else ""
            return path + diff.rendered(piece.part or {})
    text = piece.text.strip("\n")
    cut = len(text) - LONGEST_TEXT
    more = f"\n{left_out(cut, 'more character')}" if cut > 0 else ""
    return f'<pre class="out" tabindex="0">{esc(text[:LONGEST_TEXT])}{more}</pre>'


_LOOKS = {
    "prompt": _prompt,
    "answer": _answer,
    "thought": _thought,
    "message": _message,
    "plan": _plan,
    "ask": _ask,
    "divider": _divider,
    "raw": _raw,
    "notice": _notice,
    "error": _notice,
    "tool": _notice,
    "terminal": _notice,
}
"""Calls have cards, and are not looked up here."""
