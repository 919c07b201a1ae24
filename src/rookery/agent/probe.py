"""Makes one call to a model by litellm, in a process that `rookery.models.probe` starts: reads the
question as JSON on stdin, writes the answer as the last line of stdout."""

import json
import os
import sys
from typing import Any

from rookery.agent.process import sdk_import
from rookery.agents.registry import missing_extra
from rookery.models.probe import QUESTION, Answer, of_network, of_status, shortened

TAKEN = ("aws_", "vertex_", "api_version")
"""Prefixes of a model's fields that say how to reach its provider."""


def main() -> int:
    asked = json.load(sys.stdin)
    out = os.dup(1)
    os.dup2(2, 1)  # the library prints
    with sdk_import.surroundings():
        answer = call(asked)
    os.write(out, json.dumps({"kind": answer.kind, "words": answer.message}).encode() + b"\n")
    return 0


def call(asked: dict[str, Any]) -> Answer:
    try:
        import litellm
        import openai
    except ModuleNotFoundError:
        return Answer("extra", missing_extra("The library for this provider", "agent"))
    model, where = asked["model"], asked["base_url"] or asked["model"].partition("/")[0]
    extras = {key: value for key, value in asked["extras"].items() if key.startswith(TAKEN)}
    try:
        litellm.completion(
            model=model,
            api_key=asked["api_key"],
            base_url=asked["base_url"],
            timeout=asked["timeout"],
            messages=[{"role": "user", "content": QUESTION}],
            max_retries=0,
            **extras,
        )
    except openai.APIConnectionError as error:
        return of_network(shortened(str(error)), where)
    except openai.APIStatusError as error:
        if "LLM Provider NOT provided" in str(error):
            return Answer("model", f"Unknown provider {model.partition('/')[0]!r}.")
        return of_status(error.status_code, str(error), str(error.code or ""), model, where)
    except (openai.OpenAIError, ValueError, ImportError, OSError) as error:
        return Answer("provider", f"Cannot call {model}: {shortened(str(error))}")
    return Answer("ok", f"{model} answered.")


if __name__ == "__main__":
    sys.exit(main())
