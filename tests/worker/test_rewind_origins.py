"""A rewind takes back what its session alone changed. What others changed, or what was committed
since, it takes back only by a yes to exactly the list that was shown."""

import asyncio
from pathlib import Path

import pytest

from rookery.client.rewind.preview import preview
from rookery.client.session import Rejected
from rookery.core.turn.rewind_preview import left_alone
from rookery.processes import tree
from tests.snapshots.meadow import git
from tests.worker.aviary import Aviary, Bird
from tests.worker.test_rewind import is_snapshot, meadow_of, turn


def write(path: str, text: str) -> dict[str, object]:
    return {"write": path, "content": text}


def origins(bird: Bird, turn: int = 0, *, undo: bool = False) -> dict[str, str]:
    found = preview(bird.home, bird.id, turn, undo=undo)
    return {each.path: each.by for each in found.changes}


def texts(aviary: Aviary) -> dict[str, str]:
    found = [each for each in aviary.work.iterdir() if each.is_file()]
    return {each.name: each.read_text() for each in found if not each.name.startswith(".git")}


@pytest.fixture
def work(aviary: Aviary) -> Path:
    meadow_of(aviary)
    (aviary.work / ".gitattributes").unlink()
    git(aviary.work, "config", "--unset", "core.autocrlf")
    git(aviary.work, "add", "-A")
    git(aviary.work, "commit", "-qm", "first")
    return aviary.work


async def test_what_the_user_changed_since_stays_until_there_is_a_yes_to_that_list(
    aviary: Aviary, work: Path
) -> None:
    bird = aviary.hatch()
    (work / "shared").write_text("first")
    await turn(bird, [write("own", "agent"), write("shared", "agent")], 1)
    (work / "shared").write_text("by hand")
    (work / "untracked").write_text("precious")
    assert origins(bird) == {"own": "own", "shared": "hand", "untracked": "hand"}
    done = (await bird.send("rewind", turn=0)).update
    assert texts(aviary) == {"shared": "by hand", "untracked": "precious"}
    assert done["kept"] == {"shared": "changed since", "untracked": "changed since"}

    shown = preview(aviary.home, bird.id, 0)
    (work / "untracked").write_text("more precious")
    with pytest.raises(Rejected) as refused:
        await bird.send("rewind", turn=0, fingerprint=shown.fingerprint)
    assert refused.value.reason == "changed"
    assert texts(aviary) == {"shared": "by hand", "untracked": "more precious"}

    again = preview(aviary.home, bird.id, 0)
    await bird.send("rewind", turn=0, fingerprint=again.fingerprint)
    assert texts(aviary) == {"shared": "first"}
    await bird.send("rewind", undo=True)
    assert texts(aviary) == {"shared": "by hand", "untracked": "more precious"}


async def test_what_was_committed_since_stays_whoever_changed_it(
    aviary: Aviary, work: Path
) -> None:
    """Its own file, and one that another session changed and the user merged."""
    bird, other = aviary.hatch(), aviary.hatch()
    await turn(bird, [write("own", "agent"), write("kept", "agent")], 1)
    await turn(other, [write("theirs", "other")], 1)
    git(work, "add", "kept", "theirs")
    git(work, "commit", "-qm", "merged")
    await turn(bird, [write("kept", "agent again")], 2)
    assert origins(bird) == {"own": "own", "kept": "committed", "theirs": "committed"}
    await bird.send("rewind", turn=0, conversation=False)
    assert texts(aviary) == {"kept": "agent again", "theirs": "other"}
    assert origins(bird, 1) == {"kept": "own", "own": "own"}


async def test_a_checkout_that_the_agent_ran_is_rewound_although_git_has_the_file(
    aviary: Aviary, work: Path
) -> None:
    (work / "a").write_text("committed")
    git(work, "add", "a")
    git(work, "commit", "-qm", "second")
    (work / "a").write_text("a day's work")
    bird = aviary.hatch()
    await turn(bird, [{"command": ["git", "checkout", "-q", "a"]}], 1)
    assert texts(aviary) == {"a": "committed"}
    await bird.send("rewind", turn=0)
    assert texts(aviary) == {"a": "a day's work"}


