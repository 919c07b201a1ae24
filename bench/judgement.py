"""judgement_ratio: what it costs that each action of our own agent is judged before it runs: a turn
of 20 commands under a worker, in a mode that allows them, with 50 rules that do not; against the
same with the question left out (`unjudged.py`).

The model answers at once, so that a turn's time is all overhead. The two take turns; the median of
their pairs. Each turn begins with a clear: a long conversation would cost more than it measures.
"""

import asyncio
import os
import subprocess
import sys
from statistics import median
from time import monotonic

from bench.agents import ROOKERY, Json, Stage, command, stage
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import Roost, play, roost, take_turn
from rookery.client.create import create_session
from rookery.client.session import SessionClient

CALLS = 20
RULES = 50
PAIRS = 30
UNJUDGED = (sys.executable, "-P", os.path.join(os.path.dirname(__file__), "unjudged.py"))

RULE = """
[[policy.rules]]
name = "rule-{n}"
do = "{do}"
agent = "rookery"
kind = ["execute", "edit"]
command = ["tool-{n} *", "git sub-{n}*", "*/bin/tool-{n}"]
"""


def set_up(made: Roost, scene: Stage) -> str:
    """A model and rules in the home; where the sessions work."""
    config = os.path.join(made.home, "config.toml")
    rules = (RULE.format(n=n, do=("allow", "ask", "deny")[n % 3]) for n in range(RULES))
    with open(config, "a", encoding="utf-8") as file:
        file.write("[agent]\nwarm = false\n" + "".join(rules))
    setup = (*ROOKERY, "setup", "--name", "bench", "--model", "openai/scripted")
    rest = ("--key", "none", "--base-url", scene.url, "--no-test")
    subprocess.run((*setup, *rest), check=True, capture_output=True)
    work = os.path.join(scene.place, "work")
    os.makedirs(work, exist_ok=True)
    return work


async def seconds(client: SessionClient, steps: list[Json]) -> float:
    cleared = await take_turn(client, [{"type": "text", "text": "/clear"}])
    began = monotonic()
    ended = await take_turn(client, play(*steps, {"text": "Done."}))
    taken = monotonic() - began
    events = client.log.read(cleared.seq, 10_000, ended.seq)
    done = sum(event.update.get("status") == "completed" for event in events)
    if done != len(steps):
        raise RuntimeError(f"{done} of {len(steps)} commands ran")
    return taken


async def pairs(clients: list[SessionClient]) -> list[tuple[float, float]]:
    # Each with an argument of its own: the agent stops where it seems to repeat itself.
    steps = [command(f"true {number}") for number in range(CALLS)]
    for client in clients:
        await seconds(client, steps)
    found = []
    for number in range(PAIRS):
        taken = {}
        for place in (0, 1) if number % 2 else (1, 0):
            taken[place] = await seconds(clients[place], steps)
        found.append((taken[0], taken[1]))
    return found


def measure() -> dict[str, float]:
    with stage() as scene, roost() as made:
        work = set_up(made, scene)
        names = [
            create_session(made.home, agent="rookery", argv=argv, cwd=work, confirm="all")
            for argv in ((*ROOKERY, "agent"), UNJUDGED)
        ]
        clients = [made.client(name) for name in names]
        try:
            found = asyncio.run(pairs(clients))
        finally:
            for client in clients:
                client.close()
    judged, unjudged = (median(column) for column in zip(*found, strict=True))
    progress(f"{CALLS} calls: judged {judged * 1e3:.0f} ms, unjudged {unjudged * 1e3:.0f} ms")
    return {"judgement_ratio": median(one / other for one, other in found)}


BENCHMARK = Benchmark((Aim("judgement_ratio", "x", below=1.03),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
