"""initialize_speedup, first_turn_warm_speedup, first_turn_cold_speedup: how long a person waits for
our own agent, against the OpenHands CLI as an ACP agent, in the same run; first_turn_crow_speedup:
cold, against Crow.

Cold: no warm process is used. A first turn is two calls of the model and one command, from the
spawn to the answer of the prompt, with a permission that is granted at once.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from statistics import median

from bench import crow
from bench.agents import Agent, Json, Stage, command, stage
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.warmth import warm

RUNS = 5

type Opened = Callable[[], AbstractContextManager[Agent]]


def initialize_seconds(opened: Opened) -> float:
    with opened() as agent:
        told = agent.ask("initialize", protocolVersion=1, clientCapabilities={})
        return told.at - agent.began


def first_turn_seconds(opened: Opened, servers: Sequence[Json] = ()) -> float:
    with opened() as agent:
        session = agent.open(servers)
        call = command("echo from-the-command")
        if servers:  # Crow's terminal takes nothing else
            del call["calls"][0]["arguments"]["security_risk"]
        told = agent.prompt(session, call, {"text": "Done."})
        if told.message["result"]["stopReason"] != "end_turn":
            raise ValueError(f"the turn ended with {told.message}")
        if not any("from-the-command" in str(each.message) for each in agent.told):
            raise ValueError("the command did not run")
        return told.at - agent.began


def measure() -> dict[str, float]:
    with stage() as made:
        made.set_up_peer()
        made.set_up_crow()
        made.set_up_ours(warm=False)
        _once(made)
        cold = [
            (
                initialize_seconds(made.ours),
                initialize_seconds(made.peer),
                first_turn_seconds(made.ours),
                first_turn_seconds(made.peer),
                first_turn_seconds(made.crow, crow.servers()),
            )
            for _ in range(RUNS)
        ]
        ours_init, peer_init, ours_cold, peer_turn, crow_turn = (
            median(column) for column in zip(*cold, strict=True)
        )
        made.set_up_ours(warm=True)
        with warm(made):
            ours_warm = median(first_turn_seconds(made.ours) for _ in range(RUNS))
    progress(
        f"initialize {ours_init:.3f} s, peer {peer_init:.3f} s; first turn cold {ours_cold:.2f} s, "
        f"warm {ours_warm:.3f} s, peer {peer_turn:.2f} s, Crow {crow_turn:.2f} s"
    )
    return {
        "initialize_speedup": peer_init / ours_init,
        "first_turn_warm_speedup": peer_turn / ours_warm,
        "first_turn_cold_speedup": peer_turn / ours_cold,
        "first_turn_crow_speedup": crow_turn / ours_cold,
    }


def _once(made: Stage) -> None:
    """What the first start of each reads from the disk is there afterwards."""
    first_turn_seconds(made.ours)
    first_turn_seconds(made.peer)
    first_turn_seconds(made.crow, crow.servers())


BENCHMARK = Benchmark(
    (
        Aim("initialize_speedup", "x", least=20),
        Aim("first_turn_warm_speedup", "x", least=10),
        Aim("first_turn_cold_speedup", "x", least=2.0),
        Aim("first_turn_crow_speedup", "x"),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
