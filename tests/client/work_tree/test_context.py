"""The lines around the hunks of a changed file."""

from pathlib import Path

import pytest

from rookery.client.work_tree.changes import File, NoDiff, changes
from rookery.client.work_tree.context import Gap, gaps, lines_of, on_disk, whole
from rookery.render.diff import of_hunk
from tests.client.work_tree.trees import Tree

LINES = [f"line {n}" for n in range(1, 101)]


def changed(tree: Tree, lines: list[str], end: str = "\n") -> File:
    tree.put({"a.txt": "\n".join(lines) + end})
    found = changes(tree.cwd).file("a.txt")
    assert found is not None
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "t", a__txt="\n".join(LINES) + "\n")


def test_lines_between_hunks_are_known_on_both_sides(tree: Tree) -> None:
    lines = [*LINES[:29], "thirty", "more", *LINES[30:59], *LINES[60:]]
    file = changed(tree, lines)
    assert gaps(file) == [Gap(1, 26, 0), Gap(35, 57, 1), Gap(64, 0, 0)]
    shown = whole(file, lines_of(on_disk(tree.cwd, file)))
    rows = [
        row
        for hunk in shown.hunks
        for row in of_hunk([line.decode() for line in hunk.lines], hunk.old, hunk.new)
    ]
    assert [row.text for row in rows if row.new is not None] == lines
    assert [row.text for row in rows if row.old is not None] == LINES
    assert [row.new for row in rows if row.new is not None] == list(range(1, len(lines) + 1))
    assert [row.old for row in rows if row.old is not None] == list(range(1, 101))
    assert [hunk.id for hunk in shown.hunks] == [hunk.id for hunk in file.hunks]


@pytest.mark.parametrize(
    ("lines", "end", "last"),
    [
        ([*LINES[:97], "x", *LINES[98:]], "\n", None),
        ([*LINES[:96], "x", *LINES[97:]], "\n", Gap(101, 0, 0)),
        (LINES, "", None),
        (["x", *LINES], "\n", Gap(5, 0, 1)),
        ([], "", None),
    ],
)
def test_the_last_hunk_may_have_lines_below(
    tree: Tree, lines: list[str], end: str, last: Gap | None
) -> None:
    assert gaps(changed(tree, lines, end))[-1] == last


def test_new_and_deleted_files_have_no_lines_around_hunks(tree: Tree) -> None:
    tree.put({"new.txt": "x\n" * 50})
    (tree.place / "a.txt").unlink()
    assert [any(gaps(file)) for file in changes(tree.cwd).files] == [False, False]
    file = changed(tree, ["x", *LINES])
    tree.put({"a.txt": "another\n"})
    with pytest.raises(NoDiff, match="changed since"):
        on_disk(tree.cwd, file)
