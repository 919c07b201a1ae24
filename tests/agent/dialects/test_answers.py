"""Four provider dialects, each through the SDK's real path, and what the person sees: streams,
thoughts, tools, signatures, and what the client library gets wrong."""

import json
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.dialects.speaking import DIALECTS, PATHS, Seen, Talk, models, saved
from tests.agent.driving import run, shown

pytestmark = pytest.mark.asyncio(loop_scope="session")

THOUGHT, ANSWER = "agent_thought_chunk", "agent_message_chunk"


async def of(dialect: str, agent: Agent, provider: ScriptedModel, cwd: Path) -> Talk:
    return await Talk.begin(agent, provider, dialect, cwd)


async def test_text_streams_once(talk: Talk) -> None:
    seen = await talk.turn({"text": "One two three", "every": 0.2})  # what comes at once is joined
    assert seen.words == "One two three"
    assert seen.stop == "end_turn"
    pieces = [update for update in seen.updates if update["sessionUpdate"] == ANSWER]
    assert len(pieces) > 1
    assert len({piece["messageId"] for piece in pieces}) == 1
    assert seen.asked[0].path in PATHS.values()


async def test_thoughts_come_before_the_text_and_once(talk: Talk) -> None:
    seen = await talk.turn({"thought": "Hm hm hm", "text": "Yes it is"})
    assert (seen.thoughts, seen.words) == ("Hm hm hm", "Yes it is")
    assert seen.kinds == [THOUGHT, ANSWER]


async def test_unstreamed_answers_look_the_same(talk: Talk) -> None:
    await talk.choose("streaming", "off")
    try:
        seen = await talk.turn({"thought": "Hm hm", "text": "Yes it is"}, run("echo 1"))
    finally:
        await talk.choose("streaming", "on")
    assert (seen.thoughts, seen.words, seen.stop) == ("Hm hm", "Yes it is", "end_turn")
    assert seen.kinds == [THOUGHT, ANSWER]


async def test_a_call_is_shown_once_and_its_result_goes_back(talk: Talk) -> None:
    seen = await talk.turn(run("echo 4711"), {"text": "So: $result"})
    assert [call["status"] for call in seen.calls] == ["completed"]
    assert "4711" in shown(seen.calls[0])
    assert seen.words.startswith("So: ")
    assert "4711" in seen.words


async def test_two_calls_in_one_answer_are_kept_apart(talk: Talk) -> None:
    both = {"calls": [run("echo first")["call"], run("echo other")["call"]]}
    seen = await talk.turn({"text": "Both. ", **both}, "Done")
    assert [call["status"] for call in seen.calls] == ["completed", "completed"]
    assert [call["rawInput"]["command"] for call in seen.calls] == ["echo first", "echo other"]
    assert seen.words == "Both. Done"


async def test_signed_thoughts_go_back_unchanged(fresh: Talk) -> None:
    """The provider refuses a thought that it did not sign, and so does the scripted one."""
    first: Json = {"thought": "I look around first", "text": "Looking. ", **run("echo 1")}
    second: Json = {"thought": "And once more", **run("echo 2")}
    seen = await fresh.turn(first, second, {"thought": "That is all", "text": "Done"})
    assert (seen.error, seen.stop) == ("", "end_turn")
    assert seen.words == "Looking. Done"
    assert seen.thoughts == "I look around firstAnd once moreThat is all"
    assert len(seen.asked) == 3
    seen = await fresh.turn({"thought": "Hm", "text": "On"})
    assert (seen.error, seen.words, len(seen.asked)) == ("", "On", 1)
    sent = str(seen.asked[0].body)
    assert sent.count("I look around first") <= 2  # the script itself has it, in the prompt
    assert sent.count("Looking.") == 2


async def test_usage_is_reported(talk: Talk) -> None:
    seen = await talk.turn({"text": "Hm", "usage": {"input": 5000, "output": 77}})
    told = [update for update in seen.updates if update["sessionUpdate"] == "usage_update"]
    assert told[-1]["used"] == 5077
    assert told[-1]["size"] > 0
    assert told[-1]["cost"]["amount"] > 0


@pytest.mark.parametrize("talk", ["chat", "responses", "anthropic"], indirect=True)
async def test_the_providers_quotas_are_told(talk: Talk) -> None:
    """Gemini's API tells none."""
    counted = {"limit": "100", "remaining": "12", "reset": "6m0s"}
    headers = {f"x-ratelimit-{key}-requests": value for key, value in counted.items()}
    headers |= {"anthropic-ratelimit-unified-5h-utilization": "0.82"}
    seen = await talk.turn({"text": "Hm", "headers": headers})
    told = [update for update in seen.updates if update["sessionUpdate"] == "usage_update"]
    windows = {each["window"]: each for each in told[-1]["_meta"]["rookery"]["limits"]}
    assert windows["requests"]["used"] == 0.88
    assert windows["5 h"]["used"] == 0.82


PRICE = {"input": 3, "output": 15, "cached": 0.5}


