"""long_session_ratio: what a prompt costs beside the model's own time, in a session with 2,000
events against a fresh one, with the condenser as it comes.

The model answers at once, so that a prompt's time is all overhead. Medians over the same number of
prompts; the long session is grown by turns of many small commands first.
"""

import sys
from statistics import median
from time import monotonic

from bench.agents import Agent, Json, command, stage
from bench.figures import Aim, Benchmark, progress, run_alone

EVENTS = 2000
PER_PROMPT = 10
PROMPTS = 15


def prompt_seconds(agent: Agent, session: str) -> float:
    began = monotonic()
    told = agent.prompt(session, {"text": "Yes."})
    return told.at - began


def grow(agent: Agent, session: str) -> None:
    """Each command is two events: the call and its result. Few commands a prompt: when the
    condenser takes answers away, the scripted model begins its prompt again."""
    steps = [command(f"echo {number}") for number in range(PER_PROMPT)]
    done = 0
    while done < EVENTS // 2:
        agent.told.clear()
        agent.prompt(session, *steps, {"text": "Done."})
        done += sum(_is_result(each.message) for each in agent.told)
    progress(f"{2 * done} events")


def _is_result(message: Json) -> bool:
    update = message.get("params", {}).get("update", {})
    return bool(update.get("status") == "completed")


def measure() -> dict[str, float]:
    with stage() as made:
        made.set_up_ours(warm=False)
        with made.ours() as agent:
            fresh, long = agent.open(), ""
            prompt_seconds(agent, fresh)
            long = str(
                agent.ask("session/new", cwd=agent.cwd, mcpServers=[]).message["result"][
                    "sessionId"
                ]
            )
            grow(agent, long)
            pairs = [
                (prompt_seconds(agent, fresh), prompt_seconds(agent, long)) for _ in range(PROMPTS)
            ]
    short, after = (median(column) for column in zip(*pairs, strict=True))
    progress(f"fresh {short * 1e3:.0f} ms, long {after * 1e3:.0f} ms")
    return {"long_session_ratio": after / short}


BENCHMARK = Benchmark((Aim("long_session_ratio", "x", below=1.5),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
