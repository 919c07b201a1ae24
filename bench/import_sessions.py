"""import_ratio, import_cpu_ms, import_first_rows_ratio: 1,000 sessions of an agent, in pages of 50,
become sessions here.

The agent lists a page in PAGE seconds, as one that opens a file for each session does. The ratio is
the time until `rookery import` is done, against a client that only asks for all pages; both start
the agent. The CPU is that of `rookery import` and the agent, less what both need for an empty list.
First rows: the time to the first id on stdout, against the same client's
first page.
"""

import json
import os
import resource
import subprocess
import sys
from time import perf_counter
from typing import NamedTuple

from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import roost

SESSIONS, PER_PAGE = 1000, 50
PAGE = 0.2
TRIES = 3

AGENT = """
import json, sys, time
total, per, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
able = {"loadSession": True, "sessionCapabilities": {"list": {}}}
for line in sys.stdin:
    asked = json.loads(line)
    result = {"protocolVersion": 1, "agentCapabilities": able}
    if asked["method"] == "session/list":
        time.sleep(pause)
        at = int(asked["params"].get("cursor", 0))
        rows = [{"sessionId": f"s{n}", "cwd": "/tmp", "title": f"Session {n}"}
                for n in range(at, min(total, at + per))]
        result = {"sessions": rows} | ({"nextCursor": str(at + per)} if at + per < total else {})
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


class Times(NamedTuple):
    first: float
    """Seconds to the first page, or to its rows."""
    whole: float
    cpu: float = 0.0


def listed(argv: list[str]) -> Times:
    """What the agent itself takes, from its start to the last page."""
    began, first, cursor = perf_counter(), 0.0, ""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        for number in range(SESSIONS):
            method = "session/list" if number else "initialize"
            params = {"cursor": cursor} if cursor else {}
            asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            agent.stdin.write(json.dumps(asked).encode() + b"\n")
            agent.stdin.flush()
            cursor = json.loads(agent.stdout.readline())["result"].get("nextCursor", "")
            first = first or (perf_counter() - began if number else 0.0)
            if number and not cursor:
                break
        whole = perf_counter() - began
        agent.stdin.close()
    return Times(first, whole)


def imported(home: str, argv: list[str], sessions: int) -> Times:
    with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
        file.write(f"[agents.lister]\ncommand = {json.dumps(argv)}\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = perf_counter()
    words = [sys.executable, "-P", "-m", "rookery", "import", "--agent", "lister", "--all"]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"ROOKERY_HOME": home},
    ) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline()]
        first = perf_counter() - began
        lines += child.stdout.readlines()
    whole = perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if len([line for line in lines if line.strip()]) != sessions:
        raise ValueError(f"{len(lines)} of {sessions} sessions were imported")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Times(first, whole, cpu)


def measure() -> dict[str, float]:
    def agent(sessions: int, pause: float) -> list[str]:
        return [sys.executable, "-c", AGENT, str(sessions), str(PER_PAGE), str(pause)]

    ratios, firsts, cpus = [], [], []
    for _ in range(TRIES):
        argv = agent(SESSIONS, PAGE)
        alone = listed(argv)
        with roost() as place:
            nothing = imported(place.home, agent(0, 0), 0)
        with roost() as place:
            ours = imported(place.home, argv, SESSIONS)
        ratios.append(ours.whole / alone.whole)
        firsts.append(ours.first / alone.first)
        cpus.append((ours.cpu - nothing.cpu) / SESSIONS * 1e3)
        progress(f"import: {ours.whole:.2f} s, the agent alone {alone.whole:.2f} s")
    return {
        "import_ratio": min(ratios),
        "import_first_rows_ratio": min(firsts),
        "import_cpu_ms": min(cpus),
    }


BENCHMARK = Benchmark(
    (
        Aim("import_ratio", "x", below=1.2),
        Aim("import_first_rows_ratio", "x"),
        Aim("import_cpu_ms", "ms", below=5),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
