"""Sub-agents under a real worker: logged as they work, never as the agent, whole after a kill."""

import pytest

from rookery.client.session import Rejected
from rookery.core.blocks.document import Document
from rookery.core.json.events import Event, kind_of
from rookery.core.view.reduce import fold
from rookery.processes import tree
from tests.worker.aviary import Aviary, Json, is_ask, is_idle, text_of


def about(name: str, state: str, **fields: object) -> Json:
    given = {"state": {"state": state, **({"stopReason": "end_turn"} if state == "idle" else {})}}
    return {"update": {"sessionUpdate": "subagent_update", "sessionId": name, **given, **fields}}


def child(name: str, *steps: Json) -> Json:
    return {"child": name, "steps": list(steps)}


def is_childs(event: Event, words: str) -> bool:
    return kind_of(event.update) == "_child" and words in str(event.update["update"])


def shown(events: list[Event]) -> Document:
    return fold(None, events)


def roles(document: Document) -> list[tuple[str, str]]:
    return [(block["role"], block["title"] or block["text"]) for block in document.blocks.values()]


async def test_what_a_sub_agent_says_is_logged_as_its_own(aviary: Aviary) -> None:
    bird = aviary.hatch()
    events = await bird.turn(
        [
            {"text": "I ask someone."},
            about("s1", "running", title="Count"),
            child("s1", {"text": "I count them now.", "chunks": 4}, {"tool": "ls"}),
            child("s1", {"text": "Twelve."}),
            about("s1", "idle"),
            {"text": "They are twelve."},
        ]
    )
    assert text_of(events) == "I ask someone.They are twelve."
    assert bird.header().last == "They are twelve."
    assert "raw" not in [role for role, _ in roles(shown(bird.events()))]
    [head, *_] = [b for b in shown(bird.events()).blocks.values() if b["role"] == "tool"]
    assert (head["title"], head["status"], head["calls"]) == ("Count", "done", 1)
    assert head["result"] == "Twelve."


async def test_one_is_cancelled_and_the_turn_goes_on(aviary: Aviary) -> None:
    """By the action of its block, which is there while it works; its agent is told its session."""
    bird = aviary.hatch()
    begun = await bird.prompt(
        [
            about("s1", "running", title="Count", capabilities={"cancel": {}}),
            about("s2", "running", title="Alone"),
            child("s1", {"text": "one two"}, {"until": "cancel"}),
            about("s1", "idle"),
            {"text": "I go on."},
        ]
    )
    await bird.until(lambda event: is_childs(event, "one two"), begun.seq)
    working = shown(bird.events()).blocks.values()
    offers = {each["title"]: each["actions"] for each in working if each["role"] == "tool"}
    assert offers["Alone"] == []
    [cancel] = offers["Count"]
    for name in ("s2", "stranger"):
        with pytest.raises(Rejected) as told:
            await bird.send("cancel_subagent", subagent=name)
        assert told.value.reason == "no_subagent"
    await bird.send(**cancel["command"])
    assert (await bird.ended(begun)).update["reason"] == "end_turn"
    events = bird.events(begun.seq)
    assert text_of(events) == "I go on."
    assert all(each["actions"] == [] for each in shown(events).blocks.values())


async def test_an_update_of_a_session_that_nobody_announced_is_kept_raw(aviary: Aviary) -> None:
    bird = aviary.hatch()
    events = await bird.turn([child("stranger", {"text": "who?"}), {"text": "me"}])
    assert text_of(events) == "me"
    assert "an update for another session" in [title for _, title in roles(shown(events))]


async def test_a_worker_killed_in_mid_stream_leaves_the_same_document_on_replay(
    aviary: Aviary,
) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt(
        [
            about("s1", "running", title="Count"),
            child("s1", {"tool": "ls", "status": "in_progress"}, {"text": "one two "}),
            child("s1", {"text": "three", "chunks": 2}, {"until": "cancel"}),
        ]
    )
    await bird.until(lambda event: is_childs(event, "three"), begun.seq)
    before = shown(bird.events())
    tree.kill([bird.worker])
    await bird.until(is_idle, begun.seq)
    events = bird.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    after = shown(events)
    said = [block["text"] for block in after.blocks.values() if block["role"] == "message"]
    assert "".join(said) == "one two three"
    assert {name: block["parent"] for name, block in before.blocks.items()}.items() <= {
        name: block["parent"] for name, block in after.blocks.items()
    }.items()
    statuses = [block["status"] for block in after.blocks.values() if block["role"] == "tool"]
    assert statuses == ["interrupted", "interrupted"]
    turn = await bird.turn([{"text": "here again"}])
    assert text_of(turn) == "here again"


async def test_a_permission_request_says_which_sub_agent_asks(aviary: Aviary) -> None:
    """Two of them use the same id for their calls: each is asked about by what it does."""
    bird = aviary.hatch()
    begun = await bird.prompt(
        [
            about("s1", "running", title="Tidy"),
            about("s2", "running", title="Other"),
            child("s2", {"tool": "rm two", "toolCallId": "1", "kind": "execute"}),
            child("s1", {"ask": "rm one", "toolCallId": "1", "kind": "execute"}),
            {"text": "done"},
        ]
    )
    asked = await bird.until(is_ask, begun.seq)
    document = shown(bird.events())
    [block] = [each for each in document.blocks.values() if each["role"] == "ask"]
    assert block["agent"].startswith("Tidy (sub-agent of ")
    assert document.blocks[block["parent"]]["title"] == "rm one"
    await bird.answer(asked.update, asked.update["options"][0]["optionId"])
    await bird.ended(begun)
