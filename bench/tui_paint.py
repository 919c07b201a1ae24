"""tui_paint_ratio: how long until the terminal interface can be written to, against a bare Textual
program, which is the limit; tui_paint_speedup: against the OpenHands CLI, where that is installed.

All in tmux, one after the other, medians of runs that take turns: ready is when the screen shows
where to write.
"""

import os
import shutil
import sys
import tempfile
from statistics import median

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
PEER = ("openhands",)
PEER_READY = "Type your message"


def _ready(command: tuple[str, ...], word: str) -> float:
    screen = Screen(command)
    try:
        return screen.wait_for(word)
    finally:
        screen.end()


def measure() -> dict[str, float]:
    peer = shutil.which(PEER[0])
    bare, ours, theirs = list[float](), list[float](), list[float]()
    with roost(), tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(BARE)
        program.flush()
        for _ in range(RUNS):
            bare.append(_ready((sys.executable, program.name), "bare and ready"))
            ours.append(_ready(ROOKERY, "Write here"))
        if peer:
            theirs = [_ready((peer,), PEER_READY) for _ in range(3)]
    progress(f"tui_paint: {median(ours):.2f} s, a bare Textual program {median(bare):.2f} s")
    found = {"tui_paint_ms": median(ours) * 1e3, "tui_paint_ratio": median(ours) / median(bare)}
    if theirs:
        progress(f"tui_paint: the peer {median(theirs):.2f} s")
        found["tui_paint_speedup"] = median(theirs) / median(ours)
    return found


AIMS = (Aim("tui_paint_ms", "ms"), Aim("tui_paint_ratio", "x", below=1.3))
if shutil.which(PEER[0]):
    AIMS = (*AIMS, Aim("tui_paint_speedup", "x", least=12))
BENCHMARK = Benchmark(AIMS, measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
