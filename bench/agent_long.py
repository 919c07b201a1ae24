"""What a long conversation costs.

long_session_ratio: what a prompt costs beside the model's own time, in a session with 2,000 events
against a fresh one, with the condenser as it comes. Medians over the same number of prompts; the
long session is grown by turns of many small commands first.

In a session of 400 calls with long outputs, whose window they fill many times:
long_step_ratio: a step in its last quarter against one in its first; those that condense are left
out, being the model's time.
long_condensed_at: of the tokens at which it is to be condensed, the smallest share at which it was;
long_condensations: how often. By events it would be every 40 calls, whatever they print.
long_cache_kept: of the requests between two condensations, how many begin with the whole one before
them, so that a provider's cache has it.

The model answers at once, so that all time is overhead.
"""

import itertools
import json
import os
import sys
from collections.abc import Sequence
from statistics import median
from time import monotonic

from bench.agents import Agent, Json, Stage, command, stage
from bench.figures import Aim, Benchmark, progress, run_alone
from rookery.agent.scripted.server import Asked, ScriptedModel, serving

EVENTS = 2000
PER_PROMPT = 10
PROMPTS = 15
PARTS = 10
CALLS = 400
WINDOW = 60_000
SHARE = 0.75
"""Of the window: the condenser's own."""
PER_LETTER = 0.2
"""Tokens, to which the condenser comes with a model that reports few."""
OUTPUT = 4_000


def prompt_seconds(agent: Agent, session: str, model: ScriptedModel) -> float:
    """Without those that the model takes to read the request and to answer it."""
    began = monotonic()
    told = agent.prompt(session, {"text": "Yes."})
    asked = model.asked[-1]
    assert asked.done is not None
    return told.at - began - (asked.done - asked.begun) / 1e9


def grow(agent: Agent, session: str, calls: int, line: str) -> list[float]:
    """When each command was done. No two of a prompt are equal: the SDK stops one that repeats
    itself. Few commands a prompt: when the condenser takes answers away, the
    scripted model begins its prompt again."""
    steps = [command(line.format(number)) for number in range(PER_PROMPT)]
    done: list[float] = []
    while len(done) < calls:
        agent.told.clear()
        agent.prompt(session, *steps, {"text": "Done."})
        done += [each.at for each in agent.told if _is_result(each.message)]
    progress(f"{2 * len(done)} events")
    return done


def _is_result(message: Json) -> bool:
    update = message.get("params", {}).get("update", {})
    return bool(update.get("status") == "completed")


def another(agent: Agent) -> str:
    made = agent.ask("session/new", cwd=agent.cwd, mcpServers=[])
    return str(made.message["result"]["sessionId"])


def measure() -> dict[str, float]:
    with stage() as made:
        with serving({"turns": []}) as model:
            made.url = model.url
            made.set_up_ours(warm=False)
            with made.ours() as agent:
                fresh = agent.open()
                prompt_seconds(agent, fresh, model)
                long = another(agent)
                for _ in range(PARTS):
                    grow(agent, long, EVENTS // 2 // PARTS, "echo {}")
                    model.asked.clear()  # each has the whole conversation
                pairs = [
                    (prompt_seconds(agent, fresh, model), prompt_seconds(agent, long, model))
                    for _ in range(PROMPTS)
                ]
        short, after = (median(column) for column in zip(*pairs, strict=True))
        progress(f"fresh {short * 1e3:.0f} ms, long {after * 1e3:.0f} ms")
        return {"long_session_ratio": after / short} | measure_calls(made)


def measure_calls(made: Stage) -> dict[str, float]:
    aside = {"text": "A summary of what was done so far."}
    with serving({"turns": [], "aside": aside}) as model:
        limit_window(made, model.url)
        with made.ours() as agent:
            session = agent.open()
            done = grow(agent, session, CALLS, f"printf '%{OUTPUT}s' {{}}")
        asked = list(model.asked)
    summaries = [place for place, each in enumerate(asked) if not each.body.get("tools")]
    spans = [after - before for before, after in itertools.pairwise(done)]
    quarter = len(spans) // 4
    first, last = median(spans[:quarter]), median(spans[-quarter:])
    progress(f"a step {first * 1e3:.0f} ms, then {last * 1e3:.0f} ms")
    limit = WINDOW * SHARE / PER_LETTER
    sizes = [letters(asked[place - 1]) / limit for place in summaries if place]
    return {
        "long_step_ratio": last / first,
        "long_condensations": float(len(summaries)),
        "long_condensed_at": min(sizes, default=0.0),
        "long_cache_kept": cache_kept(asked),
    }


def limit_window(made: Stage, url: str) -> None:
    path = os.path.join(made.environment()["ROOKERY_HOME"], "agent_settings.json")
    with open(path, encoding="utf-8") as file:
        settings = json.load(file)
    settings["profiles"]["bench"] |= {"base_url": url, "max_input_tokens": WINDOW}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(settings, file)


def letters(asked: Asked) -> int:
    return len(json.dumps([asked.body["messages"], asked.body.get("tools")]))


def cache_kept(asked: Sequence[Asked]) -> float:
    pairs = [
        (before.body, after.body)
        for before, after in itertools.pairwise(asked)
        if before.body.get("tools") and after.body.get("tools")
    ]
    kept = [
        before["tools"] == after["tools"]
        and after["messages"][: len(before["messages"])] == before["messages"]
        for before, after in pairs
    ]
    return sum(kept) / len(kept)


AIMS = (
    Aim("long_session_ratio", "x", below=1.5),
    Aim("long_step_ratio", "x", below=1.5),
    Aim("long_condensations", "times"),
    Aim("long_condensed_at", "of the limit", least=0.9),
    Aim("long_cache_kept", "of requests", least=1.0),
)
BENCHMARK = Benchmark(AIMS, measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
