"""bridge_initialize_ratio: from starting `rookery acp` to its answer to `initialize`, in starts of
an empty Python.

An editor waits for this before it shows anything. Medians of runs that take turns.
"""

import json
import os
import subprocess
import sys
from statistics import median
from time import perf_counter

from bench.figures import Aim, Benchmark, run_alone
from bench.version import EMPTY, seconds

RUNS = 25
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


def answer_seconds() -> float:
    """From the spawn to the line that answers."""
    script = os.path.join(os.path.dirname(sys.executable), "rookery")
    began = perf_counter()
    with subprocess.Popen(
        (script, "acp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        taken = perf_counter() - began
        process.stdin.close()
    if json.loads(line)["result"]["protocolVersion"] != 1:
        raise ValueError(f"initialize was answered with {line!r}")
    return taken


def measure() -> dict[str, float]:
    answer_seconds()
    taken = [(answer_seconds(), seconds(EMPTY)) for _ in range(RUNS)]
    ours, empty = zip(*taken, strict=True)
    return {"bridge_initialize_ratio": median(ours) / median(empty)}


BENCHMARK = Benchmark((Aim("bridge_initialize_ratio", "x", below=8),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
