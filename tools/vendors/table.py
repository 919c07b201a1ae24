"""The table of docs/vendors.md: a row for each agent, a column for each step, and below it the
vendors' own faults. Each agent's lines are its own: a run of some leaves those of the others."""

from collections.abc import Collection, Iterable, Sequence

from tools.vendors.drive import STEPS, Cell
from tools.vendors.vendor import Vendor

HEADS = {
    "mcp": "MCP",
    "kill_agent": "kill -9 agent",
    "kill_worker": "kill -9 worker",
    "refuse": "401",
    "limit": "429",
    "forget": "clear, delete",
    "inside": "of the home",
    "subagents": "sub-agents",
    "login": "log-in",
}
"""Where a step's name alone says too little."""

FAILED = "**failed**"
FAULT = "fault"


def rendered(
    found: Sequence[tuple[Vendor, Sequence[Cell]]],
    earlier: str = "",
    steps: Collection[str] = STEPS,
) -> str:
    """`earlier`: a table that it takes the lines of other vendors from. `steps`: its columns."""
    heads = ["agent", "version", *map(_head, steps)]
    head = _line(heads)
    known = earlier.splitlines() if head in earlier else []
    rows = {line.split(" ", 2)[1]: line for line in known if line.startswith("| ")}
    notes = {line.split(" ", 2)[1]: line for line in known if line.startswith("- ")}
    for vendor, cells in found:
        rows[vendor.name] = _line(_row(vendor, cells, steps))
        notes.pop(f"{vendor.name}:", None)
        if told := _faults([cell for cell in cells if cell.step in steps]):
            notes[f"{vendor.name}:"] = f"- {vendor.name}: {told}"
    made = [rows[name] for name in sorted(rows) if name not in ("agent", "---")]
    table = "\n".join([head, _line(["---"] * len(heads)), *made])
    told = "\n".join(notes[name] for name in sorted(notes))
    return f"{table}\n\n{told}" if told else table


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(step: str) -> str:
    return HEADS.get(step, step)


def _row(vendor: Vendor, cells: Sequence[Cell], steps: Iterable[str]) -> list[str]:
    made = {cell.step: cell for cell in cells}
    return [vendor.name, vendor.version, *(_cell(made.get(step)) for step in steps)]


def _cell(cell: Cell | None) -> str:
    if cell is None or cell.error:
        return FAILED
    return cell.said or FAULT


def _faults(cells: Sequence[Cell]) -> str:
    """Each once, with the steps that it spoils."""
    spoilt: dict[str, list[str]] = {}
    for cell in cells:
        if cell.fault and not cell.said:
            spoilt.setdefault(cell.fault, []).append(_head(cell.step))
    return " ".join(f"*{', '.join(steps)}*: {fault}" for fault, steps in spoilt.items())
