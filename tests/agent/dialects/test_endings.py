"""How a turn ends where the model does not end it: cut short, refused, failed, asked again, in each
of the four dialects."""

import json
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel, serving
from tests.acp.driving import Agent, Json
from tests.agent.dialects.speaking import DIALECTS, Talk, models, saved
from tests.core.making import play

pytestmark = pytest.mark.asyncio(loop_scope="session")


# --- stop reasons ------------------------------------------------------------------------------


async def test_a_truncated_answer_says_so(talk: Talk) -> None:
    seen = await talk.turn({"text": "Half of it", "finish": "length"})
    assert (seen.stop, seen.error) == ("max_tokens", "")
    assert seen.words.startswith("Half of it")
    assert "output limit" in seen.words
    assert (await talk.turn("On")).stop == "end_turn"


async def test_truncated_thoughts_end_the_turn(talk: Talk) -> None:
    """The SDK would ask again until it says that it repeats itself."""
    seen = await talk.turn({"thought": "Hm hm", "finish": "length"}, "Never said")
    assert (seen.stop, len(seen.asked)) == ("max_tokens", 1)
    assert "output limit" in seen.words
    assert "Never said" not in seen.words


async def test_a_truncated_call_is_not_run(talk: Talk) -> None:
    cut: Json = {"name": "terminal", "arguments": '{"command": "echo cut", "secu'}
    seen = await talk.turn({"text": "Now.", "call": cut, "finish": "length"}, "Never said")
    if "gemini" in seen.asked[0].path:  # there arguments are an object, or they are not
        return
    assert (seen.stop, len(seen.asked)) == ("max_tokens", 1)
    assert {call["status"] for call in seen.calls} <= {"failed"}
    assert (await talk.turn("On")).words == "On"


async def test_a_refusal_shows_the_models_words(talk: Talk) -> None:
    seen = await talk.turn({"refusal": "I will not do that."})
    assert (seen.stop, seen.words) == ("refusal", "I will not do that.")
    assert len(seen.asked) == 1
    await talk.choose("streaming", "off")
    try:
        seen = await talk.turn({"refusal": "Nor that."})
    finally:
        await talk.choose("streaming", "on")
    assert seen.stop == "refusal"
    if "gemini" not in seen.asked[0].path:  # the library keeps no words of such a one
        assert seen.words == "Nor that."
    assert (await talk.turn("On")).stop == "end_turn"


async def test_a_content_filter_is_a_refusal(talk: Talk) -> None:
    seen = await talk.turn({"finish": "content_filter"}, "Never said")
    assert (seen.stop, len(seen.asked)) == ("refusal", 1)
    assert "content filter" in seen.words
    seen = await talk.turn({"text": "I begin", "finish": "content_filter"}, "Never said")
    assert (seen.stop, len(seen.asked)) == ("refusal", 1)
    assert seen.words.startswith("I begin")


async def test_a_filtered_request_is_a_refusal(talk: Talk) -> None:
    error = {"status": 400, "message": "Output blocked by content filtering policy"}
    seen = await talk.turn({"error": error, "times": 9})
    assert (seen.stop, len(seen.asked)) == ("refusal", 1)
    assert "Output blocked by content filtering policy" in seen.words


@pytest.mark.parametrize("text", ["", "  \n\t "])
async def test_an_empty_prompt_is_refused(agent: Agent, tmp_path: Path, text: str) -> None:
    session = await agent.new(str(tmp_path))
    answer = await agent.turn(session, text)
    assert answer["error"]["code"] == -32602
    assert "empty" in answer["error"]["message"]


# --- errors ------------------------------------------------------------------------------------

ONCE = {
    "key": (401, "Incorrect API key provided", "auth", "rookery setup"),
    "forbidden": (403, "Your region is not supported", "auth", "what this key may use"),
    "model": (404, "No model of that name", "provider", "The model's provider does not have this"),
    "payment": (402, "Payment is required", "rate_limit", "Add credit"),
    "quota": (429, "You exceeded your current quota, see your plan", "rate_limit", "Add credit"),
    "credit": (400, "Your credit balance is too low, see Billing", "rate_limit", "Add credit"),
    "history": (400, "messages.3.content.0: Invalid block", "provider", "/rewind"),
}
"""Status, the provider's words, the kind that clients act on, and what is to be done."""
CLUTTER = ("litellm", "Exception", "Error:", "b'", "{", "<", "Traceback")


