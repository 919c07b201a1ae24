"""How a turn ends where the model does not end it: cut short, refused, failed, asked again (issue
11, lines 11 and 12), in each of the four dialects."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent, Json
from tests.agent.driving import run
from tests.agent.speaking import DIALECTS, Talk, saved

pytestmark = pytest.mark.asyncio(loop_scope="session")

TALKS: dict[str, Talk] = {}


@pytest.fixture(scope="module", autouse=True)
def dialects(agent_home: Path, model: ScriptedModel) -> Iterator[None]:
    with saved(agent_home, model):
        yield
    TALKS.clear()


@pytest_asyncio.fixture(loop_scope="session", params=DIALECTS)
async def talk(
    request: pytest.FixtureRequest, agent: Agent, model: ScriptedModel, tmp_path: Path
) -> Talk:
    if request.param not in TALKS:
        TALKS[request.param] = await Talk.begin(agent, model, request.param, tmp_path)
    return TALKS[request.param]


# --- stop reasons ------------------------------------------------------------------------------


async def test_I11_11_an_answer_that_is_cut_off_says_so(talk: Talk) -> None:
    seen = await talk.turn({"text": "Half of it", "finish": "length"})
    assert (seen.stop, seen.error) == ("max_tokens", "")
    assert seen.words.startswith("Half of it")
    assert "the most tokens" in seen.words
    assert (await talk.turn("On")).stop == "end_turn"


async def test_I11_11_thoughts_that_are_cut_off_end_the_turn(talk: Talk) -> None:
    """The SDK would ask again until it says that it repeats itself."""
    seen = await talk.turn({"thought": "Hm hm", "finish": "length"}, "Never said")
    assert (seen.stop, len(seen.asked)) == ("max_tokens", 1)
    assert "the most tokens" in seen.words
    assert "Never said" not in seen.words


async def test_I11_11_a_call_that_is_cut_off_is_not_run(talk: Talk) -> None:
    cut: Json = {"name": "terminal", "arguments": '{"command": "echo cut", "secu'}
    seen = await talk.turn({"text": "Now.", "call": cut, "finish": "length"}, "Never said")
    if "gemini" in seen.asked[0].path:  # there arguments are an object, or they are not
        return
    assert (seen.stop, len(seen.asked)) == ("max_tokens", 1)
    assert {call["status"] for call in seen.calls} <= {"failed"}
    assert (await talk.turn("On")).words == "On"


async def test_I11_11_a_refusal_has_its_words(talk: Talk) -> None:
    seen = await talk.turn({"refusal": "I will not do that."})
    assert (seen.stop, seen.words) == ("refusal", "I will not do that.")
    assert len(seen.asked) == 1
    assert (await talk.turn("On")).stop == "end_turn"


async def test_I11_11_a_content_filter_is_a_refusal(talk: Talk) -> None:
    seen = await talk.turn({"finish": "content_filter"}, "Never said")
    assert (seen.stop, len(seen.asked)) == ("refusal", 1)
    assert "content filter" in seen.words
    seen = await talk.turn({"text": "I begin", "finish": "content_filter"}, "Never said")
    assert (seen.stop, len(seen.asked)) == ("refusal", 1)
    assert seen.words.startswith("I begin")


async def test_I11_11_a_filter_that_refuses_the_request(talk: Talk) -> None:
    error = {"status": 400, "message": "Output blocked by content filtering policy"}
    seen = await talk.turn({"error": error, "times": 9})
    assert (seen.stop, len(seen.asked)) == ("refusal", 1)
    assert "Output blocked by content filtering policy" in seen.words


@pytest.mark.parametrize("text", ["", "  \n\t "])
async def test_I11_11_an_empty_prompt_is_refused(agent: Agent, tmp_path: Path, text: str) -> None:
    session = await agent.new(str(tmp_path))
    answer = await agent.turn(session, text)
    assert answer["error"]["code"] == -32602
    assert "empty" in answer["error"]["message"]


# --- errors ------------------------------------------------------------------------------------

ONCE = {
    "key": (401, "Incorrect API key provided", "auth", "rookery setup"),
    "forbidden": (403, "Your region is not supported", "auth", "what this key may use"),
    "model": (404, "No model of that name", "provider", "The model's provider knows no such"),
    "payment": (402, "Payment is required", "rate_limit", "Add credit"),
    "quota": (429, "You exceeded your current quota, see your plan", "rate_limit", "Add credit"),
    "credit": (400, "Your credit balance is too low, see Billing", "rate_limit", "Add credit"),
    "history": (400, "messages.3.content.0: Invalid block", "provider", "/rewind"),
}
"""Status, the provider's words, the kind that clients act on, and what is to be done."""
CLUTTER = ("litellm", "Exception", "Error:", "b'", "{", "<", "Traceback")


