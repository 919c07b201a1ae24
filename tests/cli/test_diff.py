"""`rookery diff` prints what a session's own turns changed, whoever else works in its directory."""

import json
import os
from pathlib import Path

import pytest

from rookery.client.rewind.acts import steps
from rookery.core.json import Event
from rookery.snapshots.job import NOW
from tests.cli.driving import Running, play, rookery
from tests.client.work_tree.trees import Tree

BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "nest", a__txt=BEFORE, b__txt="b\n")


def changed(session: str, *flags: str) -> dict[str, str]:
    found = json.loads(rookery("diff", session, "--json", *flags).out)
    return {file["path"]: f"+{file['added']} -{file['removed']}" for file in found["files"]}


def write(path: str, text: str) -> dict[str, str]:
    return {"write": path, "content": text}


def test_what_the_user_changed_between_two_turns_is_left_out(home: Path, tree: Tree) -> None:
    tree.put({"mine.txt": "mine\n"})
    first = play(write("new.txt", "hello\n"), write("a.txt", BEFORE.replace("one", "ONE")))
    rookery("run", "--agent", "demo", "--title", "Birds", first, cwd=tree.place)
    with Running("tail", "Birds", "--since", "0", "--json") as tail:
        tail.read_until('"when":"end"')  # before the user goes on
    tree.put({"a.txt": BEFORE.replace("one", "ONE").replace("seven", "USER"), "user.txt": "u\n"})
    again = tree.read("a.txt").decode().replace("four", "FOUR")
    rookery("prompt", "Birds", "--wait", play(write("a.txt", again)))
    assert changed("Birds") == {"a.txt": "+2 -2", "new.txt": "+1 -0"}
    assert changed("Birds", "--turn", "1") == {"a.txt": "+1 -1", "new.txt": "+1 -0"}
    assert changed("Birds", "--turn", "2") == {"a.txt": "+1 -1"}
    assert "not known what turn 7 changed" in rookery("diff", "Birds", "--turn", "7").err
    patch = rookery("diff", "Birds").out
    assert "+FOUR" in patch
    assert "USER" not in patch
    everything = changed("Birds", "--all")
    assert everything == {"a.txt": "+3 -3", "mine.txt": "+1 -0", "new.txt": "+1 -0"} | {
        "user.txt": "+1 -0"
    }
    assert rookery("diff", "Birds", "--stat").out.splitlines()[-1] == "2 files, +3 −2"


@pytest.mark.long
def test_of_sessions_that_work_at_the_same_time_each_has_its_own(home: Path, tree: Tree) -> None:
    os.chdir(tree.place)
    wait = "while [ ! -e ../go ]; do sleep 0.1; done"
    running = []
    for name in "pqrs":
        steps_ = [
            {"command": f"echo x > {name}-shell.txt; {wait}"},
            write(f"{name}.txt", "hi\n"),
            {"text": "ok"},
        ]
        running.append(
            Running("run", "--agent", "demo", "--title", f"Session {name}", play(*steps_))
        )
    try:
        for name in "pqrs":
            while not (tree.place / f"{name}-shell.txt").exists():
                pass
        (tree.place.parent / "go").touch()
        assert [each.end().code for each in running] == [0] * 4
    finally:
        for each in running:
            each.__exit__()
    for name in "pqrs":
        assert sorted(changed(f"Session {name}")) == [f"{name}-shell.txt", f"{name}.txt"]
    assert "Without what others changed" in rookery("diff", "Session p").err


def test_without_snapshots_it_says_so_and_what_it_shows_instead(home: Path, tree: Tree) -> None:
    rookery("config", "set", "worker.snapshots", "false")
    work = play(write("new.txt", "hello\n"))
    rookery("run", "--agent", "demo", "--title", "Off", work, cwd=tree.place)
    tree.put({"user.txt": "u\n"})
    done = rookery("diff", "Off", "--stat")
    assert "no snapshots of it" in done.err
    assert "all changes in" in done.err
    assert "user.txt" in done.out
    assert json.loads(rookery("diff", "Off", "--json").out)["of"] == "directory"


def test_where_there_is_neither_a_snapshot_nor_git_it_says_both(home: Path, tmp_path: Path) -> None:
    rookery("config", "set", "worker.snapshots", "false")
    rookery("run", "--agent", "demo", "--title", "Bare", play({"text": "hi"}), cwd=tmp_path)
    done = rookery("diff", "Bare")
    assert (done.code, "internal error" in done.err) == (1, False)
    assert "no snapshots" in done.err
    assert "is not in a git repository" in " ".join(done.err.split())


# --- which snapshots ------------------------------------------------------------------------------


def shot(turn: int, when: str, name: str, **more: object) -> dict[str, object]:
    return {"sessionUpdate": "_snapshot", "turn": turn, "when": when, "id": name, **more}


def rewound(turn: int, **more: object) -> dict[str, object]:
    base = {"sessionUpdate": "_rewind", "state": "done", "files": True, "turn": turn}
    return {**base, "undo": False, **more}


TWO = [shot(1, "prompt", "a"), shot(1, "end", "b"), shot(2, "prompt", "c"), shot(2, "end", "d")]


@pytest.mark.parametrize(
    ("updates", "last", "found"),
    [
        (TWO, 2, [(1, "a", "b"), (2, "c", "d")]),
        ([*TWO[:2], TWO[3]], 2, [(1, "a", "b"), (2, "b", "d")]),
        (TWO[:3], 2, [(1, "a", "b"), (2, "c", NOW)]),
        ([TWO[0], *TWO[2:]], 2, [(1, "a", "c"), (2, "c", "d")]),
        (
            [*TWO[:2], shot(2, "prompt", "c", late=True), TWO[3]],
            2,
            [(1, "a", "b"), (2, "b", "c"), (2, "c", "d")],
        ),
        ([*TWO, shot(2, "rewind", "d"), rewound(1)], 2, [(1, "a", "b")]),
        ([*TWO, rewound(1), rewound(1, undo=True)], 2, [(1, "a", "b"), (2, "c", "d")]),
        ([*TWO, rewound(1, files=False)], 2, [(1, "a", "b"), (2, "c", "d")]),
        ([shot(1, "prompt", "", refused="unfit")], 1, []),
        ([], 0, []),
    ],
)
def test_each_turn_is_a_step_between_two_snapshots(
    updates: list[dict[str, object]], last: int, found: list[tuple[int, str, str]]
) -> None:
    events = [Event(seq, seq, None, None, update) for seq, update in enumerate(updates, 1)]
    assert [each[:3] for each in steps(events, last)] == found