@pytest.mark.parametrize("name", ONCE)
async def test_final_errors_are_not_retried(talk: Talk, name: str) -> None:
    status, said, kind, remedy = ONCE[name]
    error: Json = {"status": status, "message": said}
    seen = await talk.turn({"error": error, "times": 9})
    assert len(seen.asked) == 1
    assert seen.data["errorKind"] == kind
    assert remedy in seen.error
    assert seen.error.endswith(said)
    assert not [sign for sign in CLUTTER if sign in seen.error]
    assert (await talk.turn("On")).words == "On"


async def test_retry_after_is_obeyed(talk: Talk) -> None:
    limit: Json = {"status": 429, "message": "Slow down", "retry_after": 0.3}
    seen = await talk.turn({"error": limit}, "There")
    assert seen.words == "There"
    first, second = seen.asked
    assert second.received - first.received >= 0.3e9
    told = [u["_meta"]["rookery"]["retry"] for u in seen.updates if "retry" in str(u.get("_meta"))]
    assert [one["in"] for one in told] == [0.3]


async def test_a_long_retry_after_is_reported_not_waited_for(talk: Talk) -> None:
    limit: Json = {"status": 429, "message": "Slow down", "retry_after": 600}
    seen = await talk.turn({"error": limit, "times": 9})
    assert len(seen.asked) == 1
    assert seen.data == {"errorKind": "rate_limit", "retryAfter": 600.0}


async def test_an_overloaded_provider_is_retried(talk: Talk) -> None:
    error: Json = {"status": 503, "message": "The model is overloaded."}
    seen = await talk.turn({"error": error, "times": 2}, "There")
    assert (seen.words, len(seen.asked)) == ("There", 3)
    assert "Trying again" in seen.thoughts


async def test_half_a_thought_is_withdrawn_on_retry(talk: Talk) -> None:
    """With the words behind it: each by an empty chunk of its message, and nothing is left."""
    half: Json = {"thought": "Let me see now", "text": "Half of it is. "}
    half |= {"error": {"status": 503, "message": "Overloaded"}, "after": 6}
    seen = await talk.turn(half, {"thought": "Now I see", "text": "The whole"})
    assert (seen.error, seen.stop) == ("", "end_turn")
    assert seen.thoughts.startswith("Let me see now")
    shown = play(*seen.updates).blocks.values()
    said = [(each["role"], each["text"]) for each in shown if "Trying again" not in each["text"]]
    assert said == [("thought", "Now I see"), ("answer", "The whole")]


@pytest.mark.parametrize("how", ["error", "drop"])
async def test_half_an_answer_is_withdrawn_on_retry(talk: Talk, how: str) -> None:
    """An error in mid-stream, or a connection that breaks."""
    half: Json = {"text": "Half of it is. "}
    if how == "error":
        half |= {"error": {"status": 503, "message": "Overloaded"}, "after": 3}
    else:
        half |= {"drop": 3}
    seen = await talk.turn(half, "The whole")
    assert (seen.error, seen.stop) == ("", "end_turn")
    assert len(seen.asked) == 2
    answers = [u for u in seen.updates if u["sessionUpdate"] == "agent_message_chunk"]
    back = [at for at, u in enumerate(answers) if "takenBack" in str(u.get("_meta"))]
    assert len(back) == 1
    assert answers[back[0]]["messageId"] == answers[0]["messageId"]
    after = answers[back[0] + 1 :]
    assert "".join(u["content"]["text"] for u in after) == "The whole"
    assert {u["messageId"] for u in after}.isdisjoint({answers[0]["messageId"]})


async def test_a_lasting_error_in_mid_stream_fails_the_turn(talk: Talk) -> None:
    error: Json = {"status": 401, "message": "The key was withdrawn"}
    seen = await talk.turn({"text": "Half of it", "error": error, "after": 1, "times": 9})
    assert seen.error
    assert not [sign for sign in CLUTTER if sign in seen.error], seen.error
    assert (await talk.turn("On")).words == "On"


