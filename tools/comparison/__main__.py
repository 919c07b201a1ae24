"""`python -m tools.comparison [PROGRAM …]`: does the twelve tasks in each program, and prints the
table of docs/comparison.md. With `--write`, puts it there."""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from tests.conftest import end_all
from tools.comparison import in_openhands, in_rookery, in_toad
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
    cells: dict[tuple[str, str], str] = {}
    for program in asked:
        for task in TASKS:
            cells[program, task] = done(program, task)
            sys.stderr.write(f"{program}: {task}: {cells[program, task]}\n")
    table = rows(asked, cells)
    sys.stdout.write(table)
    if "--write" in words:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(re.sub(r"\| task .*?\n\n", f"{table}\n", text, flags=re.DOTALL))


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
        return f"✗ {str(error).splitlines()[0]}"
    else:
        screen.close()
        return f"{screen.keys} · {screen.seconds:.1f} s"
    finally:
        end_all(home)
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


def rows(programs: list[str], cells: dict[tuple[str, str], str]) -> str:
    lines = [f"| task | {' | '.join(programs)} |", f"|---|{'---|' * len(programs)}"]
    for task, words in TASKS.items():
        found = " | ".join(cells[program, task] for program in programs)
        lines.append(f"| {words} | {found} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
