"""first_token_ms: from the model's first piece leaving its server to the client of the agent,
warm. The median; both clocks are the machine's own."""

import json
import sys
import urllib.request
from statistics import median

from bench.agents import stage
from bench.figures import Aim, Benchmark, run_alone
from bench.warmth import warm

RUNS = 15


def measure() -> dict[str, float]:
    delays = []
    with stage() as made:
        made.set_up_ours(warm=True)
        with warm(made):
            for _ in range(RUNS):
                with made.ours() as agent:
                    session = agent.open()
                    begun = agent.begin(session, {"text": "First of all.", "delay": 0.05})
                    first = agent.until("agent_message_chunk").at
                    agent.answer(begun)
                delays.append(first - _sent(made.url))
    return {"first_token_ms": median(delays) * 1e3}


def _sent(url: str) -> float:
    """When the first piece of the latest prompt's answer left."""
    place = url.removesuffix("/v1") + "/requests"
    with urllib.request.urlopen(place) as answer:  # noqa: S310 - loopback
        asked = json.load(answer)
    prompts = [each for each in asked if "First of all." in json.dumps(each["body"])]
    return float(prompts[-1]["sent"]) / 1e9


BENCHMARK = Benchmark((Aim("first_token_ms", "ms", below=50),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
