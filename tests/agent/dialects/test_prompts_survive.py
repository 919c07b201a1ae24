"""The user's words outlast every condensation: the newest prompt, and each that fits a budget, stay
word for word; what is too long is cut where it can be seen."""

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rookery.agent.scripted.server import Asked, ScriptedModel, serving
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, surroundings
from tests.agent.dialects.speaking import DIALECTS, Talk, models, saved
from tests.agent.driving import run

pytestmark = pytest.mark.asyncio(loop_scope="session")

WINDOW = 34_000
"""Tokens; five to a character, as the scripted model counts."""
SUMMARY = "The numbers were printed."
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode()
RULE, WISH = 'Rule "one": never touch\nthe vendor folder – äöü.', "Wish two: print the numbers."
LEFT_OUT = "characters left out]"


def bulky(steps: int) -> list[Json]:
    """Each a tenth of the window."""
    return [run(f"seq {first} {first + 4000}") for first in range(steps)]


@asynccontextmanager
async def condensing(
    agent: Agent, home: Path, provider: ScriptedModel, cwd: Path, dialect: str, *turns: str | Json
) -> AsyncIterator[tuple[Talk, ScriptedModel]]:
    """A session whose k-th request gets the k-th turn, with a small window."""
    script: Json = {"turns": list(turns), "by": "request", "aside": {"text": SUMMARY}}
    with serving(script) as own:
        small = models(own)[dialect] | {"max_input_tokens": WINDOW}
        with saved(home, provider, small=small):
            yield await Talk.begin(agent, own, "small", cwd), own


def sent(asked: Asked) -> str:
    """All texts of a request, one to a line."""

    def texts(value: object) -> list[str]:
        match value:
            case str():
                return [value]
            case dict():
                return [text for each in value.values() for text in texts(each)]
            case list():
                return [text for each in value for text in texts(each)]
        return []

    history = ("messages", "input", "contents", "system", "systemInstruction")
    return "\n".join(texts([asked.body.get(name) for name in history]))


def answers(model: ScriptedModel) -> list[Asked]:
    """Its requests but those for a summary."""
    return [asked for asked in model.asked if asked.body.get("tools")]


@pytest.mark.parametrize(
    "dialect", ["chat", *(pytest.param(each, marks=pytest.mark.long) for each in DIALECTS[1:])]
)
async def test_prompts_stay_word_for_word_through_a_long_turn(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path, dialect: str
) -> None:
    """Condensed several times in the middle of a turn: the server refuses a history that is not
    valid, each request has both prompts, and the newest comes after what was answered before it."""
    steps = [{"text": "Now. ", **step} for step in bulky(12)]
    turns = ["Understood", *steps, "All printed"]
    async with condensing(agent, agent_home, provider, tmp_path, dialect, *turns) as (talk, own):
        await talk.say(RULE)
        seen = await talk.say(WISH)
        assert (seen.error, seen.words[-11:]) == ("", "All printed")
        assert seen.thoughts.count("was condensed") >= 2
        for asked in answers(own)[1:]:
            text = sent(asked)
            assert text.count(RULE) == text.count(WISH) == 1
            assert text.index(RULE) < text.index(WISH)
            if SUMMARY in text:
                assert text.index(WISH) < text.index(SUMMARY), "it tells what was done about it"
            assert text.count(SUMMARY) <= 1
        assert len(json.dumps(own.asked[-1].body)) < WINDOW * 5 * 0.75


