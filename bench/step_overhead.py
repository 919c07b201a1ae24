"""step_overhead_ratio: what an agent adds to a step of a task, ours against Codex, in the same run:
from the last byte of the model's answer to the first of the next request, less the command's own
time. Medians of all steps of ten tasks (`ten_tasks.py`), which the agents take in turn, headless;
ours as it comes, with its worker, log and snapshots.

step_overhead_ms: ours. step_overhead_pi_ratio: against Pi.
steps_exact: of our ten tasks, how many left every file as it should be.
"""

import os
import sys
from collections.abc import Sequence
from statistics import median

from bench.figures import Aim, Benchmark, progress, run_alone
from bench.headless import Done, stands
from bench.ten_tasks import TASKS

NAMES = ("rookery", "codex", "pi")


def measure() -> dict[str, float]:
    done: dict[str, list[Done]] = {}
    with stands(NAMES) as (found, model):
        for name, stand in found.items():  # what a first start makes is there afterwards
            stand.carry_out(0, TASKS[0], model)
            done[name] = []
        for number, task in enumerate(TASKS):
            for name in in_turn(list(found), number):
                done[name].append(found[name].carry_out(number, task, model))
    overheads = {name: overhead(name, each) for name, each in done.items()}
    exact = {name: sum(task.exact for task in each) for name, each in done.items()}
    shown = ", ".join(
        f"{name} {seconds * 1e3:.0f} ms ({exact[name]} of {len(TASKS)} exact)"
        for name, seconds in overheads.items()
    )
    progress(f"a step: {shown}; load {os.getloadavg()[0]:.1f}")
    ours = overheads["rookery"]
    figures = {"step_overhead_ms": ours * 1e3, "steps_exact": float(exact["rookery"])}
    ratios = {"codex": "step_overhead_ratio", "pi": "step_overhead_pi_ratio"}
    for name, figure in ratios.items():
        if exact.get(name) == len(TASKS):  # one that did not solve them did something else
            figures[figure] = ours / overheads[name]
    return figures


def in_turn(names: Sequence[str], number: int) -> Sequence[str]:
    """Each is first as often as any other."""
    at = number % len(names)
    return [*names[at:], *names[:at]]


def overhead(name: str, done: Sequence[Done]) -> float:
    steps = [seconds for task in done for seconds in task.overheads]
    progress(f"{name}: {len(steps)} steps")
    return median(steps)


BENCHMARK = Benchmark(
    (
        Aim("step_overhead_ratio", "x", below=1.0),
        Aim("step_overhead_pi_ratio", "x"),
        Aim("step_overhead_ms", "ms"),
        Aim("steps_exact", "of 10", least=10),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
