"""A tool call as a card: one line with its state, verb and object, which opens to its details."""

from rookery.core.blocks import Block, captions
from rookery.core.json import lenient
from rookery.render import call
from rookery.tui.look import diff, part
from rookery.tui.look.runs import Line, Run, clean_line, prefixed, trimmed
from rookery.tui.look.view import View

LIVE = 6
"""Lines of output on a running card."""

LAST, NEAR = 3, 12
"""Lines of output of a command that is over, and those among which they are found."""

WHY = 8
"""Lines of a folded card that failed."""


def rendered(block: Block, terminals: list[Block], view: View) -> list[Line]:
    lines = [headline(block, terminals, view)]
    inner = view.narrower(2)
    if captions.is_rejected(block):
        body = details(block, terminals, inner) if view.opened and captions.diffs(block) else []
    elif view.opened:
        body = details(block, terminals, inner)
    elif not captions.is_over(block):
        body = [line for each in terminals for line in part.output(each["text"], inner, LIVE)]
    elif block["status"] == "failed":
        body = details(block, terminals, inner)
        body = part.capped(body, WHY, inner)
    elif block.get("kind") == "execute" or block["role"] == "terminal":
        body = _last_lines(block, terminals, inner)
    else:
        body = []
    return lines + prefixed(body, [("  ", view.look.plain)])


def _last_lines(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """The end of what a command printed, which says how it went."""
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


def headline(block: Block, terminals: list[Block], view: View) -> Line:
    """`✓ edit src/app.py +12 −3`, `✓ run pytest -q · 4.2 s · exit 0`."""
    look = view.look
    sign, style = look.states[captions.mark_of(block)]
    verb, thing = words_of(block, view.cwd)
    runs: Line = [(f"{sign} ", style)]
    if verb:
        runs.append((f"{verb} ", look.soft))
    runs.append((thing, look.ink))
    ending = _ending(block, terminals, view)
    room = max(8, view.width - sum(len(text) for text, _ in ending))
    return trimmed([*trimmed(runs, room), *ending], view.width)


def words_of(block: Block, cwd: str) -> tuple[str, str]:
    return captions.call_words(block, cwd, clean_line)


def _ending(block: Block, terminals: list[Block], view: View) -> list[Run]:
    look, found = view.look, list[Run]()
    if counts := call.changes(block):
        found = [(f" +{counts[0]}", look.done), (f" −{counts[1]}", look.failed)]
    for words, bad in call.extras(block, terminals, _seconds(block, view.now)):
        found += [(" · ", look.faint), (words, look.failed if bad else look.soft)]
    return found


def _seconds(block: Block, now: int) -> float | None:
    since = block.get("since")
    if block["status"] == "running" and isinstance(since, int) and now > since:
        return float((now - since) // 1000)
    return lenient.number(block, "seconds")


def details(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """Diffs and output, or else the arguments."""
    found: list[Line] = []
    several = len(captions.diffs(block)) > 1
    for each in captions.parts_of(block):
        kind, text = lenient.text(each, "type"), lenient.text(each, "text")
        if kind == "diff" and several:
            path = captions.short_path(diff.title(each), view.cwd)
            found.append([(path, view.look.heading)])
        if kind == "markdown" and _is_output(block, text):
            found += part.output(captions.unfenced(text), view, part.most(view), tail=False)
        elif kind != "terminal" or text:
            found += part.rendered(each, view)
    for terminal in terminals:
        found += part.output(terminal["text"], view, part.most(view))
    return found or _arguments(block, view)


def _is_output(block: Block, text: str) -> bool:
    """Whether to keep its lines as they are: also a file that was read, unless fenced."""
    kind = block.get("kind")
    return kind == "execute" or (kind in ("read", "search") and "```" not in text)


def _arguments(block: Block, view: View) -> list[Line]:
    found: list[Line] = []
    for key in ("input", "output"):
        value = lenient.mapping(block, key).get("value")
        if key in block and not (isinstance(value, dict) and set(value) <= set(captions.EXITS)):
            found += part.as_json(value, view)
    return found or [[("no details", view.look.faint)]]


def has_details(block: Block, terminals: list[Block]) -> bool:
    return bool(
        captions.parts_of(block)
        or any(each["text"] for each in terminals)
        or "input" in block
        or "output" in block
    )
