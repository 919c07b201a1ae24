"""The extras of a tool call's line: what follows its verb and object."""

from collections.abc import Sequence

from rookery.core.blocks import Block, captions
from rookery.core.json import lenient
from rookery.core.json.safe_text import count
from rookery.core.units import duration
from rookery.render.diff import changed
from rookery.render.runs import clean_line


def changes(block: Block) -> tuple[int, int] | None:
    """Return how many lines a call adds and removes, or None if it changes no file."""
    counts = [changed(part) for part in captions.diffs(block)]
    return (sum(plus for plus, _ in counts), sum(minus for _, minus in counts)) if counts else None


def extras(
    block: Block, terminals: Sequence[Block], seconds: float | None
) -> list[tuple[str, bool]]:
    """Return `4.2 s`, `exit 1`, `12 lines`, `failed`, each with whether it indicates a failure."""
    status = block["status"]
    if captions.is_rejected(block):
        return [("rejected", False)]
    facts: list[tuple[str, bool]] = []
    if seconds is not None and seconds >= 0.05:
        facts.append((duration(seconds), False))
    if (code := captions.exit_code(block, list(terminals))) is not None:
        facts.append((f"exit {code}", code != 0))
    if captions.is_quiet(block) and (length := captions.length_of(block, terminals)):
        facts.append((count(length, "line"), False))
    if status == "failed" and code in (None, 0):
        facts.append(("failed", True))
    elif status not in ("done", "pending", "running", "failed"):
        facts.append((clean_line(status), False))
    if captions.is_subagent(block):
        facts += [(count(block["calls"], "call"), False)] if block["calls"] else []
        result = clean_line(lenient.text(block, "result")) if captions.is_over(block) else ""
        facts += [(result, False)] if result else []
    return facts
