"""tui_key_ms_p99: how long a key takes to be seen while the shown session streams 1,000 chunks a
second and another one floods terminal output.

In tmux: a letter is sent to the composer, and all that the program writes is read until the letter
is there. The time that tmux itself takes for that, measured with `cat` in the place of the program,
is not taken off.
"""

import asyncio
import sys
from time import sleep

from bench.figures import Aim, Benchmark, progress, run_alone, spread
from bench.roost import Roost, play, roost
from bench.screen import Screen
from bench.tui_paint import ROOKERY

KEYS = 300
FIRST = 0x0100
"""Latin with accents: letters of one column that no agent of ours uses."""
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


def _echoes(screen: Screen, count: int) -> list[float]:
    """Letters that nothing else on the screen has, one at a time."""
    listener = screen.listen()
    taken = []
    try:
        for number in range(count):
            taken.append(listener.echo(chr(FIRST + number)))
            sleep(0.02)
    finally:
        listener.end()
    return taken


def measure() -> dict[str, float]:
    with roost() as place:
        session = asyncio.run(_busy(place))
        still = Screen(("cat",))
        screen = Screen((*ROOKERY, "--resume", session))
        try:
            screen.wait_for("running")
            alone = spread(_echoes(still, 50))
            taken = spread(_echoes(screen, KEYS))
        finally:
            still.end()
            screen.end()
    progress(
        f"tui_keys: {taken.middle:.1f} ms in the middle, {taken.most:.1f} ms at most; "
        f"tmux alone {alone.middle:.1f} ms"
    )
    return {"tui_key_ms_p99": taken.p99}


BENCHMARK = Benchmark((Aim("tui_key_ms_p99", "ms", below=50),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
