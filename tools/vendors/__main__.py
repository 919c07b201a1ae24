"""Drives every vendor's agent and says how it went: `python -m tools.vendors [NAME…]`.

The table goes to stdout, and into docs/vendors.md when all vendors are driven. Exit codes: 0 all
went well, 1 something did not (stderr says what), 2 there is no vendor of that name.
"""

import asyncio
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

from rookery.client.session import Rejected
from rookery.client.start import StartError
from tools.vendors import trials
from tools.vendors.install import CannotInstall
from tools.vendors.perch import Perch, perched
from tools.vendors.roster import VENDORS, UnknownVendor, chosen
from tools.vendors.vendor import Vendor

PAGE = Path(__file__).resolve().parents[2] / "docs" / "vendors.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

STARTS = 3
"""Of so many the shortest times are told, since the rest is the machine's; the median memory."""

FAILED = "**failed**"

FAILURES = (AssertionError, OSError, TimeoutError, CannotInstall, Rejected, StartError)

HEADS = (
    *("agent", "version", "start s", "init s", "approval", "reject", "cancel ms"),
    *("kill -9 agent", "kill -9 worker", "stop", "MB (processes)"),
)


async def start(perch: Perch) -> tuple[float, float, float, int]:
    """Seconds to session/new, to initialize; MB and processes after the former."""
    alone = await trials.init_seconds(perch)
    seconds = await trials.start_seconds(perch)
    return (seconds, alone, *trials.memory_mb(perch))


async def approve(perch: Perch) -> str:
    await trials.approve(perch)
    return "ok"


async def reject(perch: Perch) -> str:
    await trials.reject(perch)
    return "ok" if perch.vendor.rejected == "end_turn" else f"ok, ends `{perch.vendor.rejected}`"


async def cancel(perch: Perch) -> str:
    return f"{await trials.cancel(perch) * 1000:.0f}"


async def kill_agent(perch: Perch) -> str:
    return f"ok ({await trials.kill_agent(perch)})"


async def kill_worker(perch: Perch) -> str:
    return f"ok ({await trials.kill_worker(perch)})"


async def stop(perch: Perch) -> str:
    await trials.stop(perch)
    return "nothing left"


def attempt[Result](vendor: Vendor, trial: Callable[[Perch], Awaitable[Result]]) -> Result | None:
    """A trial in a home of its own; None when it failed."""

    async def run() -> Result:
        async with perched(vendor, Path(root)) as perch:
            return await trial(perch)

    root = tempfile.mkdtemp(prefix="rkv-")
    os.environ["ROOKERY_HOME"] = os.path.join(root, "home")
    try:
        print(f"{vendor.name}: {trial.__name__}", file=sys.stderr, flush=True)
        return asyncio.run(run())
    except FAILURES:  # one that fails must not hide how the others do
        traceback.print_exc()
        return None
    finally:
        shutil.rmtree(root, ignore_errors=True)


def row(vendor: Vendor) -> list[str]:
    starts = [found for _ in range(STARTS) if (found := attempt(vendor, start)) is not None]
    cells = [attempt(vendor, trial) or FAILED for trial in (approve, reject, cancel)]
    cells += [attempt(vendor, trial) or FAILED for trial in (kill_agent, kill_worker, stop)]
    if len(starts) < STARTS:  # figures of those that went well would hide the one that did not
        return [vendor.name, vendor.version, FAILED, FAILED, *cells, FAILED]
    figures = [f"{min(found[at] for found in starts):.1f}" for at in (0, 1)]
    megabytes, processes = sorted(found[2:] for found in starts)[STARTS // 2]
    return [vendor.name, vendor.version, *figures, *cells, f"{megabytes:.0f} ({processes})"]


def table(rows: list[list[str]]) -> str:
    lines = [HEADS, ["---"] * len(HEADS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    assert mark, f"{PAGE.name} has lost its marks"
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main(names: list[str]) -> int:
    try:
        vendors = chosen(names)
    except UnknownVendor as error:
        print(error, file=sys.stderr)
        return 2
    rows = [row(vendor) for vendor in vendors]
    text = table(rows)
    print(text)
    if vendors == list(VENDORS.values()):
        write(text)
    return int(FAILED in text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
