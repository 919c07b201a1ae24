"""A conversation that is too long, in the words of each provider: it is condensed and sent again.
Words that nobody knows are tried once, where the window is nearly full."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel, serving
from tests.acp.driving import Agent, Json
from tests.agent.dialects.speaking import DIALECTS, Talk, models, saved
from tests.core.making import play

pytestmark = pytest.mark.asyncio(loop_scope="session")

CODE = {"code": "context_length_exceeded"}
OPENAI: list[Json] = [
    {"message": "Try something else", **CODE},
    {"message": "This model's maximum context length is 128000 tokens. You requested 130000."},
    {"message": "Your input exceeds the context window of this model. Please adjust your input."},
]
SPELLINGS: dict[str, list[Json]] = {
    "responses": OPENAI,
    "anthropic": [
        {"message": "prompt is too long: 210000 tokens > 200000 maximum"},
        {"message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"},
        {"status": 413, "message": "Request exceeds the maximum size"},
        {"message": "Input is too long for requested model."},
    ],
    "gemini": [
        {
            "message": "The input token count (1200000) exceeds the maximum number of tokens "
            "allowed (1048576)."
        },
    ],
    "chat": [
        *OPENAI,
        {"message": "Please reduce the length of the messages or completion."},
        {"message": "the request exceeds the available context size, try increasing it"},
        {
            "message": "This model's maximum prompt length is 131072 but the request contains "
            "537812 tokens."
        },
        {
            "message": "Prompt contains 165673 tokens and 0 draft tokens, too large for model with "
            "132768 maximum context length"
        },
        {"message": "input length exceeds maximum context length"},
        {
            "body": '{"error": "Trying to keep the first 90000 tokens when context the overflows. '
            "However, the model is loaded with context length of only 64096 tokens, which is not "
            'enough."}'
        },
        {"message": "Input is too long for requested model."},
        {
            "status": 413,
            "message": "Request too large for model `llama-4` in organization `org_1` service tier "
            "`on_demand` on tokens per minute (TPM): Limit 60000, Requested 69000, please reduce "
            "your message size and try again.",
            "type": "tokens",
            "code": "rate_limit_exceeded",
        },
        {
            "status": 429,
            "message": "Request too large for gpt-4o on tokens per min (TPM): Limit 60000, "
            "Requested 69000.",
            "type": "tokens",
            "code": "rate_limit_exceeded",
        },
        {"status": 413, "body": "<html><title>413 Payload Too Large</title></html>"},
        {"status": 500, "message": "the request exceeds the available context size"},
    ],
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_each_spelling_condenses_and_goes_on(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path, dialect: str
) -> None:
    refusals = [{"error": {"status": 400, **spelling}} for spelling in SPELLINGS[dialect]]
    turns = [turn for refusal in refusals for turn in ("Answer", "Answer", refusal, "Went on")]
    with (
        serving({"turns": turns, "by": "request", "aside": {"text": "Words"}}) as own,
        saved(agent_home, provider, own=models(own)[dialect]),
    ):
        for refusal in refusals:
            talk = await Talk.begin(agent, own, "own", tmp_path)
            for _ in range(2):
                await talk.say("Hello")
            seen = await talk.say("Go on")
            assert (seen.error, seen.words, seen.stop) == ("", "Went on", "end_turn"), refusal
            assert seen.thoughts.count("was condensed") == 1, refusal
            assert "Trying again" not in seen.thoughts, "the same would be refused again"


async def test_a_window_that_is_full_in_mid_answer(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """Anthropic says so by the reason of the answer's end: the half is taken back, and asked for
    again after condensing."""
    half = {"text": "Half of it", "finish": "model_context_window_exceeded"}
    turns = ["Answer", "Answer", half, "Went on"]
    with (
        serving({"turns": turns, "by": "request", "aside": {"text": "Words"}}) as own,
        saved(agent_home, provider, own=models(own)["anthropic"]),
    ):
        talk = await Talk.begin(agent, own, "own", tmp_path)
        for _ in range(2):
            await talk.say("Hello")
        seen = await talk.say("Go on")
    assert (seen.error, seen.stop) == ("", "end_turn")
    assert seen.thoughts.count("was condensed") == 1
    blocks = play(*seen.updates).blocks.values()
    assert [each["text"] for each in blocks if each.get("role") == "answer"] == ["Went on"]


WINDOW = 40_000
LONG = "many words " * 9000
"""More than half of it."""
ODD: Json = {"status": 400, "message": "Computer says no"}


@asynccontextmanager
async def nearly_full(
    agent: Agent, home: Path, provider: ScriptedModel, cwd: Path, *turns: str | Json
) -> AsyncIterator[tuple[Talk, ScriptedModel]]:
    script: Json = {"turns": ["Read", *turns], "by": "request", "aside": {"text": "Words"}}
    with serving(script) as own:
        small = models(own)["chat"] | {"max_input_tokens": WINDOW}
        with saved(home, provider, small=small):
            talk = await Talk.begin(agent, own, "small", cwd)
            assert (await talk.say(LONG)).words == "Read"
            yield talk, own


async def test_unknown_words_of_a_nearly_full_window_are_tried_once(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    turns = [{"error": ODD}, "Went on", "And on"]
    async with nearly_full(agent, agent_home, provider, tmp_path, *turns) as (talk, _):
        seen = await talk.say("Again")
        assert (seen.error, seen.words) == ("", "Went on")
        assert seen.thoughts.count("was condensed") == 1
        assert (await talk.say("More")).words == "And on"


async def test_unknown_words_that_stay_are_said(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    turns = [*[{"error": ODD}] * 3, "On"]
    async with nearly_full(agent, agent_home, provider, tmp_path, *turns) as (talk, _):
        seen = await talk.say("Again")
        assert seen.error.endswith("Computer says no")
        assert "/rewind" in seen.error
        assert seen.thoughts.count("was condensed") == 1
        assert len(seen.asked) == 3, "the prompt, the summary, the prompt"
        seen = await talk.say("Once more")
        assert seen.error.endswith("Computer says no")
        assert len(seen.asked) == 1
        assert (await talk.say("And now")).words == "On"


async def test_a_summary_that_cannot_be_written_is_told_by_its_cause(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """Not as a conversation that is too long, and not asked for again and again."""
    refused: Json = {"status": 401, "message": "The key was withdrawn"}
    long: Json = {"status": 400, "message": "prompt is too long"}
    script: Json = {"turns": ["Read", "Read", {"error": long}, "On"], "by": "request"}
    with (
        serving(script | {"aside": {"error": refused}}) as own,
        saved(agent_home, provider, own=models(own)["chat"]),
    ):
        talk = await Talk.begin(agent, own, "own", tmp_path)
        for _ in range(2):
            await talk.say("Hello")
        for words in ("Go on", "/condense"):
            seen = await talk.say(words)
            assert seen.data["errorKind"] == "auth"
            assert seen.error.endswith("The key was withdrawn")
            assert len([each for each in seen.asked if not each.body.get("tools")]) == 1
        assert (await talk.say("And now")).words == "On"
