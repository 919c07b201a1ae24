"""Drives every vendor's agent and says how it went: `python -m tools.vendors [NAME…] [--record]`.

The table goes to stdout, and its rows into docs/vendors.md. With --record, what each agent and its
worker said goes to fixtures/recordings. `--step NAME` takes some steps only, and writes no row;
`--sent` takes those of the table of what agents send, and writes that.
With --sandbox KIND its sessions run in one, and the rows go into the second table of the page; with
--network listed, through Rookery's proxy, and no row is written.
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

from rookery.core.settings.sandbox import KINDS, LISTED, NONE, ON
from tools.vendors.drive import FAILURES, IN_SANDBOX, SENT, STEPS, Cell, drive
from tools.vendors.perch import OPEN, Cage
from tools.vendors.roster import UnknownVendor, chosen
from tools.vendors.table import rendered
from tools.vendors.vendor import Vendor

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "vendors.md"
BEFORE = ("start", "stream", "mcp", "limit", "look")
"""Steps that bring about what is sent, or look at it."""
RECORDINGS = ROOT / "fixtures" / "recordings"


async def driven(
    vendor: Vendor, root: Path, record: Path | None, steps: frozenset[str], cage: Cage
) -> list[Cell]:
    found: list[Cell] = []
    begun = time.monotonic()
    async for cell in drive(vendor, root, record, steps, cage):
        words = cell.said or f"its own fault: {cell.fault}" if not cell.error else cell.error
        print(
            f"{vendor.name} {time.monotonic() - begun:5.1f} {cell.step}: {words}", file=sys.stderr
        )
        sys.stderr.flush()
        found.append(cell)
    return found


def attempt(vendor: Vendor, record: Path | None, steps: frozenset[str], cage: Cage) -> list[Cell]:
    """The scenario in a home of its own."""
    root = tempfile.mkdtemp(prefix="rkv-")
    os.environ["ROOKERY_HOME"] = os.path.join(root, "home")
    try:
        return asyncio.run(driven(vendor, Path(root), record, steps, cage))
    except FAILURES:  # the first that cannot be installed must not hide how the others do
        traceback.print_exc()
        return [Cell("start", "", "it did not come to a start")]
    finally:
        if not os.environ.get("ROOKERY_VENDORS_KEEP"):
            shutil.rmtree(root, ignore_errors=True)


def write(found: list[tuple[Vendor, list[Cell]]], shown: dict[str, list[str]]) -> None:
    """`shown`: the tables to write, as `tables` has them."""
    page = PAGE.read_text(encoding="utf-8")
    for name, steps in shown.items():
        begin, end = (f"<!-- {name}: {word} -->" for word in ("begin", "end"))
        before, _, rest = page.partition(begin)
        earlier, mark, after = rest.partition(end)
        assert mark, f"{PAGE.name} has lost its marks"
        page = f"{before}{begin}\n{rendered(found, earlier, steps)}\n{end}{after}"
    PAGE.write_text(page, encoding="utf-8")


def tables(cage: Cage) -> dict[str, list[str]]:
    """The columns of each, by its mark in the page."""
    if cage == OPEN:
        return {"measured": [name for name in STEPS if name not in SENT], "sent": list(SENT)}
    steps = [name for name in IN_SANDBOX if name not in SENT]
    return {"sandboxed": steps, "sent in a sandbox": list(SENT)}


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.vendors")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--step", action="append", default=[], choices=[*STEPS, "inside"])
    parser.add_argument("--sent", action="store_true")
    parser.add_argument("--sandbox", default=NONE, choices=KINDS)
    parser.add_argument("--network", default=ON, choices=(ON, LISTED))
    given = parser.parse_args(words)
    try:
        vendors = chosen(given.names)
    except UnknownVendor as error:
        print(error, file=sys.stderr)
        return 2
    cage = Cage(given.sandbox, given.network)
    found: list[tuple[Vendor, list[Cell]]] = []
    for vendor in vendors:
        record = RECORDINGS / f"{vendor.name}-scenario.jsonl" if given.record else None
        steps = frozenset([*BEFORE, *SENT] if given.sent else given.step)
        found.append((vendor, attempt(vendor, record, steps, cage)))
    shown = {name: each for name, each in tables(cage).items() if "sent" in name or not given.sent}
    for columns in shown.values():
        print(rendered(found, steps=columns))
    if not given.step and cage.network == ON:
        write(found, shown)
    return int(any(cell.error for _, cells in found for cell in cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
