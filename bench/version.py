"""version_ratio: how long `rookery --version` takes, in starts of an empty Python.

The console script of the environment against `python -c pass` of the same interpreter; medians of
runs that take turns, so that whatever else the machine does weighs on both.
"""

import os
import subprocess
import sys
from statistics import median
from time import perf_counter

import rookery
from bench.figures import Aim, Benchmark, run_alone

RUNS = 25
EMPTY = (sys.executable, "-c", "pass")


def seconds(argv: tuple[str, ...]) -> float:
    """How long a program runs, from its start to its end."""
    began = perf_counter()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return perf_counter() - began


def measure() -> dict[str, float]:
    script = os.path.join(os.path.dirname(sys.executable), "rookery")
    asked = (script, "--version")
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    if said != f"rookery {rookery.__version__}\n":
        raise ValueError(f"{script} says {said!r}")
    taken = [(seconds(asked), seconds(EMPTY)) for _ in range(RUNS)]
    ours, empty = zip(*taken, strict=True)
    return {"version_ratio": median(ours) / median(empty)}


BENCHMARK = Benchmark((Aim("version_ratio", "x", below=5),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
