"""The table of docs/vendors.md: a row for each agent, a column for each step, and below it the
vendors' own faults."""

from collections.abc import Sequence

from tools.vendors.drive import STEPS, Cell
from tools.vendors.vendor import Vendor

HEADS = {
    "mcp": "MCP",
    "kill_agent": "kill -9 agent",
    "kill_worker": "kill -9 worker",
    "refuse": "401",
    "limit": "429",
    "forget": "clear, delete",
}
"""Where a step's name alone says too little."""

FAILED = "**failed**"


def rendered(found: Sequence[tuple[Vendor, Sequence[Cell]]]) -> str:
    notes: list[str] = []
    rows = [_row(vendor, cells, notes) for vendor, cells in found]
    heads = ["agent", "version", *(HEADS.get(step, step) for step in STEPS)]
    lines = [heads, ["---"] * len(heads), *rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    told = "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1))
    return f"{text}\n\n{told}" if told else text


def _row(vendor: Vendor, cells: Sequence[Cell], notes: list[str]) -> list[str]:
    made = {cell.step: cell for cell in cells}
    return [
        vendor.name,
        vendor.version,
        *(_cell(vendor, made.get(step), notes) for step in STEPS),
    ]


def _cell(vendor: Vendor, cell: Cell | None, notes: list[str]) -> str:
    if cell is None:
        return ""
    if cell.error:
        return FAILED
    if cell.said:
        return cell.said
    note = f"{vendor.name}: {cell.fault}"
    if note not in notes:
        notes.append(note)
    return f"fault [{notes.index(note) + 1}]"
