"""What the scripted model does next: a mark in the prompt says it, so a trial needs no other way.

    [[say TEXT]]                  answers TEXT
    [[run COMMAND]]               calls the agent's shell tool, then answers with what that gave
    [[edit PATH|BEFORE|AFTER]]    calls what changes a file, then alike
    [[mcp TOOL]]                  calls the tool whose name ends so, then alike
    [[task TEXT]]                 starts a sub-agent that answers TEXT, where there is a tool for it
    [[plan TEXT]]                 writes a plan with this step, alike
    [[slow]]                      writes a word every 50 ms until the agent hangs up
    [[fail STATUS]]               answers with that HTTP status
    [[quota]]                     answers with what a provider's headers say of a quota

A request without any mark, or without tools (a title, a summary), is answered with a few words.
"""

import json
import re
import time
from typing import override

from rookery.agent.scripted.choice import Chooser
from rookery.agent.scripted.conversation import ChatMessage, Conversation, Json, objects
from rookery.agent.scripted.script import Call, Script, Turn, failure_of
from rookery.agent.scripted.server import Asked, ScriptedModel, dialect_at
from tools.vendors.fitting import PLANS, SUB_AGENTS, arguments_for, tool_among
from tools.vendors.vendor import Vendor, call

MARK = re.compile(r"\[\[(say|run|edit|mcp|task|plan|slow|fail|quota)(?: (.*?))?\]\]", re.DOTALL)

PACE = 0.05
"""Seconds between two words: an answer is seen to grow."""

SLOW = Turn(text="slowly " * 2400, every=PACE)
"""Nobody listens for that long."""
FILLER = Turn(text="A title")


def quota_headers(now: float) -> tuple[tuple[str, str], ...]:
    """82 % of five hours are used up, as Anthropic, Codex and OpenAI say it."""
    reset = int(now) + 3600
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(reset))
    unified = {
        "status": "allowed_warning",
        "reset": reset,
        "representative-claim": "five_hour",
        "5h-status": "allowed_warning",
        "5h-utilization": "0.82",
        "5h-reset": reset,
        "5h-surpassed-threshold": "0.8",
    }
    codex = {"used-percent": 82, "window-minutes": 300, "reset-at": reset}
    plain = {"limit": 100, "remaining": 18}
    said: dict[str, object] = {
        **{f"anthropic-ratelimit-unified-{key}": value for key, value in unified.items()},
        **{f"anthropic-ratelimit-requests-{key}": value for key, value in plain.items()},
        "anthropic-ratelimit-requests-reset": until,
        **{f"x-codex-primary-{key}": value for key, value in codex.items()},
        **{f"x-ratelimit-{key}-requests": value for key, value in plain.items()},
        "x-ratelimit-reset-requests": "60m",
    }
    return tuple((key, str(value)) for key, value in said.items())


class Marks(Chooser):
    """Each vendor's tools have their own names: that is what makes a script the same for all."""

    def __init__(self, vendor: Vendor) -> None:
        super().__init__(Script())
        self.vendor = vendor

    @override
    def next(self, conversation: Conversation) -> Turn:
        """By the last mark of the user's, and what was done about it already."""
        said = conversation.messages
        marked = [at for at, each in enumerate(said) if _is_marked(each)]
        if not marked or not conversation.tools:
            return FILLER
        kind, words = MARK.findall(said[marked[-1]].text)[-1]
        match kind:
            case "slow":
                return SLOW
            case "quota":
                return Turn(text="within the quota", headers=quota_headers(time.time()))
            case "fail":
                # An agent that tries again by itself would make a failing turn last for minutes.
                lasting = (("x-should-retry", "false"),)
                return Turn(failure=failure_of(int(words), "fail")._replace(headers=lasting))
            case "say":
                return Turn(text=words, every=PACE)
        calls = self._calls(kind, words, conversation)
        if not calls:
            names = ", ".join(each.name for each in _offered(conversation))
            return Turn(text=f"There is no tool {words}, but {names}.")
        results = [each.text for each in said[marked[-1] :] if each.role == "result"]
        if len(results) < len(calls):
            return Turn(calls=(calls[len(results)],))
        return Turn(text=f"The tool said: {results[-1]}")

    def _calls(self, kind: str, words: str, conversation: Conversation) -> list[Call]:
        match kind:
            case "run":
                return [self.vendor.run(words)]
            case "edit":
                path, before, after = words.split("|")
                return self.vendor.edit(path, before, after)
            case "task":
                return self._fitting(SUB_AGENTS, f"[[say {words}]]", conversation)
            case "plan":
                return self._fitting(PLANS, words, conversation)
        found = [each for each in _offered(conversation) if each.name.endswith(words)][:1]
        arguments = json.dumps(dict(self.vendor.wanted))
        return [each._replace(arguments=arguments) for each in found]

    def _fitting(self, names: tuple[str, ...], text: str, conversation: Conversation) -> list[Call]:
        tool = tool_among(_tools(conversation), names)
        if tool is None:
            return []
        made = call(tool["name"], **{**arguments_for(tool, text), **self.vendor.wanted})
        return [made._replace(namespace=tool["namespace"])]


def _offered(conversation: Conversation) -> list[Call]:
    """A call of each tool."""
    return [
        call(tool["name"])._replace(namespace=tool["namespace"]) for tool in _tools(conversation)
    ]


def _tools(conversation: Conversation) -> list[Json]:
    """Each with its name; codex has those of a server in a group of the server's name."""
    found: list[Json] = []
    for tool in conversation.tools:
        name = str(tool.get("name", ""))
        grouped = [{**each, "namespace": name} for each in objects(tool.get("tools"))]
        found += grouped or [{**tool, "namespace": ""}]
    return [{**tool, "name": str(tool.get("name", ""))} for tool in found]


def _is_marked(said: ChatMessage) -> bool:
    return said.role == "user" and MARK.search(said.text) is not None


class Llm(ScriptedModel):
    """The scripted model, as the trials look at it."""

    def __init__(self, vendor: Vendor) -> None:
        super().__init__(Script())
        self.chooser = Marks(vendor)

    @property
    def address(self) -> str:
        return self.url.removesuffix("/v1")

    def main(self) -> list[Asked]:
        """The requests of the conversation itself: no title and no summary."""
        return [asked for asked in self.asked if conversation_of(asked).tools]


def conversation_of(asked: Asked) -> Conversation:
    speak = dialect_at(asked.path)
    assert speak is not None
    return speak(asked.body).read()


def heard(asked: Asked, words: str, role: str | None = None) -> bool:
    """Whether its conversation holds these words (of the user's, the model's or a tool's)."""
    said = conversation_of(asked).messages
    return any(words in each.text and role in (None, each.role) for each in said)