async def test_images_and_prompts_of_a_running_turn_stay(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    turns = ["I see", run(f"cat {gate}"), *bulky(9), "Done"]
    async with condensing(agent, agent_home, provider, tmp_path, "chat", *turns) as (talk, own):
        picture = {"type": "image", "mimeType": "image/png", "data": PIXEL}
        prompt = [{"type": "text", "text": "Like this:"}, picture]
        await agent.call("session/prompt", sessionId=talk.session, prompt=prompt)
        turn = agent.prompt(talk.session, WISH)
        await agent.until(lambda line: "'in_progress'" in str(line))
        said = [{"type": "text", "text": "And with tabs."}]
        taken = await agent.call("_session/steering", sessionId=talk.session, prompt=said)
        assert taken == {"outcome": "injected"}
        await asyncio.to_thread(gate.write_text, "on")
        assert (await agent.answer(turn))["result"]["stopReason"] == "end_turn"
        assert len(own.asked) > len(answers(own)), "it was condensed"
        last = answers(own)[-1]
        assert json.dumps(last.body).count(PIXEL) == 1
        order = [sent(last).index(words) for words in ("Like this:", WISH, "And with tabs.")]
        assert order == sorted(order)


async def test_a_prompt_over_the_budget_is_cut_where_it_can_be_seen(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """The newest stays whole, however long it is; once it is not the newest, its ends stay, also
    through the next condensation."""
    bulk = "line of a log\n" * 6000
    paste = f"Find the fault in this:\n{bulk}It was the last line."
    turns = ["Understood", *bulky(4), "Found", *bulky(10), "Done"]
    async with condensing(agent, agent_home, provider, tmp_path, "chat", *turns) as (talk, own):
        await talk.say(RULE)
        seen = await talk.say(paste)
        assert (seen.error, seen.words) == ("", "Found")
        assert "was condensed" in seen.thoughts
        for asked in answers(own)[1:]:
            assert paste in sent(asked)
        seen = await talk.say(WISH)
        assert (seen.error, seen.words) == ("", "Done")
        assert seen.thoughts.count("was condensed") >= 2
        last = sent(answers(own)[-1])
        assert RULE in last
        assert WISH in last
        assert paste not in last
        assert last.count("> Find the fault in this:") == last.count(LEFT_OUT) == 1
        assert "> line of a log\n> It was the last line.\n" in last + "\n"


async def test_a_prompt_that_no_window_holds_is_cut_and_answered(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    paste = f"What is wrong?\n{'line of a log\n' * 20_000}That was all."
    async with condensing(agent, agent_home, provider, tmp_path, "chat", "The log") as (talk, own):
        seen = await talk.say(paste)
        assert (seen.error, seen.words) == ("", "The log")
        last = sent(own.asked[-1])
        assert len(last) < WINDOW * 5
        assert "> What is wrong?\n" in last
        assert "> That was all." in last
        assert LEFT_OUT in last


async def test_condensed_by_hand_again_and_again(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    turns = ["One", *bulky(2), "Two", "Three", "Four"]
    async with condensing(agent, agent_home, provider, tmp_path, "chat", *turns) as (talk, own):
        for words in (RULE, WISH):
            await talk.say(words)
        told = [(await talk.say("/condense")).words for _ in range(4)]
        assert told[0].startswith("Condensed: ")
        assert told[2:] == ["The conversation is too short to condense."] * 2
        assert len(own.asked) - len(answers(own)) <= 2, "then no summary is asked for"
        for words in ("Three", "Four"):
            seen = await talk.say(f"Say {words}")
            assert (seen.error, seen.words) == ("", words)
            text = sent(seen.asked[-1])
            assert text.count(RULE) == text.count(WISH) == text.count(SUMMARY) == 1


async def test_what_was_condensed_is_the_same_after_kill_9(
    agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """Another process sends what the killed one sent."""
    turns = ["One", *bulky(8), "Two", "Three", "Four"]
    script: Json = {"turns": turns, "by": "request", "aside": {"text": SUMMARY}}
    with serving(script) as own:
        small = models(own)["chat"] | {"max_input_tokens": WINDOW}
        with saved(agent_home, provider, small=small):
            environment = surroundings(agent_home)
            first = await Agent.start(ARGV, environment=environment, forked=True)
            again = await Agent.start(ARGV, environment=environment, forked=True)
            try:
                for each in (first, again):
                    await each.call("initialize", protocolVersion=1, clientCapabilities={})
                talk = await Talk.begin(first, own, "small", tmp_path)
                for words in (RULE, WISH, "Say three"):
                    before = await talk.say(words)
                first.process.kill()
                await first.process.wait()
                here = {"sessionId": talk.session, "cwd": str(tmp_path), "mcpServers": []}
                await again.call("session/load", **here)
                after = await Talk(again, own, talk.session).say("Say four")
            finally:
                await first.kill()
                await again.kill()
    assert (after.error, after.words) == ("", "Four")
    known, sent_now = (seen.asked[-1].body["messages"] for seen in (before, after))
    assert SUMMARY in json.dumps(known)
    assert sent_now[: len(known)] == known
