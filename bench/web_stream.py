"""web_chunk_ms: from an agent's write to the frame that shows it, median, through worker, log and
daemon.

web_frame_ms_p99: the gap between two frames that a browser draws, by its own trace, while an agent
writes 1,000 chunks a second for 20 seconds, from the first text on the page to the last. A browser
draws only what changed, and text comes in about every 30 ms, as the worker merges it. So a digit
above the composer changes with every frame: a gap is a frame that came late. The gaps between
messages are printed beside it.

web_memory_growth: what the tab has (the heap of its scripts, and nodes) after 10,000 streamed
blocks, as a multiple of what it has after 3,000; the worse of the two.
"""

import asyncio
import json
import sys
import threading
from itertools import pairwise
from statistics import median
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Page

from bench.browsers import browser, clock_offset
from bench.daemons import Place, served
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.flood import wake
from bench.roost import play, roost, take_turn
from rookery.core.json import Json

SIZE = 40
CHUNKS, EVERY = 200, 0.05
RATE, SECONDS = 1000, 20
BEGIN, BLOCKS = 3_000, 10_000

WATCH = """
() => {
  window.came = {};
  const seen = () => {
    const at = performance.now();
    const text = [...document.querySelectorAll("#transcript .answer")].at(-1)?.textContent ?? "";
    for (const [, stamp, number] of text.matchAll(/(\\d{9,}) (\\d+) \\.+/g)) {
      if (!(number in window.came)) window.came[number] = [Number(stamp), at];
    }
  };
  const channel = new MessageChannel();
  channel.port1.onmessage = seen;  // after the frame
  const watched = { childList: true, subtree: true, characterData: true };
  new MutationObserver(() => channel.port2.postMessage(0))
    .observe(document.querySelector("#transcript"), watched);
}
"""
MOVE = """
() => {
  const dot = document.createElement("i");
  dot.style.cssText = "position: absolute; left: 4px; bottom: 200px";
  document.querySelector("#talk").append(dot);
  let at = 0;
  const step = () => { dot.textContent = at = (at + 1) % 10; requestAnimationFrame(step); };
  step();
}
"""
SHOWN = """
(words) => [...document.querySelectorAll("#transcript .answer")].at(-1).textContent.includes(words)
"""


class Turn(threading.Thread):
    """A turn of a session, in a thread with a loop of its own: the browser has this one's."""

    def __init__(self, place: Place, session: str, *steps: Json) -> None:
        super().__init__(daemon=True)
        self._place, self._session, self._steps = place, session, steps
        self.start()

    def run(self) -> None:
        async def turn() -> None:
            with self._place.roost.client(self._session) as client:
                await take_turn(client, play(*self._steps))

        asyncio.run(turn())


def opened(place: Place, context: BrowserContext) -> tuple[str, Page]:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(wake(place.roost))))
    thread.start()
    thread.join()
    page = context.new_page()
    page.goto(f"{place.address}/sessions/{found[0]}")
    page.wait_for_selector("#transcript .block")
    return found[0], page


def chunk_ms(place: Place, context: BrowserContext) -> float:
    session, page = opened(place, context)
    page.evaluate(WATCH)
    offset = clock_offset(page)
    Turn(place, session, {"flood": CHUNKS, "size": SIZE, "every": EVERY, "stamp": True}).join()
    page.wait_for_function(f"() => Object.keys(window.came).length === {CHUNKS}")
    came = page.evaluate("() => Object.values(window.came)")
    page.close()
    delays = [shown + offset - stamp / 1e6 for stamp, shown in came]
    progress(f"web_stream: chunks after {min(delays):.0f} to {max(delays):.0f} ms")
    return median(delays)


def frame_ms_p99(place: Place, context: BrowserContext) -> float:
    session, page = opened(place, context)
    page.evaluate(MOVE)
    tracing = context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    done: list[bool] = []
    tracing.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    tracing.on("Tracing.tracingComplete", lambda _data: done.append(True))
    categories = (
        "devtools.timeline,disabled-by-default-devtools.timeline.frame,devtools.timeline.frame"
    )
    chunks = RATE * SECONDS
    turn = Turn(place, session, {"flood": chunks, "size": 20, "rate": RATE})
    page.wait_for_selector(".tail")
    tracing.send("Tracing.start", {"transferMode": "ReportEvents", "categories": categories})
    page.wait_for_function(SHOWN, arg=f"{chunks - 1} .", polling=100)
    tracing.send("Tracing.end")
    while not done:
        page.wait_for_timeout(50)
    turn.join()
    page.close()
    heard = _gaps(events, "WebSocketReceive")
    gaps = _gaps(events, "DrawFrame")
    if len(gaps) < 100 or sum(gaps) < SECONDS * 900:
        raise RuntimeError(f"the trace has {len(gaps)} frames in {sum(gaps) / 1e3:.1f} s")
    progress(
        f"web_stream: {len(gaps)} frames in {sum(gaps) / 1e3:.1f} s, median {median(gaps):.1f} ms, "
        f"longest {gaps[-1]:.0f} ms; {len(heard)} messages, median {median(heard):.1f} ms"
    )
    return gaps[int(len(gaps) * 0.99)]


def _gaps(events: list[dict[str, Any]], name: str) -> list[float]:
    """Milliseconds between events of a name, the shortest first."""
    found = sorted(each["ts"] / 1e3 for each in events if each["name"] == name)
    return sorted(after - before for before, after in pairwise(found))


def memory_growth(place: Place, context: BrowserContext) -> float:
    session, page = opened(place, context)
    link = context.new_cdp_session(page)
    figures: list[dict[str, float]] = []
    for count in (BEGIN, BLOCKS - BEGIN):
        tool = {"tool": "make all", "kind": "execute", "status": "completed"}
        turn = Turn(
            place,
            session,
            {"repeat": count // 2, "steps": [{"text": "Some words."}, tool]},
            {"text": f"After {count}."},
        )
        while turn.is_alive():
            page.wait_for_timeout(200)
        page.locator("#transcript .answer").get_by_text(f"After {count}.").wait_for()
        figures.append(_figures(link))
    page.close()
    progress(f"web_stream: {json.dumps(figures)}")
    before, after = figures
    return max(after[key] / before[key] for key in before)


def _figures(link: CDPSession) -> dict[str, float]:
    link.send("Performance.enable")
    for _ in range(3):
        link.send("HeapProfiler.collectGarbage")
    found = link.send("Performance.getMetrics")["metrics"]
    return {
        each["name"]: each["value"] for each in found if each["name"] in ("Nodes", "JSHeapUsedSize")
    }


def measure() -> dict[str, float]:
    with roost() as place, served(place) as there, browser(there) as context:
        return {
            "web_chunk_ms": chunk_ms(there, context),
            "web_frame_ms_p99": frame_ms_p99(there, context),
            "web_memory_growth": memory_growth(there, context),
        }


BENCHMARK = Benchmark(
    (
        Aim("web_chunk_ms", "ms", below=60),
        Aim("web_frame_ms_p99", "ms", below=50),
        Aim("web_memory_growth", "x", below=1.25),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
