"""A prompt is never dropped by a limit: over it, an idle session sleeps, or the prompt waits its
turn."""

import asyncio
import json
import resource
import time
from pathlib import Path

import pytest

from rookery.client import fleet
from rookery.client.attach import Attachment, stage
from rookery.client.session import Rejected
from rookery.client.waking import LOCK
from rookery.core.json.events import Event, kind_of
from rookery.core.limits import Policy
from rookery.core.view.fleet import state_of
from rookery.log.lock import is_held
from rookery.processes import tree
from tests.worker.aviary import PATIENCE, Aviary, Bird, blocks, is_agent, is_idle, is_text, text_of

BUSY = [{"text": "begun"}, {"until": "cancel"}]


async def busy(bird: Bird) -> None:
    begun = await bird.prompt(BUSY)
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)


def status(bird: Bird) -> str:
    head = fleet.head_of_session(bird.home, bird.id)
    assert head is not None
    return state_of(head, awake=head["awake"])


async def comes_to(bird: Bird, wanted: str) -> None:
    """The lists are told of an event behind the log."""
    until = time.monotonic() + PATIENCE
    while (found := status(bird)) != wanted:
        assert time.monotonic() < until, found
        await asyncio.sleep(0.02)


async def has_run(bird: Bird, prompt: Event) -> list[Event]:
    """The events of the turn that a prompt which waited became."""
    end = await bird.until(is_idle, prompt.seq)
    [begun] = [each for each in bird.events() if kind_of(each.update) == "_prompt"]
    assert begun.update["queued"] == [prompt.cause]
    return bird.events(begun.seq - 1, end.seq)


def test_idle_sessions_sleep_by_themselves_after_half_an_hour() -> None:
    assert Policy().idle_stop_secs == 1800


@pytest.mark.long
async def test_the_session_that_was_idle_longest_makes_room(aviary: Aviary) -> None:
    """Nothing of it is lost, and its next prompt wakes it."""
    aviary.configure(max_workers=2)
    first, second, third = (aviary.hatch() for _ in range(3))
    await first.turn("hello")
    await second.turn("hello")
    worker = first.worker
    assert await third.reason("hello") == "end_turn"
    await first.gone(worker)
    [stopped] = [event.update for event in first.events() if is_agent(event, "stopped")]
    assert stopped["reason"] == "idle"
    assert status(second) == "idle"
    assert await first.reason("again") == "end_turn"


async def test_without_an_idle_session_the_prompt_is_kept_and_waits(
    aviary: Aviary,
) -> None:
    """Shown as waiting, sent once, by itself, when the other's turn has ended."""
    aviary.configure(max_workers=1)
    first, second = aviary.hatch(), aviary.hatch()
    await busy(first)
    kept = await second.prompt("hello there")
    assert kind_of(kept.update) == "_queue"
    assert status(second) == "waiting"
    assert second.header().title == "hello there"
    assert not fleet.head_of_session(aviary.home, second.id)["awake"]  # type: ignore[index]
    await first.send("cancel")
    events = await has_run(second, kept)
    assert text_of(events)
    assert events[-1].update["reason"] == "end_turn"
    await comes_to(second, "idle")
    assert status(first) == "asleep"


@pytest.mark.long
async def test_waiting_prompts_go_in_order_of_arrival(aviary: Aviary) -> None:
    aviary.configure(max_workers=1)
    first, *others = (aviary.hatch() for _ in range(4))
    await busy(first)
    kept = [await each.prompt("hello") for each in others]
    assert [status(each) for each in others] == ["waiting"] * 3
    await first.send("cancel")
    ends = [(await has_run(*each))[-1].at for each in zip(others, kept, strict=True)]
    assert ends == sorted(ends)


async def test_sessions_with_an_ask_a_turn_or_a_queue_are_left_alone(aviary: Aviary) -> None:
    aviary.configure(max_workers=1)
    first, second = aviary.hatch(), aviary.hatch()
    begun = await first.prompt([{"ask": "Sure?", "allowed": [{"text": "went"}]}])
    asked = await first.ask(begun)
    kept = await second.prompt("hello")
    assert status(second) == "waiting"
    await comes_to(first, "needs-you")
    await first.answer(asked, asked["options"][0]["optionId"])
    await has_run(second, kept)


@pytest.mark.long
async def test_a_waiting_prompt_can_be_edited_and_removed_without_a_worker(
    aviary: Aviary,
) -> None:
    aviary.configure(max_workers=1)
    first, second = aviary.hatch(), aviary.hatch()
    await busy(first)
    one, two = await second.prompt("one"), await second.prompt("two")
    await second.send("queue", op="edit", item=one.cause, prompt=blocks("uno"))
    await second.send("queue", op="remove", item=two.cause)
    with pytest.raises(Rejected):
        await second.send("queue", op="remove", item=two.cause)
    assert [each["prompt"] for each in second.header().queue] == [blocks("uno")]
    assert status(second) == "waiting"
    await second.send("queue", op="remove", item=one.cause)
    assert status(second) == "asleep"
    await first.send("cancel")
    await asyncio.to_thread(await_no_clock, aviary)


