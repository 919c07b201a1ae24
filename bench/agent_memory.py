"""session_memory_ratio: the private memory of one more session's agent, warm, against the peer's
process, each after a first turn. Of ours the 2nd to the 10th; the door's own is counted in.

cold_session_memory: all processes of a fresh home's first session after its first turn, the warm
one that its door started among them; what they share is counted once."""

import glob
import os
import sys
from contextlib import ExitStack
from statistics import median

from bench.agents import Agent, Stage, command, stage
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import private_mb, proportional_mb
from bench.warmth import warm
from rookery.client import warm_agent
from rookery.processes import tree

SESSIONS = 10


def take_turn(agent: Agent) -> None:
    session = agent.open()
    agent.prompt(session, command("echo hello"), {"text": "Done."})


def measure() -> dict[str, float]:
    with stage() as made:
        made.set_up_peer()
        made.set_up_ours(warm=True)
        with made.peer() as agent:
            take_turn(agent)
            theirs = private_mb(agent.pid)
        cold = cold_session_mb(made)
        with warm(made) as keeper, ExitStack() as open_ones:
            before: set[int] = set()
            ours: list[float] = []
            for _ in range(SESSIONS):
                agent = open_ones.enter_context(made.ours())
                take_turn(agent)
                forked = children(keeper)
                (new,) = forked - before
                before = forked
                ours.append(private_mb(agent.pid, new))
    progress(f"ours {ours}, peer {theirs:.0f} MB, ours cold {cold:.0f} MB with all that it shares")
    return {"session_memory_ratio": median(ours[1:]) / theirs, "cold_session_memory": cold}


def cold_session_mb(made: Stage) -> float:
    home = made.environment()["ROOKERY_HOME"]
    with made.ours() as agent:
        take_turn(agent)
        (lock,) = glob.glob(os.path.join(home, "run", "warm-*.lock"))
        with open(lock, encoding="ascii") as file:
            keeper = int(file.read())
        roots = (agent.pid, keeper)
        below = [row.pid for root in roots for row in tree.descendants(root)]
        found = proportional_mb(*roots, *below)
    warm_agent.end(home)
    tree.wait_gone([row for row in tree.table() if row.pid == keeper], 10.0)
    return found


def children(pid: int) -> set[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return {int(word) for word in file.read().split() if os.path.exists(f"/proc/{word}")}


BENCHMARK = Benchmark(
    (Aim("session_memory_ratio", "x", below=0.2), Aim("cold_session_memory", "MB", below=260)),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