async def test_a_proxys_html_error_page_is_not_shown(talk: Talk) -> None:
    page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>x</body></html>"
    seen = await talk.turn({"error": {"status": 502, "body": page}, "times": 9})
    assert len(seen.asked) == 3
    assert "<" not in seen.error
    assert "again" in seen.error


LONG = {
    "chat": "This model's maximum context length is 128000 tokens. However, you requested 130000.",
    "responses": "Your input exceeds the context window of this model. Please adjust your input.",
    "anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed "
    "(1048576).",
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_incompressible_prompt_is_not_retried_for_ever(
    agent: Agent, provider: ScriptedModel, tmp_path: Path, dialect: str
) -> None:
    """A local model with a small window made 500 requests for "hello"."""
    said = "prompt is too long: 9000 tokens > 2048 maximum"
    if dialect in ("chat", "responses"):
        said = "This model's maximum context length is 2048 tokens. You requested 9000 tokens."
    error: Json = {"status": 400, "message": said}
    error |= {"code": "context_length_exceeded"} if dialect in ("chat", "responses") else {}
    talk = await Talk.begin(agent, provider, dialect, tmp_path)
    seen = await talk.turn({"error": error, "times": 99})
    assert seen.data["errorKind"] == "context"
    assert "tokens, this model has 2,048" in seen.error
    assert "/model" in seen.error
    assert len(seen.asked) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_turn_ends_when_condensing_did_not_help(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path, dialect: str
) -> None:
    """The provider finds it too long also after it was condensed: a few requests, and words that
    say what to do; the session goes on with another model."""
    error: Json = {"status": 400, "message": LONG[dialect]}
    error |= {"code": "context_length_exceeded"} if dialect in ("chat", "responses") else {}
    turns = ["Answer 1", "Answer 2", "Answer 3", *[{"error": error}] * 30]
    with serving({"turns": turns, "by": "request"}) as strict:
        stuck = models(strict)[dialect]
        with saved(agent_home, provider, stuck=stuck):
            talk = await Talk.begin(agent, strict, "stuck", tmp_path)
            for number in range(3):
                assert (await talk.say("word")).words == f"Answer {number + 1}"
            seen = await talk.say("word")
            assert "condensed" in seen.thoughts
            assert seen.data["errorKind"] == "context"
            assert seen.error.startswith("This needs ")
            assert "/model" in seen.error
            assert not [sign for sign in CLUTTER if sign in seen.error]
            assert len(seen.asked) <= 8
            await talk.choose("model", dialect)
            talk.model = provider
            assert (await talk.turn("On")).words == "On"


async def test_a_model_with_too_small_a_window_is_not_asked(
    agent: Agent, agent_home: Path, provider: ScriptedModel, tmp_path: Path
) -> None:
    """A model that is known to be too small is not asked at all; one that is small has fewer
    tools."""
    base = models(provider)["chat"]
    tiny, small = (base | {"max_input_tokens": size} for size in (1000, 30_000))
    with saved(agent_home, provider, tiny=tiny, small=small):
        for name in ("tiny", "small"):
            document = json.loads((agent_home / "agent_settings.json").read_text())
            document["default"] = name
            (agent_home / "agent_settings.json").write_text(json.dumps(document))
            talk = Talk(agent, provider, await agent.new(str(tmp_path)))
            seen = await talk.say("hello")
            if name == "tiny":
                assert "tokens, this model has 1,000" in seen.error
                assert seen.asked == []
            else:
                tools = {tool["function"]["name"] for tool in seen.asked[0].body["tools"]}
                assert "terminal" in tools
                assert not {"task", "task_tracker"} & tools
                assert seen.words == "You said: hello"


async def test_only_efforts_that_the_model_takes_are_offered(
    agent: Agent, provider: ScriptedModel, tmp_path: Path
) -> None:
    session = await agent.new(str(tmp_path))
    taken = {}
    for dialect in DIALECTS:
        params = {"sessionId": session, "configId": "model", "value": dialect}
        told = await agent.call("session/set_config_option", **params)
        effort = next(option for option in told["configOptions"] if option["id"] == "effort")
        taken[dialect] = [value["value"] for value in effort["options"]]
    assert taken["chat"] == ["default", "none", "low", "medium", "high", "xhigh"]  # unknown
    assert taken["responses"] == ["default", "low", "medium", "high"]
    assert taken["gemini"] == ["default", "none", "low", "medium", "high"]
