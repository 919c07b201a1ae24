"""`python -m tools.comparison [PROGRAM …] [TASK …]`: does the tasks in each program, one task after
the other so that a row is measured at one load, and prints the table of docs/comparison.md. With
`--write`, puts each row there as soon as it is done; all other cells stay. With `--show`, prints
the last screen of each task."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.conftest import end_all
from tools.comparison import in_openhands, in_rookery, in_toad
from tools.comparison.counting import Terminal
from tools.comparison.tasks import TASKS, Cannot, Place, Task

PROGRAMS: dict[str, dict[str, Task]] = {
    "Rookery": in_rookery.TASKS,
    "Toad": in_toad.TASKS,
    "OpenHands CLI": in_openhands.TASKS,
}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparison.md"
NOT_DRIVEN = "not driven"
NOT_DONE = "✗"


def main(words: list[str]) -> None:
    programs = [word for word in words if word in PROGRAMS] or list(PROGRAMS)
    tasks = [word for word in words if word in TASKS] or list(TASKS)
    cells: dict[tuple[str, str], str] = {}
    for task in tasks:
        for program in programs:
            cell, screen = done(program, task)
            cells[program, task] = cell
            load = os.getloadavg()[0]
            sys.stderr.write(f"{program}: {task}: {cell} (load {load:.1f})\n")
            if "--show" in words or cell.startswith(NOT_DONE):
                sys.stderr.write(f"{screen}\n")
        if "--write" in words:
            write(rows(list(PROGRAMS), written() | cells))
    sys.stdout.write(rows(list(PROGRAMS), written() | cells))


def write(table: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition("| task ")
    PAGE.write_text(f"{before}{table}\n{rest.partition('\n\n')[2]}", encoding="utf-8")


def written() -> dict[tuple[str, str], str]:
    """The cells of the page."""
    tasks, cells = {words: task for task, words in TASKS.items()}, {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        words, *found = [cell.strip() for cell in line.strip("|").split("|")]
        if words in tasks:
            cells |= {
                (name, tasks[words]): cell for name, cell in zip(PROGRAMS, found, strict=True)
            }
    return cells


def done(program: str, task: str) -> tuple[str, str]:
    """Keys and seconds, or why not; and the last screen."""
    do = PROGRAMS[program].get(task)
    if do is None:
        return NOT_DRIVEN, ""
    home = Path(tempfile.mkdtemp(prefix="rk-", dir="/tmp"))
    work = Path(tempfile.mkdtemp(prefix="work-", dir="/tmp"))
    place = Place(home, work)
    in_rookery.prepare(place)
    try:
        cell = outcome(do, place)
        return cell.replace(str(work), "…").replace("|", "¦"), Terminal.last_screen()
    finally:
        Terminal.close_all()
        with suppress(AssertionError):  # it has killed what did not end by itself
            end_all(home)
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


def outcome(do: Task, place: Place) -> str:
    try:
        screen = do(place)
    except Cannot as error:
        return f"– ({error})"
    except (AssertionError, subprocess.SubprocessError, OSError) as error:
        return f"{NOT_DONE} {str(error).splitlines()[0].rstrip(':')}"
    note = f" ({screen.note})" if screen.note else ""
    return f"{screen.keys} · {screen.seconds:.1f} s{note}"


def rows(programs: list[str], cells: dict[tuple[str, str], str]) -> str:
    lines = [f"| task | {' | '.join(programs)} |", f"|---|{'---|' * len(programs)}"]
    for task, words in TASKS.items():
        found = " | ".join(cells.get((program, task), NOT_DRIVEN) for program in programs)
        lines.append(f"| {words} | {found} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
