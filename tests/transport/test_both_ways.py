"""One behaviour, over files and sockets and over another machine's daemon."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from rookery.client.attach import Attachment
from rookery.client.fleet import Ambiguous, UnknownSession
from rookery.client.reading import excerpt
from rookery.core.blocks import Block
from rookery.core.json import Event, Json, kind_of
from rookery.core.policy.unattended import Order
from rookery.core.refusals import NotAgreed, Refused
from rookery.core.view.reduce import fold
from rookery.log.errors import NoSession
from rookery.operations.calling.interface import Session
from tests.transport.conftest import Way

PATIENCE = 120.0


def play(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": json.dumps({"play": steps})}]


def create(way: Way, **given: Any) -> str:
    return way.rookery.create(**{"agent": "demo", "cwd": way.work, **given})


def is_end(event: Event) -> bool:
    return kind_of(event.update) == "_turn" and event.update["state"] == "idle"


async def events_until_end(client: Session, since: int = 0) -> list[Event]:
    found = []
    async with asyncio.timeout(PATIENCE):
        async with aclosing(client.follow(since)) as events:  # type: ignore[type-var]
            async for event in events:
                found.append(event)
                if is_end(event):
                    return found
    raise AssertionError("it did not end")


async def asked(client: Session) -> tuple[str, dict[str, Any]]:
    """The first open ask."""
    async with asyncio.timeout(PATIENCE):
        async with aclosing(client.follow()) as events:  # type: ignore[type-var]
            async for event in events:
                if kind_of(event.update) == "_ask":
                    break
    asks = (await asyncio.to_thread(client.log.header)).asks
    return next(iter(asks.items()))


async def test_a_session_is_created_listed_and_found(way: Way) -> None:
    red = f"red-{os.urandom(4).hex()}"
    first, second = create(way, title=f"{red} robin"), create(way, title=f"{red} kite")
    heads = {head["id"]: head for head in way.rookery.heads(probe=True)}
    assert heads.keys() >= {first, second}
    assert heads[first]["title"] == f"{red} robin"
    assert not heads[first]["hung"]
    assert not heads[first]["awake"]
    assert way.rookery.find(first[:7]) == first
    assert way.rookery.find(f"{red} KITE") == second
    with pytest.raises(Ambiguous) as found:
        way.rookery.find(red)
    assert {head["id"] for head in found.value.candidates} == {first, second}
    with pytest.raises(UnknownSession):
        way.rookery.find("blue")
    assert way.rookery.head("ffffffffff") is None


async def test_a_prompt_streams_and_resumes_from_any_event(way: Way) -> None:
    session = create(way)
    with way.rookery.open(session) as client:
        steps = [{"text": f"piece {number}. "} for number in range(20)]
        outcome = await client.send({"do": "prompt", "prompt": play(*steps), "id": "mine"})
        assert (outcome.cause, kind_of(outcome.update)) == ("mine", "_prompt")
        events = await events_until_end(client)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        again = await events_until_end(client, since=5)
        assert again == events[5:]
        kept = client.log.read(0)  # a snapshot may have followed the turn
        assert kept[: len(events)] == events
        assert client.log.last_seq() >= kept[-1].seq


async def test_a_prompt_sent_twice_is_done_once(way: Way) -> None:
    session = create(way)
    with way.rookery.open(session) as client:
        command = {"do": "prompt", "prompt": play({"text": "once"}), "id": "twice"}
        first = await client.send(command)
        assert await client.send(command) == first
        await events_until_end(client)
        assert client.log.turns() == 1


async def test_every_way_reads_the_same_document(way: Way) -> None:
    """Snapshot: the end of a session folds to the same document as all of its events."""
    session = create(way)
    with way.rookery.open(session) as client:
        for word in ("one", "two"):
            sent = await client.send({"do": "prompt", "prompt": play({"text": word})})
            await events_until_end(client, sent.seq)
        log = client.log
        found = excerpt(log)
        assert found.document.blocks == fold(log.header_before(2), log.page(2)).blocks
        assert log.turns() == 2
        assert log.turn_of(log.first_seq(2)) == 2
        begins, ends = log.spans(2)
        assert 0 < begins <= ends
        assert log.header() == fold(None, log.events()).header
        assert [each.seq for each in log.some([3, 1])] == [3, 1]
        assert log.find("nobody's") is None
        assert log.blob("0" * 64) is None
        assert "one" in way.rookery.call("recap", session)["text"]


async def test_an_ask_is_answered(way: Way) -> None:
    session = create(way)
    with way.rookery.open(session) as client:
        await client.send({"do": "prompt", "prompt": [{"type": "text", "text": "hello"}]})
        name, ask = await asked(client)
        with pytest.raises(Refused) as refused:
            await client.send({"do": "answer", "ask": name, "nonce": ask["nonce"], "option": "no"})
        assert refused.value.reason == "unknown_option"
        allow = next(each for each in ask["options"] if each["kind"] == "allow_once")
        given = {"ask": name, "nonce": ask["nonce"], "option": allow["optionId"]}
        outcome = await client.send({"do": "answer", **given})
        assert kind_of(outcome.update) == "_ask"
        assert not client.log.header().asks
        await client.send({"do": "cancel"})


async def test_a_turn_is_cancelled(way: Way) -> None:
    session = create(way)
    with way.rookery.open(session) as client:
        await client.send({"do": "prompt", "prompt": play({"text": "x"}, {"wait": 600})})
        await client.send({"do": "cancel"})
        events = await events_until_end(client)
        assert events[-1].update["reason"] == "cancelled"


async def test_a_session_is_stopped_killed_and_wakes_again(way: Way) -> None:
    session = create(way)
    with way.rookery.open(session) as client:
        await client.send({"do": "prompt", "prompt": play({"text": "x"})})
        await events_until_end(client)
        await client.send({"do": "stop"})
        assert await asyncio.to_thread(way.rookery.falls_asleep, session, PATIENCE)
        await client.send({"do": "prompt", "prompt": play({"text": "y"}, {"wait": 600})})
        head = way.rookery.head(session)
        assert head is not None
        assert head["awake"]
        assert not way.rookery.hung(session, 3.0)
        said = await asyncio.to_thread(way.rookery.call, "kill", session)
        assert said["left"] == []
        assert await asyncio.to_thread(way.rookery.falls_asleep, session, PATIENCE)


async def test_a_session_is_renamed_marked_as_read_and_deleted(way: Way) -> None:
    session = create(way)
    with way.rookery.open(session) as client:
        await client.send({"do": "rename", "title": "Wren"})
        await client.send({"do": "prompt", "prompt": play({"text": "x"})})
        last = (await events_until_end(client))[-1].seq
    head = way.rookery.head(session)
    assert head is not None
    assert (head["title"], head["unread"]) == ("Wren", True)
    await asyncio.to_thread(way.rookery.mark_seen, session, last)
    head = way.rookery.head(session)
    assert head is not None
    assert not head["unread"]
    removed = await asyncio.to_thread(way.rookery.call, "remove", session)
    assert way.rookery.head(session) is None
    with pytest.raises(NoSession):
        way.rookery.history(session).header()
    trash = (await asyncio.to_thread(way.rookery.call, "trash"))["sessions"]
    [row] = [each for each in trash if each["id"] == session]
    assert (row["id"], row["title"], row["until"]) == (session, "Wren", removed["until"])
    back = await asyncio.to_thread(way.rookery.call, "restore", name="Wren")
    assert (back["id"], back["missing"]) == (session, "")
    head = way.rookery.head(session)
    assert head is not None
    assert head["title"] == "Wren"
    await asyncio.to_thread(way.rookery.call, "remove", session)
    with pytest.raises(Refused, match="A title could mean another session"):
        way.rookery.call("delete-trashed", name="Wren")
    gone = await asyncio.to_thread(agreed, way, "delete-trashed", name=session)
    assert (gone["deleted"], gone["kept"]) == ([session], [])
    other = create(way)
    await asyncio.to_thread(way.rookery.call, "remove", other)
    gone = await asyncio.to_thread(agreed, way, "empty-trash")
    assert (gone["deleted"], gone["kept"]) == ([other], [])
    assert way.rookery.call("empty-trash")["deleted"] == []
    assert way.rookery.call("trash") == {"sessions": []}
    gone = await asyncio.to_thread(agreed, way, "remove", create(way), permanently=True)
    assert (gone["until"], gone["kept"]) == (None, [])
    assert way.rookery.call("trash") == {"sessions": []}


async def test_prune_deletes_only_what_was_shown(way: Way) -> None:
    first, second = create(way), create(way)
    with pytest.raises(Refused, match="at least one of"):
        way.rookery.call("prune")
    plan = way.rookery.call("prune-plan", larger_than=0)
    assert {first, second} <= {each["id"] for each in plan["sessions"]}
    given: dict[str, Any] = {"larger_than": 0, "only": [first, second]}
    with pytest.raises(NotAgreed, match="moves to the trash 2 sessions") as question:
        way.rookery.call("prune", **given)
    await asyncio.to_thread(way.rookery.call, "remove", first)
    agreed_to = question.value.fingerprint
    said = await asyncio.to_thread(way.rookery.call, "prune", fingerprint=agreed_to, **given)
    assert (said["removed"], said["failed"]) == ([second], False)
    assert said["kept"] == [f"{first} was removed in the meantime."]
    assert "Moved 1 session to the trash" in said["summary"]
    gone = await asyncio.to_thread(agreed, way, "empty-trash")
    assert {first, second} <= set(gone["deleted"])


async def test_the_processes_of_a_session_are_ended(way: Way) -> None:
    session = create(way)
    with way.rookery.open(session) as client:
        await client.send({"do": "start"})
    said = await asyncio.to_thread(way.rookery.call, "kill", session)
    assert said["left"] == []
    head = way.rookery.head(session)
    assert head is not None
    assert not head["awake"]


def agreed(way: Way, operation: str, session: str = "", **given: Any) -> Json:
    """A work whose preview is agreed to."""
    with pytest.raises(NotAgreed, match="cannot be restored") as question:
        way.rookery.call(operation, session, **given)
    agreed_to = question.value.fingerprint
    return way.rookery.call(operation, session, fingerprint=agreed_to, **given)


async def test_files_go_with_a_prompt(way: Way) -> None:
    session = create(way)
    data = b"\x89PNG\r\n\x1a\n" + bytes(100)
    with way.rookery.open(session) as client:
        command = {"do": "prompt", "prompt": play({"text": "seen"})}
        files = [Attachment("/somewhere/a.png", data, "image/png")]
        outcome = await client.send(command, files=files)
        await events_until_end(client)
        image = outcome.update["prompt"][1]
        assert (image["type"], image["name"]) == ("image", "a.png")
        assert client.log.blob(image["blob"]) == data


async def test_the_approval_mode_is_chosen_at_the_start(way: Way) -> None:
    order = Order("all", True, "run --yolo")
    session = create(way, order=order, critic=False)
    with way.rookery.history(session) as log:
        header = log.header()
    assert (header.confirm, header.critic["enabled"]) == ("all", False)
    assert header.unattended == order.json()


async def test_the_session_list_streams_changes(way: Way) -> None:
    looked = asyncio.Event()

    async def next_of(lists: AsyncIterator[list[Block]], title: str) -> None:
        async for blocks in lists:
            if any(block["title"] == title for block in blocks):
                return

    async with asyncio.timeout(PATIENCE):
        async with aclosing(way.rookery.fleet(looked, lambda _: None)) as lists:  # type: ignore[type-var]
            session = await asyncio.to_thread(create, way, title="Egg")
            looked.set()
            await next_of(lists, "Egg")
            with way.rookery.open(session) as client:
                await client.send({"do": "rename", "title": "Chick"})
            looked.set()
            await next_of(lists, "Chick")


async def test_a_kill_in_mid_stream_loses_and_repeats_nothing(way: Way) -> None:
    session = create(way)
    pieces = [{"text": f"piece {number}. ", "chunks": 3, "every": 0.05} for number in range(20)]
    links: list[str] = []
    with way.rookery.open(session) as client:
        client.on_link = links.append
        await client.send({"do": "prompt", "prompt": play(*pieces)})
        found: list[Event] = []
        async with asyncio.timeout(PATIENCE):
            async with aclosing(client.follow()) as events:  # type: ignore[type-var]
                async for event in events:
                    found.append(event)
                    if len(found) == 10:
                        await asyncio.to_thread(way.interrupt)
                    if is_end(event):
                        break
        kept = list(client.log.events())  # a snapshot may follow the turn
        assert kept[: len(found)] == found
        broken = [words for words in links if words]
        assert bool(broken) == bool(way.rookery.address)
        assert not links or not links[-1]


async def test_a_command_whose_answer_is_lost_is_done_once(way: Way) -> None:
    """The way is cut again and again while prompts are sent."""
    session = create(way)
    cutting = asyncio.create_task(_cut(way), name="cut")
    with way.rookery.open(session) as client:
        for number in range(3):
            name = f"prompt-{number}"
            await client.send({"do": "prompt", "prompt": play({"text": "x"}), "id": name})
            await asyncio.sleep(0.2)
        await cutting
        prompts = [event.cause for event in client.log.events() if event.cause]
        assert sorted(each for each in prompts if each.startswith("prompt-")) == [
            "prompt-0",
            "prompt-1",
            "prompt-2",
        ]


async def _cut(way: Way) -> None:
    await asyncio.sleep(0.1)
    await asyncio.to_thread(way.interrupt)


async def would_rewind(way: Way, session: str, **turn: int) -> Json:
    return await asyncio.to_thread(way.rookery.call, "rewind-preview", session, **turn)


async def test_a_rewind_is_done_as_it_was_previewed(way: Way) -> None:
    place = os.path.join(way.work, f"rewind-{os.urandom(4).hex()}")
    os.mkdir(place)
    session = create(way, cwd=place)
    with way.rookery.open(session) as client:
        await client.send({"do": "prompt", "prompt": play({"write": "own", "content": "x"})})
        async with asyncio.timeout(PATIENCE):
            async for event in client.follow():
                if event.update.get("when") == "end":
                    break
        Path(place, "mine").write_text("y")
        shown = await would_rewind(way, session, turn=0)
        assert [(each["path"], each["by"]) for each in shown["changes"]] == [
            ("own", "own"),
            ("mine", "hand"),
        ]
        Path(place, "mine").write_text("z")
        with pytest.raises(Refused) as refused:
            await client.send({"do": "rewind", "turn": 0, "fingerprint": shown["fingerprint"]})
        assert refused.value.reason == "changed"
        shown = await would_rewind(way, session, turn=0)
        await client.send({"do": "rewind", "turn": 0, "fingerprint": shown["own_fingerprint"]})
        assert os.listdir(place) == ["mine"]
        undone = await would_rewind(way, session)
        assert [(each["kind"], each["path"]) for each in undone["changes"]] == [("created", "own")]
        shown = await would_rewind(way, session, turn=0)
        agreed = {"turn": 0, "all": True, "fingerprint": shown["fingerprint"]}
        await asyncio.to_thread(way.rookery.call, "rewind", session, **agreed)
        assert os.listdir(place) == []


async def test_another_agent_takes_over_after_confirmation(way: Way) -> None:
    session = create(way)
    with way.rookery.open(session) as client:
        await client.send({"do": "prompt", "prompt": play({"text": "x"})})
        await events_until_end(client)

        def switch(**more: str) -> Json:
            return way.rookery.call("switch", session, agent="rookery", **more)

        with pytest.raises(NotAgreed, match="Rookery has no memory of it") as shown:
            await asyncio.to_thread(switch)
        done = await asyncio.to_thread(switch, fingerprint=shown.value.fingerprint)
        assert done["update"]["to"] == "rookery"
        typed = await client.send({"do": "switch", "agent": "demo"})
        assert typed.update["to"] == "demo"
        steered = {"text": json.dumps({"play": [{"text": "y"}]}), "steer": False}
        sent = await asyncio.to_thread(lambda: way.rookery.call("prompt", session, **steered))
        assert sent["update"]["sessionUpdate"] == "_prompt"
