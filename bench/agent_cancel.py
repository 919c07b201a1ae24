"""cancel_tool_s, cancel_llm_s: from `session/cancel` to the prompt's answer `cancelled`, while a
`sleep 60` runs and while the model's stream is slow. Medians."""

import sys
from statistics import median
from time import monotonic

from bench.agents import Agent, command, stage
from bench.figures import Aim, Benchmark, run_alone

RUNS = 7
SLOW = {"text": "word " * 600, "every": 0.1}


def tool_seconds(agent: Agent, session: str) -> float:
    begun = agent.begin(session, command("echo beg$((1))n; sleep 60"), {"text": "Never."})
    agent.until("tool_call_update", "beg1n")  # the output, not the command
    return _cancelled(agent, session, begun)


def stream_seconds(agent: Agent, session: str) -> float:
    begun = agent.begin(session, SLOW)
    agent.until("agent_message_chunk", "word")
    return _cancelled(agent, session, begun)


def _cancelled(agent: Agent, session: str, begun: int) -> float:
    at = monotonic()
    agent.notify("session/cancel", sessionId=session)
    told = agent.answer(begun)
    if told.message["result"]["stopReason"] != "cancelled":
        raise ValueError(f"the prompt was answered with {told.message}")
    return told.at - at


def measure() -> dict[str, float]:
    with stage() as made:
        made.set_up_ours(warm=False)
        with made.ours() as agent:
            session = agent.open()
            agent.prompt(session, command("true"), {"text": "Ready."})
            tool = median(tool_seconds(agent, session) for _ in range(RUNS))
            stream = median(stream_seconds(agent, session) for _ in range(RUNS))
    return {"cancel_tool_s": tool, "cancel_llm_s": stream}


BENCHMARK = Benchmark(
    (Aim("cancel_tool_s", "s", below=0.5), Aim("cancel_llm_s", "s", below=0.5)), measure
)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
