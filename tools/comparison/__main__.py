"""`python -m tools.comparison [PROGRAM …] [TASK …]`: does the tasks in each program, one task after
the other so that a row is measured at one load, and prints the table of docs/comparison.md. With
`--write`, puts each row there as soon as it is done; all other cells stay. With `--show`, prints
the last screen of each task."""

import os
import re
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
MARK = re.compile(r" <sup>(\d+)</sup>")
NOTE = re.compile(rf"^(\d+)\. ({'|'.join(PROGRAMS)}): (.+)$", re.MULTILINE)

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
    PAGE.write_text(f"{before}{table}\n## {rest.partition('\n## ')[2]}", encoding="utf-8")


def written() -> Cells:
    """The cells of the page, each with its note."""
    text = PAGE.read_text(encoding="utf-8")
    tasks = {words: task for task, words in TASKS.items()}
    notes = {number: note for number, _, note in NOTE.findall(text)}
    cells: Cells = {}
    programs: list[str] = []
    for line in text.splitlines():
        first, *others = [cell.strip() for cell in line.strip("|").split("|")]
        if first == "task":
            programs = others
        elif first in tasks:
            whole = [MARK.sub(lambda mark: f" ({notes[mark[1]]})", cell) for cell in others]
            cells |= {(name, tasks[first]): it for name, it in zip(programs, whole, strict=True)}
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
    """The table, and below it the notes of its cells."""
    lines = [f"| task | {' | '.join(PROGRAMS)} |", f"|---|{'---|' * len(PROGRAMS)}"]
    notes: list[str] = []
    for task, words in TASKS.items():
        row = words
        for program in PROGRAMS:
            figures, _, note = cells.get((program, task), NOT_DRIVEN).partition(" (")
            row += f" | {figures}"
            if note:
                notes.append(f"{len(notes) + 1}. {program}: {note.removesuffix(')')}")
                row += f" <sup>{len(notes)}</sup>"
        lines.append(f"| {row} |")
    return "\n".join([*lines, "", *notes]) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
