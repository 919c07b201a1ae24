"""A tool call as a card: a line with its state, verb and object, then what a person would check."""

from collections.abc import Sequence
from typing import Any

from rookery.cli.output import lines
from rookery.cli.output.paint import Paint
from rookery.cli.output.safe import clean_line
from rookery.core.blocks import captions
from rookery.core.blocks.document import Block
from rookery.core.json import lenient
from rookery.core.json.safe_text import count
from rookery.core.units import duration


def headline(
    block: Block, terminals: list[Block], paint: Paint, cwd: str, *, durations: bool = True
) -> str:
    """`edit src/app.py +12 −3`, `run pytest -q · 4.2 s · exit 0`, with the mark of its state."""
    extras = [words for words in _extras(block, terminals, durations=durations) if words]
    dot = f" {paint.sign('dot')} "
    rest = dot + paint.faint(dot.join(extras)) if extras else ""
    mark = paint.mark(captions.mark_of(block))
    return f"{mark} {title(block, cwd)}{_changes(block, paint)}{rest}"


def title(block: Block, cwd: str) -> str:
    """The call in a few words."""
    return " ".join(words for words in captions.call_words(block, cwd) if words)


def _changes(block: Block, paint: Paint) -> str:
    counts = [lines.changed(part) for part in captions.diffs(block)]
    if not counts:
        return ""
    added = paint.in_("done", f"+{sum(plus for plus, _ in counts)}")
    taken = paint.in_("failed", f"{paint.sign('minus')}{sum(minus for _, minus in counts)}")
    return f" {added} {taken}"


def _extras(block: Block, terminals: list[Block], *, durations: bool) -> list[str]:
    status = block["status"]
    told = durations and block.get("seconds", 0) >= 0.05
    said = [duration(block["seconds"]) if told else ""]
    code = captions.exit_code(block, terminals)
    said.append(f"exit {code}" if code is not None else "")
    if captions.is_quiet(block) and (length := captions.length_of(block, terminals)):
        said.append(count(length, "line"))
    if status not in ("done", "pending", "running", "failed"):
        said.append(clean_line(status))
    return [*said, "failed"] if status == "failed" else said


def details(
    block: Block,
    terminals: list[Block],
    paint: Paint,
    *,
    full: bool,
    told: Sequence[dict[str, Any]] = (),
) -> list[str]:
    """What the card opens to: diffs, output, and the arguments where nothing else tells. `told`:
    parts that stand above."""
    if block.get("kind") in captions.QUIET and block["status"] != "failed" and not full:
        return []
    several = len(captions.diffs(block)) > 1
    found: list[str] = []
    for part in captions.parts_of(block):
        if part in told:
            continue
        if part["type"] == "diff" and several:
            found.append(clean_line(part["path"]))
        if part["type"] == "terminal" or (part["type"] == "markdown" and _is_command(block)):
            found += lines.of_output(
                captions.unfenced(lenient.text(part, "text")), paint, full=full
            )
        else:
            found += lines.of_part(part, paint, full=full)
    for terminal in terminals:
        found += lines.of_output(terminal["text"], paint, full=full)
    if not found and not any(part in told for part in captions.parts_of(block)):
        found = [paint.faint(words) for words in _arguments(block)]
    return found


def _is_command(block: Block) -> bool:
    return block.get("kind") == "execute"


def _arguments(block: Block) -> list[str]:
    if _is_command(block) or "input" not in block:
        return []
    return [lines.short_json(block["input"]["value"], 200)]
