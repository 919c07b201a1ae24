"""`remove`, `restore` and `trash`: nothing that was removed is lost for 14 days."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.driving import Terminal, made, play, rookery
from tests.client.work_tree.trees import WHO, Tree


def trashed() -> list[str]:
    return [json.loads(line)["id"] for line in rookery("trash", "--json").out.splitlines()]


def test_a_removed_session_is_restored_with_its_conversation(home: Path) -> None:
    session = made({"text": "Words to keep"}, title="Keepsake")
    before = rookery("show", session).out
    assert (home / "player").exists()
    removed = rookery("remove", "--yes", session)
    assert removed.code == 0
    assert f"rookery restore {session}" in removed.err
    assert rookery("ps", "--json", "--all").out == ""
    lost = rookery("show", session)
    assert lost.code == 2
    assert f"is in the trash. To restore it: rookery restore {session}" in lost.err
    assert "Keepsake" in rookery("trash").out
    assert rookery("restore").out == rookery("trash").out
    assert trashed() == [session]
    assert rookery("usage", "--json").out.count(session) == 0
    assert rookery("search", "Words to keep").code == 1
    restored = rookery("restore", "Keepsake")
    assert (restored.code, restored.err) == (0, f"Restored {session}.\n")
    assert rookery("show", session).out == before
    assert rookery("search", "Words to keep").code == 0
    assert trashed() == []
    assert "The trash is empty" in rookery("trash").err
    assert rookery("prompt", session, "--wait", play({"text": "Still here"})).out == "Still here\n"


def test_one_that_runs_is_stopped_first(home: Path) -> None:
    session = made({"text": "begun"})
    assert rookery("prompt", session, play({"until": "cancel"})).code == 0
    assert rookery("remove", "--yes", session).code == 0
    assert rookery("restore", session).code == 0
    head = json.loads(rookery("ps", "--json").out)
    assert (head["state"], head["awake"]) == ("idle", False)


def test_permanently_is_permanent_also_for_what_is_in_the_trash(home: Path) -> None:
    first, second, third = (made({"text": "one-of-a-kind"}) for _ in range(3))
    assert rookery("search", "one-of-a-kind").code == 0
    assert rookery("remove", "--yes", first).code == 0
    assert rookery("remove", "--yes", first).code == 2, "only --permanently means the trash, too"
    assert rookery("remove", "--permanently", first, second).code == 2, "--yes is missing"
    gone = rookery("remove", "--yes", "--permanently", first, second)
    assert gone.code == 0, gone.err
    assert trashed() == []
    assert rookery("restore", first).code == 2
    assert rookery("remove", "--yes", third).code == 0
    assert rookery("trash", "--empty").code == 2
    assert trashed() == [third]
    with Terminal("trash", "--empty") as terminal:
        terminal.read_until("Permanently delete this session?")
        terminal.type("y\n")
        assert terminal.end().code == 0
    assert os.listdir(home / "trash") == []
    left = [path for path in home.rglob("*") if path.is_file()]
    assert [path for path in left if b"one-of-a-kind" in path.read_bytes()] == []


def test_a_worktree_and_its_branch_come_back(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    tree = Tree(tmp_path / "repo", a__txt="one\n")
    session = rookery("new", "--agent", "demo", "--worktree=fix", cwd=tree.place).out.strip()
    work = Path(json.loads(rookery("ps", "--json").out)["cwd"])
    (work / "b.txt").write_text("new\n")
    assert "To remove it anyway: --force" in rookery("remove", "--yes", session).err
    pruned = rookery("prune", "--larger-than", "0", "--yes")
    assert f"{session} was kept." in pruned.err
    assert "Deleted" not in pruned.err, "nothing was, nor would be"
    assert rookery("remove", "--yes", "--force", session).code == 0
    assert tree.git("branch", "--list", "rookery/*") == ""
    assert not work.exists()
    assert json.loads(rookery("trash", "--json").out)["branch"] == "rookery/fix"
    assert rookery("restore", session).code == 0
    assert (work / "b.txt").read_text() == "new\n"
    merged = rookery("merge", session, "-m", "fixed", cwd=tree.place)
    assert merged.code == 0, merged.err
    assert tree.read("b.txt") == b"new\n"


def test_prune_moves_to_the_trash_and_says_when_it_is_freed(home: Path) -> None:
    session, other = (rookery("new").out.strip() for _ in range(2))
    rookery("archive", session, other)
    pruned = rookery("prune", "--archived", "--yes")
    assert "Moved 2 sessions to the trash" in pruned.err
    assert "will be freed on" in pruned.err
    assert "rookery trash --empty" in pruned.err
    assert sorted(trashed()) == sorted([session, other])
    assert rookery("restore", session, other).code == 0
    assert "freed." in rookery("prune", "--archived", "--yes", "--permanently").err
    assert trashed() == []


def test_prune_goes_on_past_a_session_that_was_removed_while_it_asked(home: Path) -> None:
    session, other = (rookery("new").out.strip() for _ in range(2))
    rookery("archive", session, other)
    with Terminal("prune", "--archived") as terminal:
        terminal.read_until("Move these 2 sessions to the trash?")
        assert rookery("remove", "--yes", session).code == 0
        terminal.type("y\n")
        pruned = terminal.end()
    assert pruned.code == 0
    assert f"{session} was removed in the meantime." in pruned.out
    assert "Moved 1 session to the trash" in pruned.out
    assert sorted(trashed()) == sorted([session, other])


def test_what_went_to_the_trash_meanwhile_is_not_called_deleted(home: Path) -> None:
    session = rookery("new").out.strip()
    with Terminal("remove", "--permanently", session) as terminal:
        terminal.read_until("Permanently delete this session?")
        assert rookery("remove", "--yes", session).code == 0
        terminal.type("y\n")
        refused = terminal.end()
    assert refused.code == 2
    assert f"is in the trash. To restore it: rookery restore {session}" in refused.out
    assert trashed() == [session]


def test_uninstall_offers_an_export_and_leaves_nothing_in_repositories(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    tree = Tree(tmp_path / "repo", a__txt="one\n")
    kept = made({"text": "Words to keep"}, title="Keepsake")
    given = ("--agent", "demo", "--worktree=fix")
    assert rookery("remove", "--yes", rookery("new", *given, cwd=tree.place).out.strip()).code == 0
    assert "refs/rookery/trash" in tree.git("for-each-ref")
    assert "--export DIR" in rookery("uninstall").err
    with Terminal("uninstall") as terminal:
        terminal.read_until("or Enter for no")
        terminal.type(f"{tmp_path}/out\n")
        terminal.read_until("[y/N]")
        terminal.type("y\n")
        assert terminal.end().code == 0
    assert "Words to keep" in (tmp_path / "out" / "keepsake.md").read_text()
    assert kept in (tmp_path / "out" / "keepsake.jsonl").read_text()
    assert tree.git("for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
    assert not (home / "trash").exists()
    home.mkdir(exist_ok=True)  # for the fixture, which takes it away
