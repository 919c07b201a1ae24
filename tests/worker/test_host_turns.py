"""Turns in a real worker: each reason, what comes before and after the end, and what waits."""

import asyncio
import resource
import sys
from pathlib import Path

import pytest

from rookery.client.session import Rejected
from rookery.client.start import reach_worker
from rookery.core.json.events import Event, kind_of
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.processes import tree
from tests.worker.aviary import (
    Aviary,
    Bird,
    Steps,
    is_agent,
    is_ask,
    is_idle,
    is_text,
    kinds,
    text_of,
)
from tests.worker.plug import Plug

HELD: Steps = [{"ask": "Go on?", "allowed": [{"text": "went on"}]}]
FOREVER: Steps = [{"text": "working"}, {"until": "cancelled"}]
DEAF: Steps = [{"deaf": True}, *FOREVER]


@pytest.mark.parametrize(
    ("play", "reason"),
    [
        ([{"text": "done"}], "end_turn"),
        ([{"stop": "max_tokens"}], "max_tokens"),
        ([{"stop": "max_turn_requests"}], "max_turn_requests"),
        ([{"stop": "refusal"}], "refusal"),
        ([{"stop": "cancelled"}], "cancelled"),
        ([{"error": {"code": -32603, "message": "out of luck", "data": {"x": 1}}}], "failed"),
        ([{"rate_limit": 1_900_000_000}], "rate_limited"),
        ([{"text": "dying"}, {"crash": 3}], "agent_exited"),
        ([{"crash": {"signal": "SIGKILL"}}], "agent_exited"),
    ],
)
async def test_reason_of_the_agents_own_end(aviary: Aviary, play: Steps, reason: str) -> None:
    """One reason, and the next prompt works."""
    bird = aviary.hatch()
    events = await bird.turn(play)
    end = events[-1].update
    assert kinds(events)[:2] == ["_prompt", "_turn"]
    assert sum(is_idle(event) for event in events) == 1
    assert end["reason"] == reason
    if reason == "failed":
        assert end["error"] == {"code": -32603, "message": "out of luck", "data": {"x": 1}}
    if reason == "rate_limited":
        limits = [event.update for event in events if kind_of(event.update) == "_rate_limit"]
        assert [limit["resetsAt"] for limit in limits] == [1_900_000_000]
    assert await bird.reason("again") == "end_turn"
    starts = sum(is_agent(event, "starting") for event in bird.events())
    assert starts == (2 if reason == "agent_exited" else 1)


