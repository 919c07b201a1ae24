"""`python -m tools.comparison [PROGRAM …] [TASK …]`: does the tasks in each program, one task after
the other so that a row is measured at one load, and prints the table of docs/comparison.md. With
`--write`, puts each row there as soon as it is done; all other cells stay. With `--show`, prints
the last screen of each task."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.comparison.counting import Terminal
from tools.comparison.in_claude import Claude
from tools.comparison.in_codex import Codex
from tools.comparison.in_openhands import OpenHands
from tools.comparison.in_rookery import Rookery
from tools.comparison.in_toad import Toad
from tools.comparison.program import Program
from tools.comparison.tasks import TASKS, Cannot

PROGRAMS: dict[str, type[Program]] = {
    program.name: program for program in (Rookery, Claude, Codex, Toad, OpenHands)
}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparison.md"
NOT_DRIVEN = "not driven"
NOT_DONE = "✗"

type Cells = dict[tuple[str, str], str]
"""By program and task."""


def main(words: list[str]) -> None:
    programs = [word for word in words if word in PROGRAMS] or list(PROGRAMS)
    tasks = [word for word in words if word in TASKS] or list(TASKS)
    cells: Cells = {}
    for task in tasks:
        for program in programs:
            cell, screen = done(program, task)
            cells[program, task] = cell
            load = os.getloadavg()[0]
            sys.stderr.write(f"{program}: {task}: {cell} (load {load:.1f})\n")
            if "--show" in words or cell.startswith(NOT_DONE):
                sys.stderr.write(f"{screen}\n")
        if "--write" in words:
            write(rows(written() | cells))
    sys.stdout.write(rows(written() | cells))


def write(table: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition("| task ")
    PAGE.write_text(f"{before}{table}\n{rest.partition('\n\n')[2]}", encoding="utf-8")


def written() -> Cells:
    """The cells of the page."""
    tasks = {words: task for task, words in TASKS.items()}
    cells: Cells = {}
    programs: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        first, *others = [cell.strip() for cell in line.strip("|").split("|")]
        if first == "task":
            programs = others
        elif first in tasks:
            cells |= {(name, tasks[first]): it for name, it in zip(programs, others, strict=True)}
    return cells


def done(program: str, task: str) -> tuple[str, str]:
    """Keys and seconds, or why not; and the last screen."""
    with (
        TemporaryDirectory(prefix="rk-", dir="/tmp", ignore_cleanup_errors=True) as home,
        TemporaryDirectory(prefix="work-", dir="/tmp", ignore_cleanup_errors=True) as work,
        PROGRAMS[program](Path(home), Path(work)) as driven,
    ):
        cell = outcome(driven, task)
        return cell.replace(work, "…").replace("|", "¦"), Terminal.last_screen()


def outcome(program: Program, task: str) -> str:
    try:
        screen: Terminal = getattr(program, task)()
    except Cannot as error:
        return f"– ({error})"
    except (AssertionError, subprocess.SubprocessError, OSError) as error:
        return f"{NOT_DONE} {str(error).splitlines()[0].rstrip(':')}"
    note = f" ({screen.note})" if screen.note else ""
    return f"{screen.keys} · {screen.seconds:.1f} s{note}"


def rows(cells: Cells) -> str:
    lines = [f"| task | {' | '.join(PROGRAMS)} |", f"|---|{'---|' * len(PROGRAMS)}"]
    for task, words in TASKS.items():
        row = " | ".join(cells.get((program, task), NOT_DRIVEN) for program in PROGRAMS)
        lines.append(f"| {words} | {row} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
