"""sandbox_start_ms: what a sandbox adds to the start of an agent, from its spawn to the answer to
`initialize`, in milliseconds.

The agent is the demo, with bwrap and without: medians of runs that take turns.
"""

import json
import os
import subprocess
import sys
import tempfile
from statistics import median
from time import perf_counter

from bench.figures import Aim, Benchmark, progress, run_alone
from rookery.core.settings.sandbox import BWRAP, NETWORKS
from rookery.sandbox.kinds import prepare
from rookery.sandbox.plan import Place, Sandbox, Wish

RUNS = 25
AGENT = (sys.executable, "-P", "-m", "rookery", "play", "demo")
INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {}}
ASKED = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})


def start_seconds(sandbox: Sandbox, cwd: str) -> float:
    began = perf_counter()
    spawn = sandbox.spawn(AGENT, os.environ, cwd)
    with subprocess.Popen(
        spawn.argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=spawn.cwd,
        env=spawn.environment,
        pass_fds=spawn.pass_fds,
        preexec_fn=spawn.entry,  # noqa: PLW1509 - as the worker does, and nothing else runs here
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(f"{ASKED}\n".encode())
        agent.stdin.flush()
        answer = agent.stdout.readline()
        taken = perf_counter() - began
        agent.stdin.close()
    if json.loads(answer)["result"]["protocolVersion"] != 1:
        raise ValueError(f"initialize was answered with {answer!r}")
    return taken


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="rkb-") as folder:
        cwd, scratch = os.path.join(folder, "work"), os.path.join(folder, "scratch")
        os.mkdir(cwd)
        os.mkdir(scratch)
        place = Place([cwd], os.path.expanduser("~"), [], scratch, programs=[sys.executable])
        caged, free = prepare(Wish(BWRAP, NETWORKS[0]), place), Sandbox(Wish(), place)
        for sandbox in (caged, free):  # what a first start reads from the disk is there afterwards
            start_seconds(sandbox, cwd)
        taken = [(start_seconds(caged, cwd), start_seconds(free, cwd)) for _ in range(RUNS)]
        caged.close()
    inside, outside = (median(column) * 1e3 for column in zip(*taken, strict=True))
    progress(f"initialize answered after {inside:.1f} ms with bwrap, {outside:.1f} ms without")
    return {"sandbox_start_ms": inside - outside}


BENCHMARK = Benchmark((Aim("sandbox_start_ms", "ms", below=50),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
