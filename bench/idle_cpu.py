"""idle_cpu_percent: the CPU time that fifty awake sessions take while nobody does anything, in
percent of one core.

Half of them have the player, half Rookery's own agent, each after one turn; nothing is attached,
and 2,000 other processes sleep on the machine. Counted are their workers, wardens, agents with all
below them, and the warm process, over a minute. `idle_wakeups_per_s`: how often they are scheduled
meanwhile, together.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from bench.agents import command, stage
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import PLAYER, Roost, play, take_turn
from bench.warmth import warm
from rookery.client import fleet
from rookery.client.create import create_session
from rookery.processes import tree

SESSIONS = 50
AT_ONCE = 2
SECONDS = 60.0
SETTLE = 5.0
"""Until what a turn leaves to be done later is done."""
CROWD = 2000
PATIENCE = 240.0

FORKS = """
import os, signal, sys
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        signal.pause()
print(flush=True)
signal.pause()
"""


@contextmanager
def crowd(count: int) -> Iterator[None]:
    """That many processes, all asleep."""
    argv = [sys.executable, "-I", "-S", "-c", FORKS, str(count - 1)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


class Spent(NamedTuple):
    seconds: float
    """On a processor."""
    wakeups: int


def spent(pids: list[int]) -> dict[int, Spent]:
    """Of each process, its threads together (Linux)."""
    found = {}
    for pid in pids:
        seconds, wakeups = 0.0, 0
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                ran, _, slices = file.read().split()
            seconds += int(ran) / 1e9
            wakeups += int(slices)
        found[pid] = Spent(seconds, wakeups)
    return found


async def _turn(place: Roost, session: str, own: bool, slots: asyncio.Semaphore) -> None:
    steps = [*([command("true")] if own else []), {"text": "Good morning."}]
    async with slots, asyncio.timeout(PATIENCE):
        client = place.client(session)
        try:
            await take_turn(client, play(*steps))
        finally:
            client.close()


async def _fill(place: Roost) -> list[str]:
    """Sessions of both kinds, each idle after a turn."""
    slots, sessions = asyncio.Semaphore(AT_ONCE), []
    async with asyncio.TaskGroup() as group:
        for number in range(SESSIONS):
            own = number % 2 == 1
            agent, argv = ("rookery", ()) if own else ("player", PLAYER)
            session = create_session(
                place.home, agent=agent, argv=argv, cwd=place.home, confirm="all"
            )
            sessions.append(session)
            group.create_task(_turn(place, session, own, slots))
    return sessions


@contextmanager
def _sessions() -> Iterator[list[int]]:
    """All processes of sessions that are idle; the warm process is one of them."""
    with ExitStack() as undo:
        made = undo.enter_context(stage())
        made.set_up_ours(warm=True)
        home = made.environment()["ROOKERY_HOME"]
        with open(os.path.join(home, "config.toml"), "a", encoding="utf-8") as file:
            file.write(f"[worker]\nmax_workers = {2 * SESSIONS}\n")
        before = os.environ.get("ROOKERY_HOME")
        undo.callback(_set_home, before)
        os.environ["ROOKERY_HOME"] = home
        place = Roost(home)
        undo.callback(_end, place)
        forks = undo.enter_context(warm(made))
        workers = [place.worker(session) for session in asyncio.run(_fill(place))]
        roots = [forks, *(worker["warden"] for worker in workers)]
        yield [*roots, *(row.pid for root in roots for row in tree.descendants(root))]


def _set_home(home: str | None) -> None:
    if home is None:
        del os.environ["ROOKERY_HOME"]
    else:
        os.environ["ROOKERY_HOME"] = home


def _end(place: Roost) -> None:
    with suppress(FileNotFoundError):
        for session in os.listdir(os.path.join(place.home, "sessions")):
            fleet.kill(place.home, session)


def measure() -> dict[str, float]:
    with crowd(CROWD), _sessions() as pids:
        time.sleep(SETTLE)
        before = spent(pids)
        time.sleep(SECONDS)
        after = spent(pids)
    used = {pid: after[pid].seconds - before[pid].seconds for pid in pids}
    woken = sum(after[pid].wakeups - before[pid].wakeups for pid in pids)
    progress(f"{len(pids)} processes, {woken} wakeups in {SECONDS:g} s")
    return {
        "idle_cpu_percent": 100 * sum(used.values()) / SECONDS,
        "idle_wakeups_per_s": woken / SECONDS,
    }


BENCHMARK = Benchmark(
    (Aim("idle_cpu_percent", "%", below=1), Aim("idle_wakeups_per_s", "/s")), measure
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