async def test_the_cost_of_an_answer_is_reported(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """In each dialect, streamed and whole: by the price in the model's settings, which goes before
    the list; where the provider says what it cost, that goes before both."""
    priced = {f"priced {name}": each | {"price": PRICE} for name, each in models(provider).items()}
    usage = {"input": 1000, "output": 100, "cached": 800}
    expected = (200 * 3 + 800 * 0.5 + 100 * 15) / 1_000_000
    with saved(agent_home, provider, **priced):
        for dialect in DIALECTS:
            talk = await Talk.begin(agent, provider, f"priced {dialect}", tmp_path)
            total = 0.0
            for streaming in ("on", "off"):
                await talk.choose("streaming", streaming)
                total += expected
                seen = await talk.turn({"text": "Hm", "usage": usage})
                assert costs(seen)[-1] == pytest.approx(total), (dialect, streaming)
                if dialect in ("chat", "responses"):  # the others' own APIs have no word for it
                    total += 0.25
                    seen = await talk.turn({"text": "Hm", "usage": usage | {"cost": 0.25}})
                    assert costs(seen)[-1] == pytest.approx(total), (dialect, streaming)


def costs(seen: Seen) -> list[float]:
    return [each["cost"]["amount"] for each in seen.updates if "cost" in each]


async def test_a_lone_surrogate_from_the_model_is_replaced(fresh: Talk) -> None:
    """Half of a character: shown as the sign for what cannot be shown, and the session goes on."""
    seen = await fresh.turn({"thought": "h\ud83dm", "text": "a\ud83d b \ud83d\ude00", "chunks": 1})
    assert (seen.error, seen.stop) == ("", "end_turn")
    assert "a\ufffd b \U0001f600" in seen.words
    seen = await fresh.turn(run("echo x\ud83dx"), "Went on")
    assert (seen.error, seen.words) == ("", "Went on")
    assert seen.calls[0]["status"] == "completed"


async def test_a_lone_surrogate_in_a_prompt_is_replaced(talk: Talk) -> None:
    seen = await talk.say("what is \ud83d?")
    assert (seen.error, seen.stop) == ("", "end_turn")
    assert seen.words == "You said: what is \ufffd?"


# --- what only one of them has -------------------------------------------------------------------


async def test_gpt_5_is_asked_for_summaries(
    agent: Agent, provider: ScriptedModel, tmp_path: Path
) -> None:
    talk = await of("responses", agent, provider, tmp_path)
    seen = await talk.turn({"thought": "Summary", "text": "Yes"})
    assert seen.asked[0].body["reasoning"]["summary"] == "auto"
    refused: Json = {
        "status": 400,
        "message": "Your organization must be verified to generate reasoning summaries.",
    }
    seen = await talk.turn({"error": refused}, "Without")
    assert (seen.error, seen.words) == ("", "Without")
    assert "summary" not in seen.asked[-1].body["reasoning"]


async def test_the_cache_mark_is_on_the_last_message_only(
    agent: Agent, provider: ScriptedModel, tmp_path: Path
) -> None:
    talk = await of("anthropic", agent, provider, tmp_path)
    first, second = await talk.turn(run("echo 1"), "Done"), await talk.turn("Again")
    assert (len(first.asked), len(second.asked)) == (2, 1)
    for asked in [*first.asked, *second.asked]:
        marked = [
            place
            for place, message in enumerate(asked.body["messages"])
            if "cache_control" in json.dumps(message)
        ]
        assert marked == [len(asked.body["messages"]) - 1]
        assert "cache_control" in json.dumps(asked.body["system"])


@pytest.mark.parametrize("talk", ["chat"], indirect=True)
@pytest.mark.parametrize("chunks", [0, 1, 40])
async def test_think_tags_of_local_models_are_thoughts(talk: Talk, chunks: int) -> None:
    text = "<think>\nLet me see.\n</think>\n\nIt is 4, not </think>."
    seen = await talk.turn({"text": text, "chunks": chunks})
    assert seen.words == "It is 4, not </think>."
    assert seen.thoughts.strip() == "Let me see."
    assert seen.kinds == [THOUGHT, ANSWER]


async def test_think_tags_in_an_unstreamed_answer_are_thoughts(
    agent: Agent, provider: ScriptedModel, tmp_path: Path
) -> None:
    talk = await of("chat", agent, provider, tmp_path)
    await talk.choose("streaming", "off")
    seen = await talk.turn({"text": "<think>Hm</think>Four"}, "You said <think>")
    assert (seen.thoughts, seen.words) == ("Hm", "Four")
    seen = await talk.turn("It writes <think> first")
    assert (seen.thoughts, seen.words) == ("", "It writes <think> first")


async def test_gemini_answers_without_response_ids_are_shown_once(
    agent: Agent, provider: ScriptedModel, tmp_path: Path
) -> None:
    """As behind a proxy: each call is shown once."""
    talk = await of("gemini", agent, provider, tmp_path)
    step = {"text": "I look. Now.", **run("echo 1"), "anonymous": True}
    seen = await talk.turn(step, {"text": "All done", "anonymous": True})
    assert seen.words == "I look. Now.All done"
    assert [call["status"] for call in seen.calls] == ["completed"]
