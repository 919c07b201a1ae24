"""Which moment a snapshot is of: one that raced with the agent says so, none is lost with its
agent, and quick turns do not wait for each other's."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from rookery.client.rewind.preview import preview
from rookery.client.rewind.turns import turns
from rookery.client.session import Rejected
from rookery.core.json import Event, kind_of
from rookery.core.turn import rewinding
from rookery.processes import tree
from tests.daemon.served import awaited
from tests.worker.aviary import Aviary, Bird
from tests.worker.test_rewind import is_snapshot, turn

FILES = 400


def snapshots(bird: Bird) -> list[dict[str, object]]:
    return [event.update for event in bird.events() if kind_of(event.update) == "_snapshot"]


def contents(work: Path) -> set[str]:
    return {each.read_text() for each in work.iterdir()}


async def test_a_snapshot_that_raced_with_writes_nobody_announced_is_late(aviary: Aviary) -> None:
    for number in range(FILES):
        (aviary.work / f"f{number}").write_text("before")
    script = f"import pathlib\nfor n in range({FILES}): pathlib.Path(f'f{{n}}').write_text('after')"
    argv = ["python3", "-S", "-c", script]
    bird = aviary.hatch()
    await turn(bird, [{"spawn": argv}, {"text": "done"}], 1)
    await asyncio.to_thread(awaited, lambda: contents(aviary.work) == {"after"})
    (first,) = [each for each in snapshots(bird) if each["when"] == "prompt"]
    shown = preview(aviary.home, bird.id, 0)
    if first.get("late"):
        assert "already at work" in shown.notes[0]
        return
    await bird.send("rewind", turn=0, fingerprint=shown.fingerprint)
    assert contents(aviary.work) == {"before"}, "it was in time"


async def test_a_deferred_ask_keeps_the_snapshot_of_its_turn(aviary: Aviary) -> None:
    """The agent ends at once, and the process that takes the snapshot does not end with it."""
    bird = aviary.hatch()
    await turn(bird, [{"write": "a", "content": "1"}], 1)
    begun = await bird.prompt([{"write": "a", "content": "2"}, {"ask": "Sure?"}])
    ask = await bird.ask(begun)
    await bird.send("answer", ask=ask["id"], nonce=ask["nonce"], defer=True)
    taken = await bird.until(lambda event: is_snapshot(event, 2), begun.seq)
    assert taken.update.get("id"), taken.update
    await bird.send("rewind", turn=1, conversation=False)
    assert (aviary.work / "a").read_text() == "1"


async def test_quick_turns_pass_over_snapshots_but_for_turns_that_changed_files(
    aviary: Aviary,
) -> None:
    (aviary.work / "there").write_text("x")
    bird, count, busy = aviary.hatch(), 30, 15
    for number in range(1, count + 1):
        write = {"write": "a", "content": "from the agent"}
        await bird.turn([write] if number == busy else "hello")
    last = await bird.until(lambda event: is_snapshot(event, count))
    ended = {int(str(each["turn"])): each for each in snapshots(bird) if each["when"] == "end"}
    assert sorted(ended) == list(range(1, count + 1)), "none waits any more"
    passed = [number for number, each in ended.items() if each.get("passed")]
    assert passed
    assert busy not in passed
    assert ended[busy]["id"] == last.update["id"]
    rows = {row["turn"]: row for row in turns(aviary.home, bird.id)}
    known = [row["files"] for number, row in rows.items() if number not in (busy - 1, 0)]
    assert all(known), "the trees around them are the same"
    assert [number for number, row in rows.items() if row["passed"]] == passed
    await bird.send("rewind", turn=busy - 2, conversation=False)
    assert not (aviary.work / "a").exists()


async def test_a_restore_that_is_killed_says_so_and_how_to_go_on(aviary: Aviary) -> None:
    bird, names = aviary.hatch(), [f"f{number}" for number in range(30)]
    await turn(bird, [{"write": name, "content": "1"} for name in names], 1)
    await turn(bird, [{"write": name, "content": "2"} for name in names], 2)
    since = bird.events()[-1].seq
    sending = asyncio.create_task(bird.send("rewind", turn=1))
    await bird.until(lambda event: event.update.get("state") == "begun", since)
    for pid in await asyncio.to_thread(awaited, lambda: _jobs(bird)):
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(Rejected, match="half restored") as refused:
        await sending
    assert f"rookery rewind {bird.id} 1 --files" in refused.value.message
    assert "was killed" in refused.value.message
    await bird.send("rewind", turn=1)
    assert contents(aviary.work) == {"1"}


def _jobs(bird: Bird) -> list[int]:
    rows = tree.descendants(bird.worker.pid)
    lines = {row.pid: Path(f"/proc/{row.pid}/cmdline").read_bytes() for row in rows}
    return [pid for pid, line in lines.items() if b"snapshots/__main__.py" in line]


# --- by the log -----------------------------------------------------------------------------------


def shots(*given: tuple[int, str, str]) -> list[Event]:
    """Turn, when, and id; an id with a ! is late, none is passed over."""
    found = []
    for seq, (number, when, name) in enumerate(given, 1):
        about = {"sessionUpdate": "_snapshot", "turn": number, "when": when}
        more = {"id": name.rstrip("!"), "late": name.endswith("!")} if name else {"passed": True}
        found.append(Event(seq, seq, None, None, about | more))
    return found


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ([(1, "end", "a"), (2, "prompt", "b"), (2, "end", "c")], "b"),
        ([(1, "end", "a"), (2, "prompt", "b!"), (2, "end", "c")], "a"),
        ([(1, "end", "a!"), (2, "end", "c")], "a"),
        ([(0, "end", "a"), (1, "end", ""), (2, "end", "a")], "a"),
        ([(0, "end", "a"), (1, "end", ""), (2, "end", "c")], ""),
        ([(1, "end", "a"), (2, "prompt", "b"), (2, "end", "c"), (2, "prompt", "d")], "b"),
    ],
)
def test_the_files_after_a_turn(given: list[tuple[int, str, str]], target: str) -> None:
    """The last: a turn that waited for an answer goes on with another prompt."""
    assert rewinding.snapshot_of(shots(*given), 1) == target