async def test_another_session_keeps_what_it_changed_before_since_and_meanwhile(
    aviary: Aviary, work: Path
) -> None:
    bird, other = aviary.hatch(), aviary.hatch()
    await turn(other, [write("earlier.txt", "other")], 1)
    begun = await bird.prompt([write("own.txt", "agent"), {"until": "cancel"}])
    await bird.until(lambda event: "own.txt" in str(event.update.get("locations")), begun.seq)
    # Until then, what others change may have been there before the turn: it is left alone.
    await bird.until(lambda event: is_snapshot(event, 1, "prompt"), begun.seq)
    both = [write("meanwhile.txt", "other"), write("own2.txt", "other")]
    await turn(other, both, 2)
    await bird.send("cancel")
    await bird.until(lambda event: event.update.get("when") == "end", begun.seq)
    await turn(other, [write("since.txt", "other")], 3)
    found = preview(aviary.home, bird.id, 0)
    assert {each.path: (each.by, each.who) for each in found.changes} == {
        "own.txt": ("own", ""),
        **dict.fromkeys(("meanwhile.txt", "own2.txt", "since.txt"), ("session", other.id)),
    }
    await bird.send("rewind", turn=0)
    assert sorted(texts(aviary)) == ["earlier.txt", "meanwhile.txt", "own2.txt", "since.txt"]


async def test_an_undo_brings_back_what_the_rewind_took_and_no_more(
    aviary: Aviary, work: Path
) -> None:
    bird = aviary.hatch()
    await turn(bird, [write("a", "agent"), write("b", "agent"), write("c", "agent")], 1)
    await bird.send("rewind", turn=0)
    (work / "b").write_text("mine since")
    (work / "new").write_text("mine, too")
    assert origins(bird, undo=True) == {"a": "own", "b": "hand", "c": "own", "new": "hand"}
    await bird.send("rewind", undo=True)
    assert texts(aviary) == {"a": "agent", "b": "mine since", "c": "agent", "new": "mine, too"}


async def test_what_the_user_writes_between_a_turns_end_and_its_snapshot_is_the_users(
    aviary: Aviary, work: Path
) -> None:
    bird, mine = aviary.hatch(), work / "mine"
    ended = (await bird.turn([write("a", "agent")]))[-1]
    mine.write_text("x")
    while mine.stat().st_ctime * 1000 <= ended.at:  # the clock of files is coarse
        mine.write_text("x")
    await bird.until(lambda event: event.update.get("when") == "end")
    assert origins(bird) == {"a": "own", "mine": "hand"}


async def test_permissions_links_and_folders_that_the_user_changed_since_stay(
    aviary: Aviary, work: Path
) -> None:
    bird = aviary.hatch()
    steps = "mkdir d e; for each in m n d/f; do echo x > $each; done; ln -s m l; ln -s m k"
    await turn(bird, [{"command": ["sh", "-c", steps]}], 1)
    (work / "m").chmod(0o600)
    (work / "l").unlink()
    (work / "l").symlink_to("elsewhere")
    (work / "mine").mkdir()
    assert origins(bird) == {
        **dict.fromkeys(("n", "k", "d/f", "e/"), "own"),
        **dict.fromkeys(("m", "l", "mine/"), "hand"),
    }
    await bird.send("rewind", turn=0)
    assert sorted(each.name for each in work.iterdir() if each.name[:4] != ".git") == [
        *("l", "m", "mine")
    ]
    assert (work / "l").readlink() == Path("elsewhere")


async def test_a_preview_names_what_is_left_alone(aviary: Aviary, work: Path) -> None:
    aviary.configure(snapshot_file_bytes=1000)
    aviary.trust()
    (work / "big").write_bytes(bytes(2000))
    (work / "nested").mkdir()
    git(work / "nested", "init", "-q")
    (work / "x.ign").write_text("x")
    bird = aviary.hatch()
    await turn(bird, [write("a", "agent")], 1)
    assert list(left_alone(preview(aviary.home, bird.id, 0))) == [
        "ignored by git: x.ign",
        "too large: big",
        "nested repositories: nested",
    ]


async def test_a_rewind_that_was_killed_half_way_is_done_again(aviary: Aviary, work: Path) -> None:
    """What it had not reached yet is still the session's own, and so is what it had."""
    bird = aviary.hatch()
    names = [f"f{number}" for number in range(40)]
    await turn(bird, [write(name, "1") for name in names], 1)
    await turn(bird, [write(name, "2") for name in names], 2)
    since, worker = bird.events()[-1].seq, bird.worker
    sending = asyncio.create_task(bird.send("rewind", turn=1))
    await bird.until(lambda event: event.update.get("state") == "begun", since)
    tree.kill([worker])
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    await bird.gone(worker)
    (work / "mine").write_text("since")
    await bird.send("rewind", turn=1)
    assert texts(aviary) == dict.fromkeys(names, "1") | {"mine": "since"}


async def test_a_commit_before_the_turn_to_which_it_goes_does_not_count(
    aviary: Aviary, work: Path
) -> None:
    """A new snapshot is taken where a commit came and no file changed."""
    bird = aviary.hatch()
    await turn(bird, [write("a", "1")], 1)
    git(work, "add", "a")
    git(work, "commit", "-qm", "second")
    await turn(bird, [write("a", "2")], 2)
    assert origins(bird, 1) == {"a": "own"}
    assert origins(bird, 0) == {"a": "committed"}
