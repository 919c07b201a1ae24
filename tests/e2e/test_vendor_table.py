"""The table and the recordings that a drive of the vendors' agents leaves: whose lines are whose,
and what of the machine is in them."""

import json
import sys
from pathlib import Path

from tools.vendors.drive import Cell
from tools.vendors.recorder import scrubbed
from tools.vendors.roster import VENDORS
from tools.vendors.table import rendered

CODEX, PI = VENDORS["codex"], VENDORS["pi"]


def test_a_run_of_one_vendor_leaves_the_others_rows() -> None:
    faulty = [
        Cell("approve", "", fault="it never asks."),
        Cell("reject", "", fault="it never asks."),
    ]
    first = rendered([(PI, faulty), (CODEX, [Cell("start", "1 s"), Cell("stream", "", "why")])])
    again = rendered([(CODEX, [Cell("start", "2 s")])], f"\n{first}\n")
    assert "- pi: *approve, reject*: it never asks." in again
    [row] = [line for line in again.splitlines() if line.startswith("| codex")]
    assert "2 s" in row
    assert "1 s" not in again
    assert "**failed**" in row, "a step that was not taken did not go well"
    mended = rendered([(PI, [Cell("approve", "ok", fault="gone: it never asks.")])], again)
    assert "it never asks" not in mended


def test_a_recording_keeps_nothing_of_its_machine(tmp_path: Path) -> None:
    work = str(tmp_path / "work")
    about = {"cwd": work, "project": work.replace("/", "-"), "python": sys.executable}
    lines = [{"t": 5.0, "dir": "send", "msg": about}, {"t": 5.5, "dir": "recv", "msg": {}}]
    text = "\n".join(map(json.dumps, lines))
    first, second = map(json.loads, scrubbed(text, {work: "/home/dev/project"}).splitlines())
    assert first["msg"] == {
        "cwd": "/home/dev/project",
        "project": "-home-dev-project",
        "python": "/usr/bin/python3",
    }
    assert (first["t"], second["t"]) == (0.0, 0.5)