def await_no_clock(aviary: Aviary) -> None:
    """It ends when nothing waits any more."""
    left = [each for each in aviary.processes() if is_clock(each)]
    assert not tree.wait_gone(left, 60.0)


def is_clock(process: tree.Process) -> bool:
    try:
        return b"rookery.client.clock" in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    except OSError:
        return False


async def test_a_waiting_prompt_keeps_its_files(aviary: Aviary, tmp_path: Path) -> None:
    aviary.configure(max_workers=1)
    first, second = aviary.hatch(), aviary.hatch()
    await busy(first)
    file = Attachment(str(tmp_path / "notes.txt"), b"word by word", "text/plain")
    staged = stage(str(second.directory), [file])
    kept = await second.send("prompt", prompt=[*blocks("read this"), *staged])
    assert not list(second.directory.glob("staged/*"))
    [_, block] = kept.update["prompt"]
    assert block["resource"]["bytes"] == len(file.data)
    await first.send("cancel")
    await has_run(second, kept)


async def test_listing_sessions_restarts_a_killed_waiting_process(aviary: Aviary) -> None:
    """As after a reboot: whoever looks sees to it that what waits is not forgotten."""
    from tests.cli.driving import rookery

    aviary.configure(max_workers=1)
    first, second = aviary.hatch(), aviary.hatch()
    await busy(first)
    kept = await second.prompt("hello")
    tree.kill([each for each in aviary.processes() if is_clock(each)])
    await asyncio.to_thread(await_no_clock, aviary)
    lock = str(Path(aviary.home, "slots", LOCK))
    assert not is_held(lock)
    worker = first.worker
    tree.kill([worker])
    await first.gone(worker)
    listed = await asyncio.to_thread(rookery, "ps", "--json", ROOKERY_HOME=aviary.home)
    states = {head["id"]: head["status"] for head in map(json.loads, listed.out.splitlines())}
    assert states[second.id] in ("waiting", "running", "idle"), "it may have begun already"
    await has_run(second, kept)


@pytest.mark.long
async def test_a_hung_worker_is_not_waited_for(aviary: Aviary) -> None:
    """Idle, but it does not answer: another makes room, or the prompt is kept."""
    import os
    import signal

    aviary.configure(max_workers=1)
    first, second = aviary.hatch(), aviary.hatch()
    await first.turn("hello")
    os.kill(first.worker.pid, signal.SIGSTOP)
    try:
        kept = await second.prompt("hello")
        assert status(second) == "waiting"
    finally:
        os.kill(first.worker.pid, signal.SIGCONT)
    await has_run(second, kept)


async def test_the_idle_stop_respects_turn_ask_and_queue(aviary: Aviary) -> None:
    """And a client that is attached hears of it."""
    aviary.configure(idle_stop_secs=0.3)
    bird = aviary.hatch()
    begun = await bird.prompt(
        [{"wait": 1.0}, {"ask": "Sure?", "allowed": [{"text": "went"}]}, {"text": "done"}]
    )
    asked = await bird.ask(begun)
    await bird.send("rename", title="It is still awake")
    await comes_to(bird, "needs-you")
    await bird.answer(asked, asked["options"][0]["optionId"])
    end = await bird.ended(begun)
    assert end.update["reason"] == "end_turn"
    stopped = await bird.until(lambda event: is_agent(event, "stopped"), end.seq)
    assert stopped.update["reason"] == "idle"


async def test_an_ask_is_listed_though_the_worker_is_out_of_descriptors(
    aviary: Aviary,
) -> None:
    bird = aviary.hatch()
    question = {"ask": "Sure?", "allowed": [{"text": "went"}]}
    first = await bird.prompt([question])  # all that an ask needs is loaded
    asked = await bird.ask(first)
    await bird.answer(asked, asked["options"][0]["optionId"])
    await bird.ended(first)
    begun = await bird.prompt([{"text": "begun"}, {"wait": 1.0}, question])
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    worker = bird.worker.pid
    before = resource.prlimit(worker, resource.RLIMIT_NOFILE)
    resource.prlimit(worker, resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        asks = await asyncio.to_thread(asked_in_the_log, bird)  # no connection could tell
        await comes_to(bird, "needs-you")
        head = fleet.head_of_session(aviary.home, bird.id)
        assert head is not None
        assert head["asks"] == 1
    finally:
        resource.prlimit(worker, resource.RLIMIT_NOFILE, before)
    [asked] = asks.values()
    await bird.answer(asked, asked["options"][0]["optionId"])
    await bird.ended(begun)
    await comes_to(bird, "idle")


def asked_in_the_log(bird: Bird) -> dict[str, dict[str, object]]:
    until = time.monotonic() + PATIENCE
    while not (asks := bird.header().asks):
        assert time.monotonic() < until, (bird.directory / "worker.log").read_text()[-3000:]
        time.sleep(0.05)
    return dict(asks)
