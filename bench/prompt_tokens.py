"""prompt_tokens: what our own agent sends besides the user's words, in tokens of cl100k: the larger
of the first and the tenth request of a task, in the family of models where it is largest. The tenth
has nine commands with their results.

All of a request's JSON counts, the names of its fields too, and in the tenth what the model called
and its commands printed, which is little here. An empty directory, default tools, no MCP servers.
"""

import json
import os
import sys
from importlib.util import find_spec

import tiktoken

from bench.agents import Agent, Json, command, stage
from bench.figures import Aim, Benchmark, progress, run_alone
from rookery.agent.scripted.server import serving

STEPS = 9
FAMILIES = {
    "Claude": ("anthropic/claude-sonnet-4-5", ""),
    "GPT, chat": ("openai/gpt-4o", "/v1"),
    "GPT, responses": ("openai/gpt-5", "/v1"),
    "Gemini": ("gemini/gemini-2.5-pro", "/v1beta"),
    "others": ("openai/scripted", "/v1"),
}
"""A model of each, and its API below the provider's address."""


def encoding() -> tiktoken.Encoding:
    """From the vocabulary that litellm brings: tiktoken would fetch it."""
    found = find_spec("litellm")
    [place, *_] = (found.submodule_search_locations if found else None) or [""]
    os.environ["TIKTOKEN_CACHE_DIR"] = os.path.join(place, "litellm_core_utils", "tokenizers")
    return tiktoken.get_encoding("cl100k_base")


def tokens(body: Json, words: str) -> int:
    """Of a request without these words of the user's."""
    sent, said = json.dumps(body, ensure_ascii=False), json.dumps(words, ensure_ascii=False)[1:-1]
    if sent.count(said) != 1:
        raise RuntimeError(f"the user's words are sent {sent.count(said)} times")
    return len(encoding().encode(sent.replace(said, ""), disallowed_special=()))


def take_ten_steps(agent: Agent) -> str:
    """Returns the user's words."""
    steps = [*(command(f"echo {number}") for number in range(STEPS)), {"text": "Done."}]
    agent.prompt(agent.open(), *steps)
    return json.dumps({"play": steps})


def measure() -> dict[str, float]:
    most = 0
    with stage() as made, serving({"turns": [], "aside": {"text": "A title."}}) as model:
        made.set_up_ours(warm=False)
        root = model.url.removesuffix("/v1")
        for family, (name, path) in FAMILIES.items():
            given = {"LLM_MODEL": name, "LLM_BASE_URL": root + path, "LLM_API_KEY": "sk-bench-key"}
            model.asked.clear()
            with made.ours("--override-with-envs", **given) as agent:
                words = take_ten_steps(agent)
            asked = [each.body for each in model.asked if each.body.get("tools")]
            first, *_, tenth = (tokens(body, words) for body in asked)
            progress(f"{family}: {first} tokens, in the tenth request {tenth}")
            most = max(most, first, tenth)
    return {"prompt_tokens": float(most)}


BENCHMARK = Benchmark((Aim("prompt_tokens", "tokens", below=5000),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
