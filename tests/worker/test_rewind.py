"""A session goes back to a turn and forth again, under a real worker with a scripted agent."""

import asyncio
import json
import os
import sys
from pathlib import Path
from random import Random

import pytest

from rookery.client import fleet, reading
from rookery.client.rewind.fork import fork
from rookery.client.rewind.preview import preview
from rookery.client.rewind.turns import turns
from rookery.client.session import Rejected
from rookery.core.json.events import Event, kind_of
from rookery.core.turn.rewind_preview import about_conversation
from rookery.log.reader import Reader
from rookery.processes import tree
from rookery.search.query import query
from rookery.search.update import update
from tests.snapshots.meadow import Meadow, git
from tests.snapshots.test_store import own
from tests.worker.aviary import Aviary, Bird, is_agent, is_text, text_of

RAGE = (
    "import sys,random,pathlib;sys.path.insert(0,sys.argv[1]);from tests.snapshots import meadow;"
)
RAGE += "meadow.Vandal(pathlib.Path(sys.argv[2]),random.Random(int(sys.argv[3]))).rage(2,9)"
TESTS = str(Path(__file__).parents[2])


def rage(aviary: Aviary, seed: int) -> list[dict[str, object]]:
    """A turn in which the agent does anything to the files."""
    argv = [sys.executable, "-c", RAGE, TESTS, str(aviary.work), str(seed)]
    return [{"command": argv}, {"text": "done"}]


def is_snapshot(event: Event, turn: int, when: str = "end") -> bool:
    update = event.update
    return kind_of(update) == "_snapshot" and (update["turn"], update["when"]) == (turn, when)


async def turn(bird: Bird, play: str | list[dict[str, object]], number: int) -> None:
    """With the snapshot at its end."""
    found = await bird.turn(play)
    await bird.until(lambda event: is_snapshot(event, number), found[0].seq)


def previewed(bird: Bird, turn: int) -> list[tuple[str, str, str]]:
    found = preview(bird.home, bird.id, turn)
    return [(each.kind, each.path, each.by) for each in found.changes]


def meadow_of(aviary: Aviary) -> Meadow:
    aviary.work.rmdir()
    meadow = Meadow(aviary.root)
    assert meadow.root == aviary.work
    meadow.most = 10 * 1024 * 1024
    return meadow


@pytest.mark.parametrize("count", [4, pytest.param(30, marks=pytest.mark.long)])
async def test_a_session_is_rewound_to_any_turn_and_back(aviary: Aviary, count: int) -> None:
    meadow, random = meadow_of(aviary), Random(count)
    git(meadow.root, "commit", "--allow-empty", "-qm", "first")
    before, bird = own(meadow.root), aviary.hatch()
    trees = [meadow.tree()]
    for number in range(1, count + 1):
        await turn(bird, rage(aviary, number), number)
        trees.append(meadow.tree())
    for target in random.sample(range(count + 1), 3 if count < 9 else 15):
        there = meadow.tree()
        done = (await bird.send("rewind", turn=target)).update
        if not done["kept"]:
            assert meadow.differs(trees[target]) == set()
            assert done["same"]
        undone = (await bird.send("rewind", undo=True)).update
        if not done["kept"] and not undone["kept"]:
            assert meadow.differs(there) == set()
    assert own(meadow.root) == before
    assert git(meadow.root, "stash", "list") == b""


async def test_a_turn_that_a_queued_prompt_follows_at_once_has_its_snapshot(aviary: Aviary) -> None:
    meadow_of(aviary)
    bird = aviary.hatch()
    await bird.prompt([{"wait": 0.2}, {"write": "a.txt", "content": "first"}])
    await bird.prompt([{"write": "a.txt", "content": "second"}])
    for number in (1, 2):
        await bird.until(lambda event, number=number: is_snapshot(event, number))
    await bird.send("rewind", turn=1)
    assert (aviary.work / "a.txt").read_text() == "first"


