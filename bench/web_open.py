"""web_open_ratio: how long until the last block of a session of 100,000 events is painted, against
a session of 100 events made of the same turns; medians of runs that take turns.

web_weight_kb: HTML, styles, scripts and icons of the session screen together, as they are sent to a
browser, before the transcript; web_weight_raw_kb: the same without compression.
"""

import sys
from pathlib import PurePosixPath
from statistics import median
from time import sleep
from urllib.parse import urlsplit

from playwright.sync_api import Page, Response

from bench.api_open import LARGE, SETTLE, SMALL, session
from bench.browsers import browser
from bench.daemons import served
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import roost
from rookery.daemon import assets

RUNS = 15

PAINTED = """
() => new Promise((done) => {
  const last = [...document.querySelectorAll("#transcript .block")].at(-1);
  if (!last) throw new Error("nothing can be read");
  requestAnimationFrame(() => setTimeout(() => done(performance.now())));
})
"""
SHOWN = "() => document.querySelector('#transcript').outerHTML.length"


def opened(page: Page, address: str) -> float:
    """Milliseconds from the request to the frame that shows the end."""
    page.goto(address, wait_until="commit")
    page.wait_for_selector("#transcript .block", state="attached")
    return float(page.evaluate(PAINTED))


def weights(page: Page, address: str) -> tuple[float, float]:
    """Return how much is sent, and how much that is without compression, in kilobytes."""
    answers: list[Response] = []
    page.on("response", lambda response: answers.append(response))  # noqa: PLW0108 # it needs a name
    page.goto(address, wait_until="networkidle")
    ours = [each for each in answers if "/api/" not in each.url]
    transcript = page.evaluate(SHOWN)
    sent = sum(each.request.sizes()["responseBodySize"] for each in ours)
    return (sent - transcript) / 1000, (sum(map(length, ours)) - transcript) / 1000


def length(answer: Response) -> int:
    """Return an answer's length without compression. Of a document that another has replaced,
    Chromium keeps no body, but the daemon says its length."""
    name = PurePosixPath(urlsplit(answer.url).path).name
    if name in assets.files():
        return len(assets.files()[name])
    headers = answer.headers
    if "content-encoding" in headers or "content-length" not in headers:
        raise ValueError(f"{answer.url} does not say how long it is without compression")
    return int(headers["content-length"])


def measure() -> dict[str, float]:
    with roost() as place:
        small, large = session(place, SMALL), session(place, LARGE)
        with served(place) as there, browser(there) as context:
            sleep(SETTLE)
            sent, raw = weights(context.new_page(), f"{there.address}/sessions/{small}")
            page = context.new_page()
            taken: dict[str, list[float]] = {small: [], large: []}
            for _ in range(RUNS):
                for name, times in taken.items():
                    times.append(opened(page, f"{there.address}/sessions/{name}"))
    slow, quick = median(taken[large]), median(taken[small])
    progress(f"web_open: {slow:.0f} ms against {quick:.0f} ms")
    return {"web_open_ratio": slow / quick, "web_weight_kb": sent, "web_weight_raw_kb": raw}


BENCHMARK = Benchmark(
    (
        Aim("web_open_ratio", "x", below=1.5),
        Aim("web_weight_kb", "kB", below=120),
        Aim("web_weight_raw_kb", "kB"),
    ),
    measure,
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
