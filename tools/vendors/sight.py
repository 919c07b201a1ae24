"""What a person sees of a session: the document that every look is made of."""

import json
from collections.abc import Sequence
from typing import Any

from rookery.core.agent.prompt import words_of
from rookery.core.blocks import captions
from rookery.core.blocks.captions import SUBAGENT
from rookery.core.blocks.document import Document
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold

type Json = dict[str, Any]


class Sight:
    def __init__(self, events: Sequence[Event]) -> None:
        """From the session's first event on: what a block looks like hangs on those before it."""
        self.events = events
        self.document: Document = fold(None, events)

    def blocks(self, role: str) -> list[Json]:
        return [block for block in self.document.blocks.values() if block["role"] == role]

    def calls(self, words: str) -> list[Json]:
        """The calls in whose look these words are."""
        return [block for block in self.blocks("tool") if words in self.shown(block)]

    def shown(self, block: Json) -> str:
        """A block and those below it, with all that they hold."""
        below = [each for each in self.document.blocks.values() if each["parent"] == block["id"]]
        return json.dumps([block, *below], ensure_ascii=False)

    def output(self, block: Json) -> str:
        """What a call brought: not what it was given."""
        below = self._terminals(block)
        parts = [part for part in captions.parts_of(block) if part["type"] != "json"]
        return json.dumps([parts, [each["text"] for each in below]], ensure_ascii=False)

    def exit_code(self, block: Json) -> int | None:
        return captions.exit_code(block, self._terminals(block))

    def _terminals(self, block: Json) -> list[Json]:
        return [each for each in self.blocks("terminal") if each["parent"] == block["id"]]

    def diffs(self, block: Json) -> list[Json]:
        return [dict(part) for part in captions.diffs(block)]

    def _own_calls(self) -> list[Json]:
        """The agent's calls: not its sub-agents, nor what they call."""
        children = {block["id"] for block in self.blocks("tool") if block["kind"] == SUBAGENT}
        return [
            block
            for block in self.blocks("tool")
            if block["id"] not in children and block["parent"] not in children
        ]

    def complaints(self, prompts: Sequence[str]) -> list[str]:
        """What reads wrong, when these prompts were sent: raw blocks, and what is there twice."""
        found = [f"shown raw: {block['title']}" for block in self.blocks("raw")]
        echoes = [
            words_of([each.update["content"]])
            for each in self.events
            if kind_of(each.update) == "user_message_chunk"
        ]
        # Crow tells its model by itself when a sub-agent is done.
        told = [text for text in echoes if text not in prompts]
        sent = [block["text"] for block in self.blocks("prompt") if block["text"] not in told]
        if sent != list(prompts):
            found.append(f"prompts: {sent} in the place of {list(prompts)}")
        news = [each.update for each in self.events if not each.update.get("announced")]
        about = [each.get("toolCall") or each for each in news]
        calls = {
            each["toolCallId"] for each in about if isinstance(each, dict) and "toolCallId" in each
        }
        own = self._own_calls()
        if len(own) != len(calls):
            found.append(f"{len(own)} calls are shown of {len(calls)}")
        named = {
            each["toolCallId"]
            for each in about
            if isinstance(each, dict) and "toolCallId" in each and _name(each)
        }
        if len([block for block in own if _name(block)]) < len(named):
            found.append(f"{named} have titles: {own}")
        found += [f"an echo: {text}" for text in echoes if text in prompts]
        return found


def _name(told: Json) -> bool:
    """Whether a call, or its block, says what it is; gemini tells of a call that it refuses itself
    by its result alone."""
    return bool(told.get("title") or told.get("tool"))
