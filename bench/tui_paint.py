"""tui_paint_ratio: how long until the terminal interface can be written to, against a bare Textual
program, which is the limit; tui_paint_speedup: against the OpenHands CLI.

All in tmux, one after the other, medians of runs that take turns: ready is when the screen shows
where to write.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from statistics import median

from bench import peer
from bench.bytecode import HERE
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import roost
from bench.screen import Screen

RUNS = 7
BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("bare and ready")
Bare().run()
"""
ROOKERY = (os.path.join(os.path.dirname(HERE), ".venv", "bin", "rookery"),)
PEER_READY = "Type your message"
NOBODY = "http://127.0.0.1:9/v1"
"""Where the peer's model would be: it is not asked anything."""


def _ready(
    command: tuple[str, ...], word: str, environment: Mapping[str, str] = os.environ
) -> float:
    screen = Screen(command, environment=environment)
    try:
        return screen.wait_for(word)
    finally:
        screen.end()


def measure() -> dict[str, float]:
    bare, ours, theirs = list[float](), list[float](), list[float]()
    with (
        roost(),
        tempfile.TemporaryDirectory() as home,
        tempfile.NamedTemporaryFile("w", suffix=".py") as program,
    ):
        program.write(BARE)
        program.flush()
        peer.set_up(home, NOBODY)
        for _ in range(RUNS):
            bare.append(_ready((sys.executable, program.name), "bare and ready"))
            ours.append(_ready(ROOKERY, "Write here"))
            theirs.append(_ready((peer.program(),), PEER_READY, peer.environment(home)))
    progress(
        f"tui_paint: {median(ours):.2f} s, a bare Textual program {median(bare):.2f} s, "
        f"the peer {median(theirs):.2f} s"
    )
    return {
        "tui_paint_ms": median(ours) * 1e3,
        "tui_paint_ratio": median(ours) / median(bare),
        "tui_paint_speedup": median(theirs) / median(ours),
    }


BENCHMARK = Benchmark(
    (
        Aim("tui_paint_ms", "ms"),
        Aim("tui_paint_ratio", "x", below=1.3),
        Aim("tui_paint_speedup", "x", least=12),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
