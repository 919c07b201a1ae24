"""`python -m tools.comparison [PROGRAM …]`: does the twelve tasks in each program, and prints the
table of docs/comparison.md. With `--write`, puts it there; other programs keep their columns."""

import re
import shutil
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


def main(words: list[str]) -> None:
    asked = [word for word in words if not word.startswith("-")] or list(PROGRAMS)
    cells = written()
    for program in asked:
        for task in TASKS:
            cells[program, task] = done(program, task)
            sys.stderr.write(f"{program}: {task}: {cells[program, task]}\n")
    table = rows(list(PROGRAMS), cells)
    sys.stdout.write(table)
    if "--write" in words:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(re.sub(r"\| task .*?\n\n", f"{table}\n", text, flags=re.DOTALL))


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


def done(program: str, task: str) -> str:
    """Keys and seconds, or why not."""
    do = PROGRAMS[program].get(task)
    if do is None:
        return NOT_DRIVEN
    home = Path(tempfile.mkdtemp(prefix="rk-", dir="/tmp"))
    work = Path(tempfile.mkdtemp(prefix="work-", dir="/tmp"))
    place = Place(home, work)
    in_rookery.prepare(place)
    try:
        screen = do(place)
    except Cannot as error:
        return f"– ({error})"
    except AssertionError as error:
        missing = str(error).splitlines()[0].replace(str(work), "…")
        return f"✗ {missing.rstrip(':')}"
    else:
        return f"{screen.keys} · {screen.seconds:.1f} s"
    finally:
        Terminal.close_all()
        with suppress(AssertionError):  # it has killed what did not end by itself
            end_all(home)
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


def rows(programs: list[str], cells: dict[tuple[str, str], str]) -> str:
    lines = [f"| task | {' | '.join(programs)} |", f"|---|{'---|' * len(programs)}"]
    for task, words in TASKS.items():
        found = " | ".join(cells.get((program, task), NOT_DRIVEN) for program in programs)
        lines.append(f"| {words} | {found} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
