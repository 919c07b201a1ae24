"""The bridge's own part of a prompt: attachments, the queue, and how an end is answered."""

import hashlib
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rookery.client import fleet
from rookery.home import paths
from rookery.log.reader import Reader
from tests.acp.bridging import ALLOW, FORMS, asked, is_call
from tests.acp.doors import BRIDGE, Door
from tests.acp.driving import Agent, Json, texts
from tests.acp.whole_session import HERE
from tests.cli.driving import rookery

TEXT: Json = {"type": "text", "text": "look"}


@pytest.fixture
async def bridge(home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(BRIDGE, home, tmp_path)
    yield door
    await door.end()


async def send(agent: Agent, session: str, *blocks: Json) -> Json:
    return await agent.answer(agent.ask("session/prompt", sessionId=session, prompt=blocks))


BLOCKS: list[tuple[Json, Json, str]] = [
    ({"image": True}, {"type": "image", "mimeType": "image/png", "data": "AAAA"}, "end_turn"),
    (
        {"image": False},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        "does not accept images",
    ),
    ({"audio": True}, {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}, "not supported"),
    (
        {"embeddedContext": False},
        {"type": "resource", "resource": {"uri": "file:///x", "text": "x"}},
        "end_turn",
    ),
]


@pytest.mark.parametrize(("takes", "block", "expected"), BLOCKS, ids=str)
async def test_content_the_agent_does_not_take_is_refused_or_sent_as_a_link(
    bridge: Door, takes: Json, block: Json, expected: str
) -> None:
    """We say what we take before there is an agent; what that one does not take is told clearly,
    or sent as a link."""
    agent = await bridge.start({"agent": {"capabilities": {"promptCapabilities": takes}}})
    answer = await agent.call("initialize", protocolVersion=1)
    said = {"image": True, "audio": False, "embeddedContext": True}
    assert answer["agentCapabilities"]["promptCapabilities"] == said
    session = await agent.new()
    answer = await send(agent, session, TEXT, block)
    assert expected in str(answer)
    assert "result" in answer or answer["error"]["code"] == -32602
    assert "result" in await agent.turn(session, "next")


async def test_large_attachments_are_kept_beside_the_log(bridge: Door, home: Path) -> None:
    """Staged by us, kept as blobs by the worker, told again whole."""
    agent = await bridge.open()
    session = await agent.new()
    image, text = bytes(range(256)) * 400, "é" * 50_000
    blocks: list[Json] = [
        {"type": "image", "mimeType": "image/png", "data": b64encode(image).decode()},
        {"type": "resource", "resource": {"uri": "file:///big.txt", "text": text}},
        TEXT,
    ]
    assert (await send(agent, session, *blocks))["result"]["stopReason"] == "end_turn"
    with Reader.open(paths.session_dir(str(home), session)) as log:
        assert log.blob(hashlib.sha256(image).hexdigest()) == image
        assert max(len(str(event.update)) for event in log.read(0)) < 5000
    again = await bridge.open()
    await again.call("session/load", sessionId=session, **HERE)
    told = [u for u in again.news(session) if u["sessionUpdate"] == "user_message_chunk"]
    assert [u["content"] for u in told] == blocks
    assert len({u["messageId"] for u in told}) == 1


async def test_a_cancel_takes_back_what_waits(bridge: Door) -> None:
    """Of three prompts none is lost, and none runs after the cancel."""
    agent = await bridge.open()
    session = await agent.new()
    first = agent.prompt(session, [{"ask": "Go on?"}])
    await asked(agent)
    rest = [agent.prompt(session, [{"text": "never"}]) for _ in range(2)]
    agent.notify("session/cancel", sessionId=session)
    for id in (first, *rest):
        assert (await agent.answer(id))["result"] == {"stopReason": "cancelled"}
    assert (await agent.turn(session, [{"text": "next"}]))["result"]["stopReason"] == "end_turn"
    assert "never" not in texts([u for u in agent.news(session) if "content" in u])


async def test_what_waits_goes_on_after_a_failure(bridge: Door) -> None:
    """A held queue waits for a user's key; an editor has none, so its prompt is sent."""
    agent = await bridge.open()
    session = await agent.new()
    failing = agent.prompt(session, [{"ask": "Go on?"}, {"error": "The model is away."}])
    dialog = await asked(agent)
    waiting = agent.prompt(session, [{"text": "second"}])
    agent.send(id=dialog["id"], result=ALLOW)
    error = (await agent.answer(failing))["error"]
    assert error["message"].startswith("The model is away.")
    assert error["data"]["reason"] == "failed"
    assert (await agent.answer(waiting))["result"]["stopReason"] == "end_turn"


async def test_a_waiting_prompt_is_withdrawn_by_cancel_request(bridge: Door) -> None:
    agent = await bridge.open()
    session = await agent.new()
    first = agent.prompt(session, [{"ask": "Go on?"}])
    dialog = await asked(agent)
    second = agent.prompt(session, [{"text": "never"}])
    agent.notify("$/cancel_request", requestId=second)
    assert (await agent.answer(second))["result"]["stopReason"] == "cancelled"
    agent.send(id=dialog["id"], result=ALLOW)
    assert (await agent.answer(first))["result"]["stopReason"] == "end_turn"


async def test_rate_limits_are_told_as_such(bridge: Door) -> None:
    agent = await bridge.open()
    session = await agent.new()
    answer = await agent.turn(session, [{"rate_limit": "2030-01-01T00:00:00Z"}])
    data = answer["error"]["data"]
    assert (data["errorKind"], data["resetsAt"]) == ("rate_limit", "2030-01-01T00:00:00Z")


async def test_the_agent_dies(bridge: Door) -> None:
    """An error in plain words, and the next prompt works."""
    agent = await bridge.open()
    session = await agent.new()
    answer = await agent.turn(session, [{"text": "on"}, {"crash": 3}])
    assert answer["error"]["code"] == -32603
    assert "agent exited" in answer["error"]["message"]
    assert (await agent.turn(session, "next"))["result"]["stopReason"] == "end_turn"


async def test_the_worker_dies(bridge: Door, home: Path) -> None:
    agent = await bridge.open()
    session = await agent.new()
    id = agent.prompt(session, [{"text": "on"}, {"until": "cancel"}])
    await agent.until(lambda line: "'on'" in str(line))
    fleet.kill(str(home), session)
    assert "interrupted" in (await agent.answer(id))["error"]["message"]
    assert (await agent.turn(session, "next"))["result"]["stopReason"] == "end_turn"


async def test_a_form_is_shown_and_checked(bridge: Door) -> None:
    """An answer that the form does not take is asked for again, with the reason."""
    agent = await bridge.open(**FORMS)
    session = await agent.new()
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    asking = {"question": {"message": "How many?", "schema": schema}}
    id = agent.prompt(session, [{**asking, "accepted": [{"text": "$answer"}]}])
    form = await agent.until(is_call("elicitation/create"))
    assert form["params"]["message"] == "How many?"
    agent.send(id=form["id"], result={"action": "accept", "content": {"n": "x"}})
    form = await agent.until(is_call("elicitation/create"))
    assert "n must be a number" in form["params"]["message"]
    agent.send(id=form["id"], result={"action": "accept", "content": {"n": 3}})
    await agent.answer(id)
    assert '{"n":3}' in texts(agent.news(session))


async def test_a_form_that_an_editor_cannot_show(bridge: Door) -> None:
    """Of a turn that is not its own it stays open for who can; the editor is told."""
    agent, other = await bridge.open(), await bridge.open(**FORMS)
    session = await agent.new()
    await other.call("session/load", sessionId=session, **HERE)
    id = other.prompt(session, [{"question": "Which colour?", "accepted": [{"text": "thanks"}]}])
    form = await other.until(is_call("elicitation/create"))
    await agent.until(lambda line: "rookery answer" in str(line))
    assert rookery("answer", session).code == 0
    other.send(id=form["id"], result={"action": "accept", "content": {"answer": "blue"}})
    assert (await other.answer(id))["result"]["stopReason"] == "end_turn"
    assert "thanks" in texts(other.news(session))


async def test_a_prompt_right_after_a_cancel(bridge: Door) -> None:
    """It came later, and is not cancelled, although the turn has not ended yet."""
    agent = await bridge.open()
    session = await agent.new()
    for _ in range(5):
        first = agent.prompt(session, [{"text": "on"}, {"until": "cancel"}])
        await agent.until(lambda line: "'on'" in str(line))
        agent.notify("session/cancel", sessionId=session)
        second = agent.prompt(session, [{"text": "next"}])
        assert (await agent.answer(first))["result"]["stopReason"] == "cancelled"
        assert (await agent.answer(second))["result"]["stopReason"] == "end_turn"


LISTENS: list[Json] = [
    {"text": "working"},
    {"until": "steer", "then": [{"text": ", heard: $steered"}]},
    {"text": "."},
]
WAITS = "Queued: sent when the running turn has ended."


async def test_a_prompt_during_a_turn_steers_it_where_the_agent_can(bridge: Door) -> None:
    agent = await bridge.start({"agent": {"steering": True}})
    await agent.call("initialize", protocolVersion=1)
    session = await agent.new()
    first = agent.prompt(session, LISTENS)
    await agent.until(lambda line: "working" in str(line))
    second = agent.prompt(session, "to the left")
    for id in (first, second):
        assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"
    said = "".join(texts(agent.news(session)))
    assert "heard: to the left" in said
    assert WAITS not in said


async def test_a_prompt_that_cannot_steer_is_queued_and_the_editor_is_told(
    bridge: Door,
) -> None:
    agent = await bridge.open()
    session = await agent.new()
    first = agent.prompt(session, [{"ask": "Go on?"}])
    dialog = await asked(agent)
    second = agent.prompt(session, [{"text": "second"}])
    await agent.until(lambda line: WAITS in str(line))
    agent.send(id=dialog["id"], result=ALLOW)
    for id in (first, second):
        assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"


async def test_an_editor_is_told_when_the_agent_refuses_a_steer(bridge: Door) -> None:
    """The agent said that it can, and takes none: the prompt is queued, and sent after the turn."""
    agent = await bridge.start({"agent": {"steering": "refused"}})
    await agent.call("initialize", protocolVersion=1)
    session = await agent.new()
    first = agent.prompt(session, [{"ask": "Go on?"}])
    dialog = await asked(agent)
    second = agent.prompt(session, [{"text": "second"}])
    await agent.until(lambda line: WAITS in str(line))
    agent.send(id=dialog["id"], result=ALLOW)
    for id in (first, second):
        assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"
    said = "".join(texts(agent.news(session)))
    assert said.index(WAITS) < said.index("second")
    assert said.count(WAITS) == 1


async def test_an_editor_may_have_its_prompt_queued(bridge: Door) -> None:
    agent = await bridge.start({"agent": {"steering": True}})
    await agent.call("initialize", protocolVersion=1)
    session = await agent.new()
    first = agent.prompt(session, [{"ask": "Go on?"}])
    dialog = await asked(agent)
    block: Json = {"type": "text", "text": '{"play": [{"text": "second"}]}'}
    meta = {"rookery": {"steer": False}}
    second = agent.ask("session/prompt", sessionId=session, prompt=[block], _meta=meta)
    await agent.until(lambda line: WAITS in str(line))
    agent.send(id=dialog["id"], result=ALLOW)
    for id in (first, second):
        assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"


async def test_the_editor_hears_of_the_queue_after_the_agents_sentence(bridge: Door) -> None:
    agent = await bridge.start({"agent": {"steering": True}})
    await agent.call("initialize", protocolVersion=1)
    session = await agent.new()
    sentence = [{"text": "In the middle"}, {"until": "steer", "then": [{"text": " of it."}]}]
    first = agent.prompt(session, sentence)
    chunk = {"type": "text", "text": "In the middle"}  # the session's title has these words, too
    await agent.until(lambda line: str(chunk) in str(line))
    block: Json = {"type": "text", "text": '{"play": [{"text": "second"}]}'}
    meta = {"rookery": {"steer": False}}
    second = agent.ask("session/prompt", sessionId=session, prompt=[block], _meta=meta)
    third = agent.prompt(session, "go on")
    for id in (first, third, second):
        assert (await agent.answer(id))["result"]["stopReason"] == "end_turn"
    said = "".join(texts(agent.news(session)))
    assert said.index("In the middle of it.") < said.index(WAITS) < said.index("second")