@pytest.mark.parametrize("name", ONCE)
async def test_I11_12_what_does_not_help_is_not_tried_again(talk: Talk, name: str) -> None:
    status, said, kind, remedy = ONCE[name]
    error: Json = {"status": status, "message": said}
    seen = await talk.turn({"error": error, "times": 9})
    assert len(seen.asked) == 1
    assert seen.data["errorKind"] == kind
    assert remedy in seen.error
    assert seen.error.endswith(said)
    assert not [sign for sign in CLUTTER if sign in seen.error]
    assert (await talk.turn("On")).words == "On"


async def test_I11_12_retry_after_is_obeyed(talk: Talk) -> None:
    limit: Json = {"status": 429, "message": "Slow down", "retry_after": 0.3}
    seen = await talk.turn({"error": limit}, "There")
    assert seen.words == "There"
    first, second = seen.asked
    assert second.received - first.received >= 0.3e9
    told = [u["_meta"]["rookery"]["retry"] for u in seen.updates if "retry" in str(u.get("_meta"))]
    assert [one["in"] for one in told] == [0.3]


async def test_I11_12_a_long_wait_is_told_instead(talk: Talk) -> None:
    limit: Json = {"status": 429, "message": "Slow down", "retry_after": 600}
    seen = await talk.turn({"error": limit, "times": 9})
    assert len(seen.asked) == 1
    assert seen.data == {"errorKind": "rate_limit", "retryAfter": 600.0}


async def test_I11_12_overloaded_is_tried_again(talk: Talk) -> None:
    error: Json = {"status": 503, "message": "The model is overloaded."}
    seen = await talk.turn({"error": error, "times": 2}, "There")
    assert (seen.words, len(seen.asked)) == ("There", 3)
    assert "Trying again" in seen.thoughts


@pytest.mark.parametrize("how", ["error", "drop"])
async def test_I11_12_half_an_answer_is_taken_back(talk: Talk, how: str) -> None:
    """An error in mid-stream, or a connection that breaks."""
    half: Json = {"text": "Half of it. ", "thought": "Hm"}
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


async def test_I11_12_an_error_in_mid_stream_that_stays(talk: Talk) -> None:
    error: Json = {"status": 401, "message": "The key was withdrawn"}
    seen = await talk.turn({"text": "Half of it", "error": error, "after": 1, "times": 9})
    assert seen.error
    assert not [sign for sign in CLUTTER if sign in seen.error]
    assert (await talk.turn("On")).words == "On"


async def test_I11_12_a_page_of_a_proxys_is_not_shown(talk: Talk) -> None:
    page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>x</body></html>"
    seen = await talk.turn({"error": {"status": 502, "body": page}, "times": 9})
    assert len(seen.asked) == 3
    assert "<" not in seen.error
    assert "/model" in seen.error


async def test_I11_12_too_long_a_conversation(talk: Talk) -> None:
    error: Json = {
        "status": 400,
        "message": "prompt is too long: 210000 tokens > 200000 maximum. Please reduce the length of"
        " the messages.",
        "code": "context_length_exceeded",
    }
    seen = await talk.turn(run("true"), {"error": error, "times": 99})
    assert seen.data["errorKind"] == "context"
    assert len(seen.asked) <= 6
