"""`rookery rewind` shows what it would do, asks, and does only that."""

from pathlib import Path

import pytest

from tests.cli.driving import Running, Terminal, made, rookery
from tests.client.work_tree.trees import Tree


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path / "nest", a__txt="one\n")
    monkeypatch.chdir(tree.place)
    return tree


@pytest.fixture
def session(home: Path, tree: Tree) -> str:
    """Its agent changed one file and made another; the user made a third since."""
    steps = [{"write": "a.txt", "content": "two\n"}, {"write": "b.txt", "content": "agent\n"}]
    found = made(*steps, title="Birds", flags=("--agent", "demo"))
    with Running("tail", found, "--since", "0", "--json") as tail:
        tail.read_until('"when":"end"')
    tree.put({"mine.txt": "precious\n"})
    return found


LISTED = """Changed by this session:
  ~ a.txt
  - b.txt
Changed by hand or by another program since, left alone:
  - mine.txt
"""


def test_off_a_terminal_it_prints_the_list_and_changes_nothing_without_yes(
    session: str, tree: Tree
) -> None:
    done = rookery("rewind", session, "0")
    assert (done.code, done.out) == (2, LISTED)
    assert "2 files would change. 1 other file would stay as it is." in done.err
    assert "The later turn is hidden, not deleted." in done.err
    assert "--yes" in done.err
    assert tree.read("b.txt") == b"agent\n"

    done = rookery("rewind", session, "0", "--yes")
    assert (done.code, done.out) == (0, LISTED)
    assert "Not touched: mine.txt (changed since)" in " ".join(done.err.split())
    assert tree.status() == "?? mine.txt\n"
    assert rookery("rewind", session, "--undo").code == 2
    assert rookery("rewind", session, "--undo", "--yes").code == 0
    assert tree.read("b.txt") == b"agent\n"


def test_all_of_a_list_needs_the_fingerprint_of_that_list(session: str, tree: Tree) -> None:
    refused = rookery("rewind", session, "0", "--all", "--yes")
    assert refused.code == 2
    assert "--fingerprint" in refused.err
    said = rookery("rewind", session, "0", "--all", "--dry-run")
    assert "left alone" not in said.out
    name = said.err.split("--fingerprint ")[1].split()[0]
    tree.put({"mine.txt": "changed meanwhile\n"})
    late = rookery("rewind", session, "0", "--fingerprint", name)
    assert late.code == 1
    assert "Nothing was rewound" in late.err
    assert tree.read("mine.txt") == b"changed meanwhile\n"
    name = rookery("rewind", session, "0", "--all", "--dry-run").err.split("--fingerprint ")[1]
    assert rookery("rewind", session, "0", "--fingerprint", name.split()[0]).code == 0
    assert tree.status() == ""


def test_in_a_terminal_it_asks_and_asks_again_if_files_changed(session: str, tree: Tree) -> None:
    with Terminal("rewind", session, "0") as terminal:
        terminal.read_until("Rewind 2 files and the conversation? [y/N]")
        tree.put({"b.txt": "by hand meanwhile\n"})
        terminal.type("y\n")
        terminal.read_until("Nothing was rewound: look")
        terminal.read_until("Rewind 1 file and the conversation? [y/N]")
        terminal.type("n\n")
        terminal.read_until("Nothing was changed.")
    assert tree.read("a.txt") == b"two\n"
    with Terminal("rewind", session, "0") as terminal:
        terminal.read_until("[y/N]")
        terminal.type("y\n")
        terminal.read_until("To undo this")
    assert tree.read("a.txt") == b"one\n"
    assert tree.read("b.txt") == b"by hand meanwhile\n"


def test_of_many_files_some_are_listed_and_the_rest_is_counted(home: Path, tree: Tree) -> None:
    steps = {"command": "for n in $(seq 60); do echo x > f$n; done"}
    found = made(steps, title="Many", flags=("--agent", "demo", "--approve", "all"))
    with Running("tail", found, "--since", "0", "--json") as tail:
        tail.read_until('"when":"end"')
    done = rookery("rewind", found, "0", "--dry-run")
    assert len(done.out.splitlines()) == 52
    assert "… and 10 more files" in done.out


def test_a_conversation_alone_is_shown_without_the_files(session: str, tree: Tree) -> None:
    done = rookery("rewind", session, "0", "--conversation", "--dry-run")
    assert (done.code, done.out) == (0, "")
    assert done.err == "The later turn is hidden, not deleted.\n"
    assert rookery("rewind", session, "1", "--yes").err.endswith("Nothing to rewind.\n")
