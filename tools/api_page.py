"""The table of operations in docs/api.md, made from the catalogue: `python -m tools.api_page`."""

import re
import sys
from pathlib import Path

from rookery.operations.catalogue.finding import every
from rookery.operations.catalogue.row import Row

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
PLACE = re.compile(r"(<!-- operations: made by make docs -->\n).*?(<!-- end -->)", re.DOTALL)


def table() -> str:
    rows = ["| name | arguments | |", "|---|---|---|", *map(_line, every())]
    return "\n".join(rows) + "\n"


def _line(row: Row) -> str:
    given = ", ".join(
        f"`{each.name}`" + ("" if each.required else " (optional)") for each in row.arguments
    )
    return f"| `{row.name}` | {given} | {row.sentence} |"


def written(text: str) -> str:
    """The page with the table as it is now."""
    return PLACE.sub(lambda found: f"{found[1]}{table()}{found[2]}", text)


def main() -> int:
    page = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
