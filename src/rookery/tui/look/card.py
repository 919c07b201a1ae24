"""A tool call as a card: one line with its state, verb and object; it opens to what a person would
check."""

from rookery.core.blocks import captions
from rookery.core.blocks.captions import is_over, is_quiet
from rookery.core.blocks.document import Block
from rookery.core.json import lenient
from rookery.core.units import duration
from rookery.render.diff import changed
from rookery.tui.look import diff, part
from rookery.tui.look.plain import clean_line, count
from rookery.tui.look.runs import Line, Run, prefixed, trimmed
from rookery.tui.look.view import View

__all__ = ["details", "has_details", "headline", "is_quiet", "rendered", "words_of"]

LIVE = 6
"""Lines of output that a running card shows."""

WHY = 8
"""Lines that a failed card shows without being opened."""


def rendered(block: Block, terminals: list[Block], view: View) -> list[Line]:
    lines = [headline(block, terminals, view)]
    inner = view.narrower(2)
    if view.opened:
        body = details(block, terminals, inner)
    elif not is_over(block):
        body = [line for each in terminals for line in part.output(each["text"], inner, LIVE)]
    elif block["status"] == "failed":
        body = details(block, terminals, inner)
        body = part.capped(body, WHY, inner)
    else:
        body = []
    return lines + prefixed(body, [("  ", view.look.plain)])


def headline(block: Block, terminals: list[Block], view: View) -> Line:
    """`✓ edit src/app.py +12 −3`, `✓ run pytest -q · 4.2 s · exit 0`."""
    look = view.look
    sign, style = look.states[captions.mark_of(block)]
    verb, thing = words_of(block, view.cwd)
    runs: Line = [(f"{sign} ", style)]
    if verb:
        runs.append((f"{verb} ", look.soft))
    runs.append((thing, look.ink))
    ending: Line = [*_changes(block, view), *_extras(block, terminals, view)]
    room = max(8, view.width - sum(len(text) for text, _ in ending))
    return trimmed([*trimmed(runs, room), *ending], view.width)


def words_of(block: Block, cwd: str) -> tuple[str, str]:
    return captions.call_words(block, cwd, clean_line)


def _changes(block: Block, view: View) -> list[Run]:
    counts = [changed(each) for each in captions.diffs(block)]
    if not counts:
        return []
    plus, minus = sum(each for each, _ in counts), sum(each for _, each in counts)
    return [(f" +{plus}", view.look.done), (f" −{minus}", view.look.failed)]


def _extras(block: Block, terminals: list[Block], view: View) -> list[Run]:
    look, status = view.look, block["status"]
    said: list[Run] = []
    seconds = _seconds(block, view.now)
    if seconds is not None and seconds >= 0.05:
        said.append((duration(seconds), look.soft))
    code = captions.exit_code(block, terminals)
    if code is not None:
        said.append((f"exit {code}", look.soft if code == 0 else look.failed))
    if is_quiet(block) and (length := captions.length_of(block, terminals)):
        said.append((count(length, "line"), look.soft))
    if status == "failed" and code in (None, 0):
        said.append(("failed", look.failed))
    elif status not in ("done", "pending", "running", "failed"):
        said.append((clean_line(status), look.soft))
    dots: list[Run] = []
    for run in said:
        dots += [(" · ", look.faint), run]
    return dots


def _seconds(block: Block, now: int) -> float | None:
    since = block.get("since")
    if block["status"] == "running" and isinstance(since, int) and now > since:
        return float((now - since) // 1000)
    return lenient.number(block, "seconds")


def details(block: Block, terminals: list[Block], view: View) -> list[Line]:
    """Diffs, output, and the arguments where nothing else tells."""
    found: list[Line] = []
    several = len(captions.diffs(block)) > 1
    for each in captions.parts_of(block):
        if lenient.text(each, "type") == "diff" and several:
            path = captions.short_path(diff.title(each), view.cwd)
            found.append([(path, view.look.heading)])
        if lenient.text(each, "type") == "markdown" and _is_output(
            block, lenient.text(each, "text")
        ):
            text = captions.unfenced(lenient.text(each, "text"))
            found += part.output(text, view, _most(view), tail=False)
        elif lenient.text(each, "type") != "terminal" or lenient.text(each, "text"):
            found += part.rendered(each, view)
    for terminal in terminals:
        found += part.output(terminal["text"], view, _most(view))
    if not found:
        found = _arguments(block, view)
    return found


def _is_output(block: Block, text: str) -> bool:
    """Whether its lines are to stay as they came: of a file that was read, too, where its agent
    did not fence it."""
    kind = block.get("kind")
    return kind == "execute" or (kind in ("read", "search") and "```" not in text)


def _most(view: View) -> int:
    return part.OPENED if view.opened else part.FOLDED


def _arguments(block: Block, view: View) -> list[Line]:
    found: list[Line] = []
    for key in ("input", "output"):
        value = lenient.mapping(block, key).get("value")
        if key in block and not (isinstance(value, dict) and set(value) <= set(captions.EXITS)):
            found += part.as_json(value, view)
    return found or [[("nothing more is known of it", view.look.faint)]]


def has_details(block: Block, terminals: list[Block]) -> bool:
    return bool(
        captions.parts_of(block)
        or any(each["text"] for each in terminals)
        or "input" in block
        or "output" in block
    )