async def test_rewound_turns_are_hidden_and_come_back(aviary: Aviary) -> None:
    bird = aviary.hatch()
    for number in (1, 2):
        await turn(bird, f"word{number}", number)
    await turn(bird, [{"command": ["true"]}, {"text": "word3"}], 3)
    before = bird.header()
    done = await bird.send("rewind", turn=1, files=False)
    assert (done.update["memory"], bird.header().agent_session) == ("lost", None)
    with Reader.open(str(bird.directory)) as log:
        assert "word3" in text_of(bird.events()), "nothing is lost"
        shown = reading.excerpt(log).document
        recap = reading.recap(log).text()
    assert shown.terminals.keys() <= shown.blocks.keys()
    titles = [block["title"] for block in shown.blocks.values()]
    assert titles[-1] == "Conversation rewound to turn 1"
    assert "word1" in recap
    assert "word2" not in recap
    found = await bird.turn("another way")
    assert found[0].update["turn"] == 4
    assert [row["turn"] for row in turns(aviary.home, bird.id) if row["hidden"]] == [2, 3]
    await bird.send("rewind", undo=True)
    after = bird.header()
    assert after.agent_session == before.agent_session
    assert [row["turn"] for row in turns(aviary.home, bird.id) if row["hidden"]] == [4]
    found = await bird.turn("back")
    [ready] = [event for event in found if is_agent(event, "ready")]
    assert ready.update["how"] in ("load", "resume"), "the agent remembers by itself"


async def test_a_turn_that_a_rewind_hid_comes_back_as_it_was(aviary: Aviary) -> None:
    bird, file = aviary.hatch(), aviary.work / "a"
    for number in (1, 2, 3):
        await turn(bird, [{"write": "a", "content": str(number)}], number)
    await bird.send("rewind", turn=1)
    found = preview(aviary.home, bird.id, 3, files=False)
    assert about_conversation(found) == "2 hidden turns come back."
    await turn(bird, [{"write": "b", "content": "4"}], 4)
    found = preview(aviary.home, bird.id, 3, files=False)
    hidden = "The later turn is hidden, not deleted."
    assert about_conversation(found) == f"{hidden} 2 hidden turns come back."
    await bird.send("rewind", turn=3)
    assert file.read_text() == "3"
    assert [row["turn"] for row in turns(aviary.home, bird.id) if row["hidden"]] == [4]


async def test_the_files_alone_can_be_rewound(aviary: Aviary) -> None:
    bird, file = aviary.hatch(), aviary.work / "a"
    for number in (1, 2):
        await turn(bird, [{"write": "a", "content": str(number)}], number)
    assert previewed(bird, 0) == [("removed", "a", "own")]
    await bird.send("rewind", turn=1, conversation=False)
    assert (file.read_text(), bird.header().hidden) == ("1", [])
    await bird.send("rewind", turn=0, conversation=False)
    assert not file.exists()


