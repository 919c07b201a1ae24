"""Sessions that work in one directory are told of each other: once each, one line in a turn."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from rookery.core.header import Header
from rookery.core.json import dumps
from rookery.core.json.events import Event, kind_of
from rookery.home import paths
from rookery.processes import tree
from rookery.worker.process.neighbours import PLACES, Neighbours
from tests.worker.aviary import Aviary, Bird


def told(bird: Bird) -> list[str]:
    notices = [event.update for event in bird.events() if is_told(event)]
    return [session for update in notices for session in update["sessions"]]


def is_told(event: Event) -> bool:
    return kind_of(event.update) == "_notice" and "sessions" in event.update


WORK = [{"text": "at work"}, {"until": "cancel"}]


@pytest.mark.long
async def test_of_three_that_work_each_is_told_once_of_the_others(aviary: Aviary) -> None:
    """At most one notice in a turn: who comes later is named in the next."""
    link = aviary.root / "link"
    link.symlink_to(aviary.work)
    one, two = aviary.hatch(title="first"), aviary.hatch()
    three = aviary.hatch(cwd=str(link))
    elsewhere = aviary.hatch(cwd=str(aviary.root))
    for bird in (one, two, elsewhere):
        await bird.prompt(WORK)
    for bird, other in ((one, two), (two, one)):
        await bird.until(lambda event, name=other.id: is_about(event, name))
    assert "first" in (await two.until(is_told)).update["text"]
    await three.prompt(WORK)
    await three.until(lambda event: is_about(event, one.id))
    assert told(one) == [two.id], "this turn has its line"
    await one.send("cancel")
    await one.prompt(WORK)
    await one.until(lambda event: is_about(event, three.id))
    # Another goes to sleep and comes back: nobody is told again, itself neither.
    worker = three.worker
    await three.send("stop")
    await three.gone(worker)
    assert await three.reason("hello") == "end_turn"
    assert told(one) == [two.id, three.id]
    assert sorted(told(three)) == sorted([one.id, two.id])
    assert told(elsewhere) == []


@pytest.mark.long
async def test_a_session_that_is_idle_or_asks_gets_no_notice(aviary: Aviary) -> None:
    """One is idle and watched, one waits for an answer, one has announced a call that it may ask
    about, two work: only those two are told."""
    idle, asking, calling, three, four = (aviary.hatch() for _ in range(5))
    assert await idle.reason("hello") == "end_turn"
    watching = asyncio.create_task(idle.until(lambda _: False))
    await asking.prompt([{"ask": {"title": "Write it?", "kind": "edit"}}])
    await asking.until(lambda event: kind_of(event.update) == "_ask")
    await calling.prompt([{"tool": "Write it", "toolCallId": "t", "status": "pending"}, WORK[1]])
    await calling.until(lambda event: kind_of(event.update) == "tool_call")
    for bird in (three, four):
        await bird.prompt(WORK)
    await three.until(lambda event: is_about(event, four.id))
    await four.until(lambda event: is_about(event, three.id))
    watching.cancel()
    assert idle.id not in told(three)
    assert told(idle) == told(asking) == told(calling) == []


def is_about(event: Event, session: str) -> bool:
    return is_told(event) and session in event.update["sessions"]


@pytest.mark.long
async def test_who_is_asleep_or_dead_is_no_neighbour(aviary: Aviary) -> None:
    one, two, three = aviary.hatch(), aviary.hatch(), aviary.hatch()
    assert await one.reason("hello") == "end_turn"
    worker = one.worker
    await one.send("stop")
    await one.gone(worker)
    assert list(Path(aviary.home, PLACES).iterdir()) == []
    assert await two.reason("hello") == "end_turn"
    os.kill(two.worker.pid, signal.SIGKILL)
    await two.gone(two.worker, two.warden)
    [place] = Path(aviary.home, PLACES).iterdir()
    assert [file.name for file in place.iterdir()] == [two.id]
    assert await three.reason("hello") == "end_turn"
    assert [told(bird) for bird in (one, two, three)] == [[], [], []]
    assert [file.name for file in place.iterdir()] == [three.id]


def test_one_notice_tells_of_many(tmp_path: Path) -> None:
    """A look reads of a few; those who are merely awake, and those who are gone, are not told."""
    home, own = tmp_path / "home", os.getpid()
    work = tmp_path / "work"
    work.mkdir()
    states = {f"{number:010x}": "running" for number in range(20)}
    states |= {"aaaaaaaaaa": "idle", "bbbbbbbbbb": "running"}
    neighbours = Neighbours(str(home / "sessions" / "cccccccccc"), Header({"cwd": str(work)}))
    paths.make_private(str(home))
    assert neighbours.look(0) == []
    (place,) = (home / PLACES).iterdir()
    for name, state in states.items():
        directory = Path(paths.session_dir(str(home), name))
        directory.mkdir(parents=True)
        (directory / paths.HEAD).write_text(dumps({"state": state, "title": name}))
        start = "gone" if name == "bbbbbbbbbb" else tree.start_time(own)
        (directory / paths.WORKER).write_text(dumps({"pid": own, "start": start}))
        (place / name).touch()
    looks = [neighbours.look(1) for _ in range(10)]
    (notice,) = [draft.update for look in looks for draft in look]
    assert notice["sessions"] == sorted(states)[:20]
    assert "15 more" in notice["text"]
    assert not looks[0]
    assert "bbbbbbbbbb" not in {path.name for path in place.iterdir()}