async def test_cancelled(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt(FOREVER)
    await bird.until(is_text)
    done = await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"
    assert done.update == {"sessionUpdate": "_done", "command": "cancel"}
    assert await bird.reason("again") == "end_turn"


async def test_cancel_closes_the_open_ask(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt([{"ask": "?", "cancelled": [{"text": "taken back"}]}])
    ask = await bird.ask(begun)
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"
    closed = [event.update for event in bird.events(begun.seq) if kind_of(event.update) == "_ask"]
    assert [(update["id"], update["state"]) for update in closed] == [
        (ask["id"], "asked"),
        (ask["id"], "closed"),
    ]
    assert closed[1]["outcome"] == {"outcome": "cancelled"}


async def test_cancel_before_the_agent_is_ready(aviary: Aviary) -> None:
    bird = aviary.hatch({"start": {"wait": 1, "times": 1}})
    begun = await bird.prompt("too early")
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "cancelled"
    assert await bird.reason("again") == "end_turn"
    assert "too early" not in text_of(bird.events())


async def test_unresponsive_when_a_cancel_is_ignored(aviary: Aviary) -> None:
    aviary.configure(cancel_grace=0.1, stop_grace=0.2)
    bird = aviary.hatch()
    begun = await bird.prompt(DEAF)
    await bird.until(is_text)
    agent = bird.agent
    await bird.send("cancel")
    assert (await bird.ended(begun)).update["reason"] == "unresponsive"
    assert await bird.reason("again") == "end_turn"
    assert not tree.still_alive([agent])
    ready = [event.update for event in bird.events() if is_agent(event, "ready")]
    assert [update["how"] for update in ready] == ["new", "resume"]


async def test_second_cancel_escalates_at_once(aviary: Aviary) -> None:
    """The grace of 10 s is not waited for."""
    aviary.configure(stop_grace=0.2, cancel_grace=600)
    bird = aviary.hatch()
    begun = await bird.prompt(DEAF)
    await bird.until(is_text)
    await bird.send("cancel")
    await bird.send("cancel")
    ended = await bird.ended(begun)
    assert (ended.update["reason"], ended.update["detail"]) == ("unresponsive", "a second cancel")


async def test_stop_in_mid_turn_interrupts_it(aviary: Aviary) -> None:
    bird = aviary.hatch()
    begun = await bird.prompt(FOREVER)
    await bird.until(is_text)
    await bird.send("stop")
    assert (await bird.ended(begun)).update["reason"] == "interrupted"
    await bird.gone(bird.worker, bird.agent)
    assert await bird.reason("again") == "end_turn"


async def test_every_update_before_the_answer_is_before_the_end(aviary: Aviary) -> None:
    """A flood arrives whole, in order, and before `_turn idle`."""
    bird = aviary.hatch()
    call = {"update": {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "look"}}
    events = await bird.turn([{"flood": 5000, "size": 12}, call, {"text": "last"}])
    flood = "".join(f"{number} ".ljust(12, ".") for number in range(5000))
    assert text_of(events) == flood + "last"
    assert is_idle(events[-1])
    assert bird.header().last == "last"


async def test_late_updates_are_kept_and_belong_to_their_turn(aviary: Aviary) -> None:
    bird = aviary.hatch()
    events = await bird.turn([{"text": "in time"}, {"late": [{"wait": 0.05}, {"text": "late"}]}])
    late = await bird.until(lambda event: is_text(event, "late"), events[-1].seq)
    await bird.turn("next")
    with Reader.open(str(bird.directory)) as log:
        assert late in log.page(1)
        assert "next" in text_of(log.page(2))


async def queue_two(bird: Bird) -> Event:
    """A held turn with two prompts behind it; its ask."""
    begun = await bird.prompt(HELD)
    ask = await bird.until(is_ask, begun.seq)
    for number, text in enumerate(["one", "two"]):
        queued = await bird.prompt(text, id=f"queued-{number}")
        assert (kind_of(queued.update), queued.update["op"]) == ("_queue", "add")
    return ask


async def test_queue_drains_combined_after_an_end_turn(aviary: Aviary) -> None:
    bird = aviary.hatch()
    ask = await queue_two(bird)
    await bird.answer(ask.update, "allow")
    ended = await bird.until(lambda event: is_idle(event, 2), ask.seq)
    [prompt] = [e.update for e in bird.events(ask.seq) if kind_of(e.update) == "_prompt"]
    assert prompt["queued"] == ["queued-0", "queued-1"]
    said = text_of(bird.events(ask.seq, ended.seq))
    assert said.index("one") < said.index("two")
    assert bird.header().queue == []


async def test_queue_drains_one_by_one_where_it_is_told_so(aviary: Aviary) -> None:
    aviary.configure(queue_drain="serial")
    bird = aviary.hatch()
    ask = await queue_two(bird)
    await bird.answer(ask.update, "allow")
    await bird.until(lambda event: is_idle(event, 3), ask.seq)
    prompts = [e.update for e in bird.events(ask.seq) if kind_of(e.update) == "_prompt"]
    assert [prompt["queued"] for prompt in prompts] == [["queued-0"], ["queued-1"]]


async def test_queue_is_held_after_any_other_end_and_outlives_the_worker(aviary: Aviary) -> None:
    bird = aviary.hatch()
    ask = await queue_two(bird)
    await bird.send("cancel")
    await bird.until(lambda event: is_idle(event, 1), ask.seq)
    assert len(bird.header().queue) == 2
    tree.kill([bird.worker])
    assert await bird.reason("in between") == "end_turn"
    await bird.until(lambda event: is_idle(event, 3), ask.seq)
    assert bird.header().queue == []


async def test_full_queue_refuses(aviary: Aviary) -> None:
    aviary.configure(queue_most=2)
    bird = aviary.hatch()
    await queue_two(bird)
    with pytest.raises(Rejected) as refused:
        await bird.prompt("three")
    assert refused.value.reason == "queue_full"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ({"do": "prompt", "prompt": []}, "empty_prompt"),
        ({"do": "prompt", "prompt": "text"}, "empty_prompt"),
        ({"do": "prompt", "prompt": [{"type": "text", "text": " "}]}, "empty_prompt"),
        ({"do": "prompt", "prompt": [{"type": "text", "text": "x" * 300_000}]}, "prompt_too_long"),
        ({"do": "dance"}, "unknown_command"),
        ({"do": "rename", "title": " "}, "no_title"),
    ],
)
async def test_refused_command_leaves_its_reason(
    aviary: Aviary, command: dict, reason: str
) -> None:
    """Law 4: the outcome is an event, of a refusal too."""
    bird = aviary.hatch()
    await bird.turn("hello")
    with pytest.raises(Rejected) as refused:
        await bird.send(**command, id="odd")
    assert refused.value.reason == reason
    [event] = [event for event in bird.events() if event.cause == "odd"]
    assert event.update["reason"] == reason


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit")
async def test_full_disk_holds_the_turn_says_so_and_goes_on(aviary: Aviary) -> None:
    """Nothing is half-written, the agent hears nothing that is not durable, nothing is lost."""
    bird = aviary.hatch()
    begun = await bird.prompt(HELD)
    ask = await bird.ask(begun)
    before = bird.events()
    worker = bird.worker.pid
    limits = resource.prlimit(worker, resource.RLIMIT_FSIZE)
    async with Plug.open(bird.control) as plug:
        resource.prlimit(worker, resource.RLIMIT_FSIZE, (0, limits[1]))
        answer = {"do": "answer", "ask": ask["id"], "nonce": ask["nonce"], "option": "allow"}
        await plug.command(answer | {"id": "answer"})
        _, trouble = await plug.until("trouble")
        assert str(bird.directory) in trouble["message"]
        assert bird.events() == before
        await plug.command({"do": "rename", "title": "Patient", "id": "rename"})
        await plug.until("trouble")
        resource.prlimit(worker, resource.RLIMIT_FSIZE, limits)
        assert (await bird.ended(begun)).update["reason"] == "end_turn"
        await bird.until(lambda event: event.cause == "rename")
    assert "went on" in text_of(bird.events())
    found = [event.seq for event in bird.events()]  # a snapshot's event may follow
    assert found == list(range(1, len(found) + 1))


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit")
async def test_agent_that_dies_while_the_disk_is_full(aviary: Aviary) -> None:
    """Its exit is told when there is space again, whatever it complained about meanwhile."""
    bird = aviary.hatch()
    begun = await bird.prompt([{"text": "a"}, {"stderr": "oh dear\n"}, *FOREVER])
    await bird.until(is_text, begun.seq)
    worker = bird.worker.pid
    limits = resource.prlimit(worker, resource.RLIMIT_FSIZE)
    resource.prlimit(worker, resource.RLIMIT_FSIZE, (0, limits[1]))
    async with Plug.open(bird.socket) as plug:
        tree.kill([bird.agent])
        await plug.until("trouble")
    resource.prlimit(worker, resource.RLIMIT_FSIZE, limits)
    assert (await bird.ended(begun)).update["reason"] == "agent_exited"
    assert await bird.reason("again") == "end_turn"


async def test_head_of_a_worker_that_wakes_keeps_its_time(aviary: Aviary) -> None:
    """A list is not turned over by somebody who only looks in."""
    bird = aviary.hatch()
    await bird.turn("hello")
    await bird.send("stop")
    await bird.gone(bird.worker)
    last = bird.events()[-1]
    await asyncio.to_thread(reach_worker, aviary.home, bird.id)
    head = paths.read_json(str(Path(bird.directory, paths.HEAD)))
    assert head is not None
    assert (head["seq"], head["at"]) == (last.seq, last.at)