async def test_the_users_changes_between_turns_stay(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await turn(bird, [{"write": "a", "content": "agent"}], 1)
    (aviary.work / "b").write_text("mine")
    await turn(bird, [{"write": "b", "content": "agent"}], 2)
    await bird.send("rewind", turn=1)
    assert (aviary.work / "b").read_text() == "mine"


async def test_a_rewind_in_mid_turn_or_to_an_unknown_turn_is_refused(aviary: Aviary) -> None:
    bird = aviary.hatch()
    with pytest.raises(Rejected, match="no rewind to undo"):
        await bird.send("rewind", undo=True)
    begun = await bird.prompt([{"text": "begun"}, {"until": "cancel"}])
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    with pytest.raises(Rejected, match="cancel it first"):
        await bird.send("rewind", turn=0)
    await bird.send("cancel")
    await bird.ended(begun)
    with pytest.raises(Rejected, match="the last one is 1"):
        await bird.send("rewind", turn=7)


async def test_a_worker_killed_during_a_rewind_leaves_a_way_back(aviary: Aviary) -> None:
    """At a rewind's first word, and again right after a turn: the store and the log stay whole."""
    bird = aviary.hatch()
    for number in (1, 2):
        await turn(bird, [{"write": f"f{n}", "content": str(number)} for n in range(20)], number)
    await bird.turn([{"write": "last", "content": "x"}])
    there = {each.name: each.read_text() for each in aviary.work.iterdir()}
    since = bird.events()[-1].seq
    worker, sending = bird.worker, asyncio.create_task(bird.send("rewind", turn=1))
    await bird.until(lambda event: event.update.get("state") == "begun", since)
    tree.kill([worker])
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    await bird.gone(worker)
    await bird.send("rewind", undo=True)
    assert {each.name: each.read_text() for each in aviary.work.iterdir()} == there


async def test_an_agent_cannot_rewind_its_session(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await turn(bird, "one", 1)
    line = [sys.executable, "-m", "rookery"]
    words = [[*line, "rewind", bird.id, "0"], [*line, "fork", bird.id]]
    env = [{"name": "ROOKERY_HOME", "value": aviary.home}]
    played = [{"command": each, "env": env} for each in words]
    found = await bird.turn([*played, {"text": "tried"}])
    said = json.dumps([event.update for event in found])
    assert said.count("An agent cannot") >= 2
    assert not [event for event in found if kind_of(event.update) == "_rewind"]
    assert len(os.listdir(os.path.join(aviary.home, "sessions"))) == 1


async def test_a_fork_begins_with_the_turns_and_goes_its_own_way(aviary: Aviary) -> None:
    bird = aviary.hatch()
    for number in (1, 2, 3):
        await turn(bird, f"word{number}", number)
    name = fork(aviary.home, bird.id, 2, "Other")
    branch = Bird(aviary.home, name)
    aviary.birds.append(branch)
    header = branch.header()
    assert (header.title, header.turn, header.agent_session) == ("Other", 2, None)
    assert header.forked_from["id"] == bird.id
    said = text_of(branch.events())
    assert "word2" in said
    assert "word3" not in said
    found = await branch.turn("fresh")
    assert found[0].update["turn"] == 3
    assert is_recapped(found)
    with Reader.open(str(branch.directory)) as log:
        assert "word1" in reading.recap(log, found[0].seq).text()
    with pytest.raises(Rejected, match="no finished turn 9"):
        fork(aviary.home, bird.id, 9)


def is_recapped(events: list[Event]) -> bool:
    return any("with a recap" in str(event.update.get("text")) for event in events)


async def test_after_a_rewind_the_next_prompt_brings_what_the_agent_lost(aviary: Aviary) -> None:
    """Once, and not before a command of the agent's, nor where the user sends one."""
    bird = aviary.hatch()
    await turn(bird, "word1", 1)
    await turn(bird, "word2", 2)
    done = await bird.send("rewind", turn=1, files=False)
    assert done.update["memory"] == "lost"
    assert not is_recapped(await bird.turn("/status"))
    found = await bird.turn([{"text": "$prompt"}])
    assert is_recapped(found)
    found = await bird.turn("again")
    assert not is_recapped(found)
    await bird.send("rewind", turn=1, files=False)
    with Reader.open(str(bird.directory)) as log:
        own = reading.recap(log).text()
    found = await bird.turn(f"{own}\n\ngo on")
    assert not is_recapped(found)
    said = text_of(await bird.turn("that was all"))
    assert "word1" not in said


async def test_a_recap_that_is_due_outlives_a_killed_worker(aviary: Aviary) -> None:
    """It is sent and said once, also where the agent cannot load what it began."""
    able = {"loadSession": False, "sessionCapabilities": {"resume": None, "fork": None}}
    bird = aviary.hatch({"agent": {"capabilities": able}})
    await turn(bird, "word1", 1)
    await turn(bird, "word2", 2)
    await bird.send("rewind", turn=1, files=False)
    worker = bird.worker
    tree.kill([worker])
    await bird.gone(worker)
    found = await bird.turn("go on")
    said = text_of(found)
    assert is_recapped(found)
    assert ("word1" in said, "word2" in said) == (True, False)
    assert not is_recapped(await bird.turn("again"))


async def test_a_recap_that_was_sent_is_not_sent_again_after_a_kill(aviary: Aviary) -> None:
    bird = aviary.hatch()
    await turn(bird, "word1", 1)
    await turn(bird, "word2", 2)
    await bird.send("rewind", turn=1, files=False)
    begun = await bird.prompt([{"text": "begun"}, {"until": "cancel"}])
    await bird.until(lambda event: is_text(event, "begun"), begun.seq)
    worker = bird.worker
    tree.kill([worker])
    await bird.gone(worker)
    await bird.turn("go on")
    assert sum(is_recapped([event]) for event in bird.events()) == 1


async def test_an_agent_without_memory_reads_the_recap_and_not_what_was_hidden(
    aviary: Aviary,
) -> None:
    bird = aviary.hatch()
    await turn(bird, "word1", 1)
    await turn(bird, "word2", 2)
    await bird.send("rewind", turn=1, files=False)
    said = text_of(await bird.turn("go on"))
    assert said.index("Recap of the conversation") < said.index("word1") < said.index("go on")
    assert "word2" not in said


async def test_a_fork_after_a_rewind_has_the_turns_that_are_seen(aviary: Aviary) -> None:
    """Those after the rewind get their own numbers, with their files; a hidden one can be named."""
    bird = aviary.hatch()
    for number in (1, 2, 3):
        await turn(bird, [{"write": "a", "content": str(number)}, {"text": f"t{number}"}], number)
    await bird.send("rewind", turn=1)
    seen = Bird(aviary.home, fork(aviary.home, bird.id))
    hidden = Bird(aviary.home, fork(aviary.home, bird.id, 3))
    await turn(bird, [{"write": "a", "content": "4"}, {"text": "t4"}], 4)
    later = Bird(aviary.home, fork(aviary.home, bird.id))
    aviary.birds += [seen, hidden, later]
    assert [text_of(each.events()) for each in (seen, hidden, later)] == ["t1", "t1t2t3", "t1t4"]
    assert [each.header().turn for each in (seen, hidden, later)] == [1, 3, 2]
    assert [row["files"] for row in turns(aviary.home, later.id)] == [True, True, True]
    assert [each[:2] for each in previewed(later, 1)] == [("changed", "a")]
    assert update(aviary.home).done
    roles = [hit.role for hit in query(aviary.home, "t1").hits]
    assert (roles.count("answer"), roles.count("prompt")) == (1, 1), "copies are one hit"
    names = [each.header().title.partition(": ")[0] for each in (seen, hidden, later)]
    assert names == ["Fork", "Fork 2", "Fork 3"]


async def test_a_fork_has_the_snapshots_of_its_turns(aviary: Aviary) -> None:
    """It can be rewound like the session it comes from, also when that is deleted."""
    bird, file = aviary.hatch(), aviary.work / "a"
    for number in (1, 2):
        await turn(bird, [{"write": "a", "content": str(number)}], number)
    branch = Bird(aviary.home, fork(aviary.home, bird.id, 2))
    aviary.birds.append(branch)
    fleet.remove(aviary.home, bird.id)
    aviary.birds.remove(bird)
    assert [row["files"] for row in turns(aviary.home, branch.id)] == [True, True, True]
    assert previewed(branch, 1) == [("changed", "a", "own")]
    await branch.send("rewind", turn=1)
    assert file.read_text() == "1"
    await branch.send("rewind", undo=True)
    assert file.read_text() == "2"


async def test_a_list_shows_no_line_of_a_hidden_turn(aviary: Aviary) -> None:
    bird = aviary.hatch()
    for number in (1, 2):
        await turn(bird, [{"text": f"said{number}"}], number)
    await bird.send("rewind", turn=1, files=False)
    assert bird.header().last == "said1"
    assert update(aviary.home).done
    assert [hit.snippet.text for hit in query(aviary.home, "said2").hits] == []
    assert len(query(aviary.home, "said1").hits) == 2, "the answer and the prompt"
    await bird.send("rewind", undo=True)
    assert bird.header().last == "said2"


async def test_a_preview_uses_the_configured_size_limit(aviary: Aviary) -> None:
    aviary.configure(snapshot_file_bytes=1000)
    aviary.trust()
    bird = aviary.hatch()
    await turn(bird, [{"write": "a", "content": "1"}], 1)
    (aviary.work / "large").write_bytes(bytes(2000))
    assert previewed(bird, 0) == [("removed", "a", "own")]


async def test_a_worker_killed_during_a_snapshot_loses_nothing(aviary: Aviary) -> None:
    """With the process that takes it, at some moments of it; the next snapshot works."""
    bird = aviary.hatch()
    await turn(bird, [{"write": "a", "content": "0"}], 1)
    for number in range(2, 5):
        for each in range(200):
            (aviary.work / f"f{each}").write_text(f"{number} {each}")
        await bird.turn([{"write": "a", "content": str(number)}])
        worker = bird.worker
        await asyncio.sleep(0.05 * (number - 2))  # whatever it does then
        tree.kill([worker])
        await bird.gone(worker)
    await turn(bird, [{"write": "a", "content": "end"}], 5)
    await bird.send("rewind", turn=1, conversation=False)
    assert (aviary.work / "a").read_text() == "0"
    await bird.send("rewind", undo=True)
    assert (aviary.work / "a").read_text() == "end"
    assert (aviary.work / "f199").read_text() == "4 199"
