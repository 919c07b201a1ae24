"""Drives every vendor's agent and says how it went: `python -m tools.vendors [NAME…] [--record]`.

The table goes to stdout, and its rows into docs/vendors.md. With --record, what each agent and its
worker said goes to fixtures/recordings. `--step NAME` takes some steps only, and writes no row.
Exit codes: 0 all went well, 1 something did not (stderr says what), 2 there is no such vendor.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tools.vendors.drive import FAILURES, STEPS, Cell, drive
from tools.vendors.roster import UnknownVendor, chosen
from tools.vendors.table import rendered
from tools.vendors.vendor import Vendor

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "vendors.md"
RECORDINGS = ROOT / "fixtures" / "recordings"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


async def driven(
    vendor: Vendor, root: Path, record: Path | None, steps: frozenset[str]
) -> list[Cell]:
    found: list[Cell] = []
    begun = time.monotonic()
    async for cell in drive(vendor, root, record, steps):
        words = cell.said or f"its own fault: {cell.fault}" if not cell.error else cell.error
        print(
            f"{vendor.name} {time.monotonic() - begun:5.1f} {cell.step}: {words}", file=sys.stderr
        )
        sys.stderr.flush()
        found.append(cell)
    return found


def attempt(vendor: Vendor, record: Path | None, steps: frozenset[str]) -> list[Cell]:
    """The scenario in a home of its own."""
    root = tempfile.mkdtemp(prefix="rkv-")
    os.environ["ROOKERY_HOME"] = os.path.join(root, "home")
    try:
        return asyncio.run(driven(vendor, Path(root), record, steps))
    except FAILURES:  # the first that cannot be installed must not hide how the others do
        traceback.print_exc()
        return [Cell("start", "", "it did not come to a start")]
    finally:
        if not os.environ.get("ROOKERY_VENDORS_KEEP"):
            shutil.rmtree(root, ignore_errors=True)


def write(found: list[tuple[Vendor, list[Cell]]]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    earlier, mark, after = rest.partition(END)
    assert mark, f"{PAGE.name} has lost its marks"
    text = rendered(found, earlier)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.vendors")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--step", action="append", default=[], choices=list(STEPS))
    given = parser.parse_args(words)
    try:
        vendors = chosen(given.names)
    except UnknownVendor as error:
        print(error, file=sys.stderr)
        return 2
    found: list[tuple[Vendor, list[Cell]]] = []
    for vendor in vendors:
        record = RECORDINGS / f"{vendor.name}-scenario.jsonl" if given.record else None
        found.append((vendor, attempt(vendor, record, frozenset(given.step))))
    print(rendered(found))
    if not given.step:
        write(found)
    return int(any(cell.error for _, cells in found for cell in cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
