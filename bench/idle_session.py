"""What a session costs that has done a turn and waits: all of its processes, with what is kept for
all of them counted once.

`idle_session_player_mb`: worker, warden and an agent that is as small as one can be (the player).
`idle_session_own_mb`: the same with Rookery's own agent: worker, warden, the door, the agent that
was forked from the warm process, its shell. Private memory, medians over some sessions.
`warm_process_mb`: the warm process, once for all of them, before it has any agent.
"""

import asyncio
import os
import sys
from statistics import median

from bench.agents import Stage, command, stage
from bench.figures import Aim, Benchmark, run_alone
from bench.roost import Roost, play, private_mb, roost, take_turn
from bench.warmth import warm
from rookery.client import fleet
from rookery.client.create import create_session
from rookery.core.json.events import Json
from rookery.processes import tree

SESSIONS = 5
PATIENCE = 120.0


async def _waits(place: Roost, session: str, prompt: list[Json]) -> Json:
    """A session after its first turn; its worker.json."""
    client = place.client(session)
    try:
        async with asyncio.timeout(PATIENCE):
            await take_turn(client, prompt)
    finally:
        client.close()
    return place.worker(session)


def _below(*pids: int) -> list[int]:
    return [*pids, *(row.pid for pid in pids for row in tree.descendants(pid))]


def players_mb() -> float:
    with roost() as place:
        found = []
        for _ in range(SESSIONS):
            asyncio.run(_waits(place, session := place.session(), play({"text": "Good morning."})))
            found.append(private_mb(*_below(place.worker(session)["warden"])))
    return median(found)


def own_mb(made: Stage) -> tuple[float, float]:
    """A session's, and the warm process's."""
    made.set_up_ours(warm=True)
    environment = made.environment()
    before = {name: os.environ.get(name) for name in ("ROOKERY_HOME",)}
    os.environ["ROOKERY_HOME"] = home = environment["ROOKERY_HOME"]
    place = Roost(home)
    try:
        with warm(made) as process:
            alone = private_mb(process)
            found = []
            for _ in range(SESSIONS):
                known = set(_below(process))
                session = create_session(home, agent="rookery", argv=[], cwd=home, confirm="all")
                prompt = play(command("true"), {"text": "Good morning."})
                worker = asyncio.run(_waits(place, session, prompt))
                forked = [pid for pid in _below(process) if pid not in known]
                found.append(private_mb(*_below(worker["warden"]), *forked))
            return median(found), alone
    finally:
        for session in os.listdir(os.path.join(home, "sessions")):
            fleet.kill(home, session)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def measure() -> dict[str, float]:
    with stage() as made:
        own, warm_one = own_mb(made)
    return {
        "idle_session_player_mb": players_mb(),
        "idle_session_own_mb": own,
        "warm_process_mb": warm_one,
    }


BENCHMARK = Benchmark(
    (
        Aim("idle_session_player_mb", "MB"),
        Aim("idle_session_own_mb", "MB"),
        Aim("warm_process_mb", "MB"),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
