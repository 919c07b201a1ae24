"""sandbox_first_turn_ratio: a first turn of our own agent in a sandbox against one outside, both
with a warm process: from the start of `rookery run` to its end, with one command. They take turns;
the ratio of their medians.
"""

import json
import os
import subprocess
import sys
from statistics import median
from time import monotonic

from bench.agents import ROOKERY, Stage, command, stage
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.warmth import warm
from rookery.client import fleet
from rookery.core.settings.sandbox import BWRAP, NONE
from rookery.home import paths

RUNS = 7
WORD = "from-the-command"


def turn_seconds(made: Stage, kind: str) -> float:
    prompt = json.dumps({"play": [command(f"echo {WORD}"), {"text": "Done."}]})
    argv = (*ROOKERY, "run", "--agent", "rookery", "--verbose", "--sandbox", kind, prompt)
    began = monotonic()
    ran = subprocess.run(
        argv, env=made.environment(), cwd=made.place, capture_output=True, text=True, check=True
    )
    taken = monotonic() - began
    if WORD not in ran.stdout:
        raise ValueError(f"the command did not run: {ran.stdout} {ran.stderr}")
    return taken


def measure() -> dict[str, float]:
    with stage() as made:
        made.place = os.path.join(made.place, "work")
        made.set_up_ours(warm=True)
        home = made.environment()["ROOKERY_HOME"]
        try:
            with warm(made):
                for kind in (NONE, BWRAP):  # what a first start reads from the disk is there after
                    turn_seconds(made, kind)
                taken = [[turn_seconds(made, kind) for kind in (NONE, BWRAP)] for _ in range(RUNS)]
        finally:
            for session in paths.session_ids(home):
                fleet.kill(home, session)
    outside, inside = (median(column) for column in zip(*taken, strict=True))
    load = os.getloadavg()[0]
    progress(f"a first turn {inside:.2f} s in a sandbox, {outside:.2f} s outside; load {load:.1f}")
    return {"sandbox_first_turn_ratio": inside / outside}


BENCHMARK = Benchmark((Aim("sandbox_first_turn_ratio", "x", below=2.0),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
