"""When a model cannot answer, the saved model that it names as its fallback does, and one line says
so."""

import json
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel, serving
from rookery.usage import meter
from tests.acp.driving import Agent, Json
from tests.agent.dialects.speaking import DIALECTS, PATHS, Talk, models, saved
from tests.agent.driving import run
from tests.core.making import log

pytestmark = pytest.mark.asyncio(loop_scope="session")

SPARE_KEY = "sk-spare-0123456789"
OVERLOADED: Json = {"error": {"status": 503, "message": "The model is overloaded."}, "times": 99}
QUOTA: Json = {"error": {"status": 429, "message": "You exceeded your current quota"}, "times": 99}
LIMIT: Json = {"error": {"status": 429, "message": "Slow down", "retry_after": 600}, "times": 99}


def failing(turn: Json) -> Json:
    """Every request."""
    return {"turns": [turn], "by": "request"}


def answering(*turns: str | Json) -> Json:
    return {"match": [{"contains": "Begin", "turns": list(turns)}]}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_fallback_answers_and_one_line_says_so(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path, dialect: str
) -> None:
    """Also after half an answer, and to the end of the turn; the next one asks the first again."""
    half = {"text": "Half of it", "after": 3, **OVERLOADED}
    script: Json = {"turns": [OVERLOADED | {"times": 1}, half], "by": "request"}
    works = answering(run(f"echo {SPARE_KEY}"), "Done by the other")
    with serving(script) as broken, serving(works) as sound:
        first = models(broken)[dialect] | {"num_retries": 1, "fallback": "spare"}
        # Each falls back to the next dialect: a conversation is translated on its way.
        other = DIALECTS[(DIALECTS.index(dialect) + 1) % len(DIALECTS)]
        spare = models(sound)[other] | {"api_key": SPARE_KEY, "fallback": "first-choice"}
        with saved(agent_home, provider, **{"first-choice": first, "spare": spare}):
            talk = await Talk.begin(agent, sound, "first-choice", tmp_path)
            for line in ("first-choice is overloaded; spare", "; spare"):
                tried = len(broken.asked)
                seen = await talk.say("Begin")
                assert (seen.error, seen.stop) == ("", "end_turn")
                assert seen.words.endswith("Done by the other")
                assert seen.thoughts.count(f"{line} answers this turn.") == 1
                assert [each.path.partition("?")[0] for each in seen.asked] == [PATHS[other]] * 2
                assert len(broken.asked) == tried + 1, "the rest of the turn is the other's"
                assert SPARE_KEY not in json.dumps(seen.updates)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param(QUOTA, "has no quota or credit left", id="quota"),
        pytest.param(LIMIT, "is rate-limited", id="limit", marks=pytest.mark.long),
    ],
)
async def test_a_chain_of_fallbacks_ends_with_the_first_error(
    agent: Agent,
    agent_home: Path,
    provider: ScriptedModel,
    tmp_path: Path,
    script: Json,
    words: str,
) -> None:
    """One that names itself in a circle, one without a key, one that refuses it, and one that is no
    longer saved."""
    refused = {"error": {"status": 401, "message": "Incorrect API key"}, "times": 99}
    with serving(failing(script)) as broken, serving(failing(refused)) as closed:
        one = models(broken)["chat"] | {"fallback": "two"}
        two = {"model": "anthropic/claude-sonnet-4-5", "fallback": "three"}
        three = models(closed)["chat"] | {"fallback": "one"}
        with saved(agent_home, provider, one=one, two=two, three=three):
            talk = await Talk.begin(agent, broken, "one", tmp_path)
            seen = await talk.say("hello")
            assert f"one {words}; three answers this turn." in seen.thoughts
            assert "two cannot answer for one: " in seen.thoughts
            assert "three has a key that its provider refuses; no other model" in seen.thoughts
            assert seen.data["errorKind"] == "rate_limit"
            assert len(broken.asked) == len(closed.asked) == 1
        with saved(agent_home, provider, one=one):
            talk = await Talk.begin(agent, broken, "one", tmp_path)
            seen = await talk.say("hello")
            assert seen.thoughts.count("two cannot answer for one: it is not saved.") == 1
            assert seen.data["errorKind"] == "rate_limit"


async def test_a_prompt_that_does_not_fit_goes_to_a_larger_window(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """Found by the provider's error, or before it is asked; a smaller window is of no use."""
    said = "This model's maximum context length is 4096 tokens. You requested 9000 tokens."
    error = {"status": 400, "message": said, "code": "context_length_exceeded"}
    base = models(provider)["chat"]
    with serving(failing({"error": error, "times": 99})) as narrow:
        kept = {
            "narrow": models(narrow)["chat"] | {"fallback": "smaller"},
            "smaller": base | {"max_input_tokens": 2000, "fallback": "wide"},
            "wide": base | {"max_input_tokens": 90_000},
        }
        with saved(agent_home, provider, **kept):
            for name, asked in (("narrow", 1), ("smaller", 0)):
                talk = await Talk.begin(agent, provider, name, tmp_path)
                seen = await talk.say("It fits")
                assert seen.words == "You said: It fits"
                line = f"{name} cannot hold this conversation; wide answers this turn."
                assert seen.thoughts.count(line) == 1
                assert len(narrow.asked) == 1, asked
                usage = [u for u in seen.updates if u["sessionUpdate"] == "usage_update"]
                assert usage[-1]["size"] == 90_000


async def test_a_fallbacks_usage_is_counted_under_its_own_name(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    price = {"input_cost_per_token": 0.5, "output_cost_per_token": 0.5}
    with serving(failing(QUOTA)) as broken:
        dear = models(broken)["chat"] | {"fallback": "cheap"}
        cheap = models(provider)["chat"] | price
        with saved(agent_home, provider, dear=dear, cheap=cheap):
            talk = await Talk.begin(agent, provider, "dear", tmp_path)
            answer = await agent.turn(talk.session, "hello")
            updates = agent.news(talk.session)
    [used] = answer["result"]["_meta"]["rookery"]["usageByModel"]
    total = answer["result"]["usage"]
    assert used == {"model": "cheap"} | {k: n for k, n in total.items() if k != "totalTokens"}
    spent = [u for u in updates if u["sessionUpdate"] == "usage_update"][-1]
    assert spent["cost"]["amount"] == total["totalTokens"] * 0.5
    ended: Json = {"sessionUpdate": "_turn", "state": "idle", **answer["result"]}
    begun: Json = {"sessionUpdate": "_session", "agent": "rookery", "model": "dear"}
    _, rows = meter.read("s", {}, log(begun | {"confirmed": True}, spent, ended))
    by = {(row.model, row.turns): (row.input, row.cost) for row in rows}
    assert by["cheap", 0][0] or by["cheap", 0][1]
    assert by["dear", 1] == (0, 0.0)
    assert sum(row.input for row in rows) == total["inputTokens"]
    assert {row.model for row in rows if row.cost} == {"cheap"}
