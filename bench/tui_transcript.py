"""tui_transcript_ms_p99: how long the transcript's own steps take while an answer streams.

A window of 400 blocks, then 600 pieces of Markdown, each of which is taken up and painted, in a
real Textual program without a terminal. Everything that happens between two keys is in the figure:
applying the op, rendering what changed, painting all lines in sight.
"""

import asyncio
import sys
from time import perf_counter

from textual.app import App, ComposeResult

from bench.figures import Aim, Benchmark, progress, run_alone, spread
from rookery.core.blocks.document import make_block
from rookery.tui.transcript.scroll import Scroll
from rookery.tui.transcript.window import Page, Window

BLOCKS, PIECES = 400, 600

PIECE = (
    "The *third* change is in `reduce`: it keeps what it **knows** of a call.\n\n"
    "```python\ndef reduce(document, event):\n    return [*ops, *told]\n```\n\n"
    "- one\n- two, with [a link](https://example.org)\n\n"
)


def _window() -> Window:
    window = Window()
    blocks = {}
    for number in range(BLOCKS):
        role = "answer" if number % 4 == 3 else "tool"
        text = PIECE * 3 if role == "answer" else ""
        blocks[f"1.{number}"] = make_block(
            f"1.{number}", role, text=text, title="Read src/main.py", kind="edit", status="done"
        )
    window.pages = [Page(1, blocks)]
    window.apply([["put", make_block("2.1", "answer")]])
    return window


class _Stage(App[None]):
    def compose(self) -> ComposeResult:
        yield Scroll()


async def _steps() -> tuple[float, list[float]]:
    app = _Stage()
    async with app.run_test(size=(160, 50)) as pilot:
        scroll = app.query_one(Scroll)
        await pilot.pause()
        began = perf_counter()
        scroll.show(_window())
        opened = perf_counter() - began
        taken: list[float] = []
        for number in range(PIECES):
            text = PIECE[number % 7 * 20 : number % 7 * 20 + 20]
            began = perf_counter()
            scroll.window.apply([["append", "2.1", text]])
            scroll.changed()
            for y in range(scroll.size.height):
                scroll.render_line(y)
            taken.append(perf_counter() - began)
            if number % 20 == 0:
                await pilot.pause()
    return opened, taken


def measure() -> dict[str, float]:
    opened, steps = asyncio.run(_steps())
    taken = spread(steps)
    progress(
        f"tui_transcript: {BLOCKS} blocks shown in {opened * 1e3:.1f} ms; a piece takes "
        f"{taken.middle:.2f} ms, at most {taken.most:.1f} ms"
    )
    return {"tui_transcript_ms_p99": taken.p99}


BENCHMARK = Benchmark((Aim("tui_transcript_ms_p99", "ms", below=16),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
