"""tui_key_ms_p99: how long a key takes to be seen while the shown session streams 1,000 chunks a
second and another one floods terminal output.

In tmux: a letter is sent to the composer, and the screen is read until it is there. The time that
tmux itself takes for that, measured with `cat` in the place of the program, is not taken off.
"""

import asyncio
import sys
from time import perf_counter

from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import Roost, play, roost
from bench.screen import Screen
from bench.tui_paint import ROOKERY

KEYS = 200
FLOOD = {"flood": 1_000_000, "size": 40, "every": 0.001}
TERMINAL = {"command": "while :; do echo a line of output that says nothing; done"}


async def _busy(place: Roost) -> str:
    """Two sessions at work; the one that streams text."""
    sessions = [place.session(), place.session()]
    for session, step in zip(sessions, (TERMINAL, FLOOD), strict=True):
        client = place.client(session)
        try:
            await client.send({"do": "prompt", "prompt": play(step)})
        finally:
            client.close()
    return sessions[1]


def _echoes(screen: Screen, where: str, count: int = KEYS) -> list[float]:
    taken = []
    line = ""
    for number in range(count):
        letter = "abcdefghijklmnopqrstuvwxyz"[number % 26]
        line = letter if len(line) > 30 else line + letter
        if len(line) == 1 and number:
            screen.press("C-u")
            screen.wait_for(where)
        began = perf_counter()
        screen.type(letter)
        until = began + 10
        while line not in screen.shown():
            if perf_counter() > until:
                raise TimeoutError(f"{line!r} did not come:\n{screen.shown()}")
        taken.append(perf_counter() - began)
    return sorted(taken)


def measure() -> dict[str, float]:
    with roost() as place:
        session = asyncio.run(_busy(place))
        still = Screen(("cat",))
        screen = Screen((*ROOKERY, "--resume", session))
        try:
            screen.wait_for("working")
            screen.wait_for("Write here")
            alone = _echoes(still, "", 30)
            taken = _echoes(screen, "Write here")
        finally:
            still.end()
            screen.end()
    progress(
        f"tui_keys: {taken[len(taken) // 2] * 1e3:.1f} ms in the middle, {taken[-1] * 1e3:.1f} ms"
        f" at most; tmux alone {alone[len(alone) // 2] * 1e3:.1f} ms"
    )
    return {"tui_key_ms_p99": taken[int(len(taken) * 0.99)] * 1e3}


BENCHMARK = Benchmark((Aim("tui_key_ms_p99", "ms", below=50),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
