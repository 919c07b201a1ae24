"""web_markdown_ratio: how long until a session is painted whose answer is 300 KB of markup and
nothing else, against 300 KB of prose: the slowest of eight shapes; medians of runs that take turns.
"""

import sys
from statistics import median
from time import sleep

from bench.api_open import SETTLE
from bench.browsers import browser
from bench.daemons import served
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import Roost, roost
from bench.web_open import opened
from rookery.client.create import create_session
from rookery.core.json import Draft
from rookery.home import paths
from rookery.log.store import Writer

SIZE = 300_000
RUNS = 5
PROSE = (
    "The quick brown fox jumps over the lazy dog, and then it **rests** for a while in `the shade` "
    "of a tree, as foxes do when the day is long.\n\n"
)
SHAPES = {
    "images": "![",
    "links": "[a](",
    "emphasis": "*a _b ",
    "backticks": "`a``b",
    "lists": "- a\n",
    "quotes": "> a\n",
    "tables": "|a|b|\n|-|-|\n",
    "html": "<b>",
    "definitions": "[a]: /b\n",
}


def session(place: Roost, text: str) -> str:
    name = create_session(place.home, agent="demo", argv=[], cwd="/")
    prompt = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Go on"}}
    answer = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    with Writer.open(paths.session_dir(place.home, name)) as log:
        log.append([Draft(prompt), Draft(answer)])
    return name


def measure() -> dict[str, float]:
    texts = {"prose": PROSE, **SHAPES}
    with roost() as place:
        made = {
            name: session(place, (text * (SIZE // len(text) + 1))[:SIZE])
            for name, text in texts.items()
        }
        with served(place) as there, browser(there) as context:
            sleep(SETTLE)
            page = context.new_page()
            taken: dict[str, list[float]] = {name: [] for name in made}
            for _ in range(RUNS):
                for name, times in taken.items():
                    times.append(opened(page, f"{there.address}/sessions/{made[name]}"))
    medians = {name: median(times) for name, times in taken.items()}
    progress(", ".join(f"{name} {taken:.0f} ms" for name, taken in medians.items()))
    return {"web_markdown_ratio": max(medians[name] for name in SHAPES) / medians["prose"]}


BENCHMARK = Benchmark((Aim("web_markdown_ratio", "x", below=3),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
