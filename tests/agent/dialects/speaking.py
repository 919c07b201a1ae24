"""The agent in four provider dialects, and what a person sees of a turn in each.

One process for all of them: each dialect is a saved model, whose provider is the scripted model on
loopback. Every request takes the SDK's real path through its client library.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rookery.agent.scripted.server import Asked, ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.conftest import QUICK
from tests.agent.driving import calls, words

DIALECTS = ("chat", "responses", "anthropic", "gemini")
PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
}
"""Where the requests of each arrive."""


def models(model: ScriptedModel) -> Json:
    """A saved model for each. What it knows of itself (window, price) stays the library's, but for
    the chat model, which nobody knows."""
    root = model.url.removesuffix("/v1")
    usual: Json = {"api_key": "sk-scripted-key", "num_retries": 3}
    usual |= {"retry_min_wait": 0, "retry_max_wait": 2, "retry_multiplier": 0.0}
    return {
        "chat": QUICK | usual | {"model": "openai/scripted", "base_url": model.url},
        "responses": usual | {"model": "openai/gpt-5", "base_url": model.url},
        "anthropic": usual | {"model": "anthropic/claude-sonnet-4-5", "base_url": root},
        "gemini": usual | {"model": "gemini/gemini-2.5-pro", "base_url": f"{root}/v1beta"},
    }


@contextmanager
def saved(home: Path, model: ScriptedModel, **more: Json) -> Iterator[None]:
    """The dialects beside the models that every test has."""
    place = home / "agent_settings.json"
    before = place.read_text()
    document = json.loads(before)
    document["profiles"] |= models(model) | more
    place.write_text(json.dumps(document))
    try:
        yield
    finally:
        place.write_text(before)


class Seen(NamedTuple):
    """A turn, as its person sees it."""

    words: str
    thoughts: str
    kinds: list[str]
    """Which of both came, in order."""
    calls: list[Json]
    stop: str
    error: str
    data: Json
    asked: list[Asked]
    updates: list[Json]


class Talk:
    """A session with a model of one dialect."""

    def __init__(self, agent: Agent, model: ScriptedModel, session: str) -> None:
        self.agent = agent
        self.model = model
        self.session = session

    @classmethod
    async def begin(cls, agent: Agent, model: ScriptedModel, dialect: str, cwd: Path) -> "Talk":
        talk = cls(agent, model, await agent.new(str(cwd)))
        await talk.choose("model", dialect)
        await talk.choose("mode", "always-approve")
        return talk

    async def choose(self, option: str, value: str) -> None:
        params = {"sessionId": self.session, "configId": option, "value": value}
        assert isinstance(await self.agent.call("session/set_config_option", **params), dict)

    async def turn(self, *turns: str | Json) -> Seen:
        return await self.say(json.dumps({"play": list(turns)}))

    async def say(self, text: str) -> Seen:
        before = {id(asked) for asked in self.model.asked}
        answer = await self.agent.turn(self.session, text)
        updates = self.agent.news(self.session)
        result, error = answer.get("result", {}), answer.get("error", {})
        told = [update["sessionUpdate"] for update in updates]
        spoken = [kind for kind in told if kind.startswith("agent_")]
        return Seen(
            words(updates),
            words(updates, "agent_thought_chunk"),
            [kind for at, kind in enumerate(spoken) if at == 0 or spoken[at - 1] != kind],
            calls(updates),
            result.get("stopReason", ""),
            error.get("message", ""),
            error.get("data", {}),
            [asked for asked in self.model.asked if id(asked) not in before],
            updates,
        )
