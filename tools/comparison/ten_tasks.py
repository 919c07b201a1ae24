"""`python -m tools.comparison.ten_tasks [PROGRAM …] [--write]`: the ten tasks of `bench.ten_tasks`
in each agent, headless, with the same scripted model; the agents take turns. Prints the table of
docs/comparison.md, and puts it there. One that cannot be installed is not in it."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median

import tiktoken

from bench.figures import progress
from bench.headless import PROGRAMS, Done, stands
from bench.step_overhead import in_turn
from bench.ten_tasks import TASKS
from rookery.agent.scripted.server import Asked

PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparison.md"
BEGIN, END = "<!-- ten tasks: begin -->", "<!-- ten tasks: end -->"
SENT = ("messages", "input", "instructions", "tools", "system")
"""Of a request's body: what a model reads."""


def main(words: list[str]) -> None:
    names = [word for word in words if word in PROGRAMS] or list(PROGRAMS)
    done: dict[str, list[Done]] = {name: [] for name in names}
    versions: dict[str, str] = {}
    with stands(names) as (found, model):
        for name, stand in found.items():  # what a first start makes is there afterwards
            stand.carry_out(0, TASKS[0], model)
            versions[name] = stand.version()
        for number, task in enumerate(TASKS):
            for name in in_turn(list(found), number):
                each = found[name].carry_out(number, task, model)
                done[name].append(each)
                load = os.getloadavg()[0]
                shown = f"exact: {each.exact}, {len(each.asked)} requests"
                progress(f"{name}: task {number}: {shown} (load {load:.1f})")
    table = rendered({name: each for name, each in done.items() if each}, versions)
    sys.stdout.write(table)
    if "--write" in words:
        write(table)


def rendered(done: dict[str, list[Done]], versions: dict[str, str]) -> str:
    lines = [
        "| agent | solved byte-exact | round trips | tokens sent per task | overhead per step |",
        "|---|---|---|---|---|",
    ]
    encoding = cl100k()
    for name, tasks in done.items():
        asked = [each for task in tasks for each in task.asked]
        tokens = sum(len(encoding.encode_ordinary(sent(each))) for each in asked) / len(tasks)
        steps = [seconds for task in tasks for seconds in task.overheads]
        overhead = f"{median(steps) * 1e3:.0f} ms" if steps else "–"
        cells = (
            f"{PROGRAMS[name].name} {versions[name]}",
            f"{sum(task.exact for task in tasks)} of {len(tasks)}",
            f"{mean(len(task.asked) for task in tasks):.1f}",
            f"{tokens:,.0f}",
            overhead,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cl100k() -> tiktoken.Encoding:
    """From the vocabulary that litellm brings: tiktoken would fetch it."""
    found = find_spec("litellm")
    [place, *_] = (found.submodule_search_locations if found else None) or [""]
    os.environ["TIKTOKEN_CACHE_DIR"] = os.path.join(place, "litellm_core_utils", "tokenizers")
    return tiktoken.get_encoding("cl100k_base")


def sent(asked: Asked) -> str:
    return json.dumps([asked.body[name] for name in SENT if name in asked.body], ensure_ascii=False)


def write(table: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    assert mark, f"{PAGE.name} has lost its marks"
    PAGE.write_text(f"{before}{BEGIN}\n{table}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
