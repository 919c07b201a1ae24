"""Issue 16: worktrees through the daemon: created, compared, merged, dropped."""

from pathlib import Path
from typing import Any

import pytest

from tests.client.work_tree.trees import WHO, Tree
from tests.daemon.served import Served, serve


def test_worktrees_through_the_daemon(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    tree = Tree(tmp_path / "ein Baum", a__txt="one\n")
    served = serve(home)
    try:
        _through(served, tree)
        _by_the_page(served, tree)
    finally:
        served.stop()
    assert tree.git("worktree", "list").count("\n") == 1
    assert tree.git("branch", "--list", "rookery/*") == ""


def _through(served: Served, tree: Tree) -> None:
    session = served.create(cwd=tree.cwd, worktree="login", race="r1", title="Log in")
    place = f"/api/sessions/{session}"

    def ask(method: str, what: str, body: Any = None) -> tuple[int, Any]:
        answer = served.ask(method, place + what, body)
        return answer.status, answer.json()

    _, row = ask("GET", "")
    found = row["worktree"]
    assert (found["branch"], found["origin"], found["state"]) == ("rookery/login", tree.cwd, "open")
    assert row["cwd"] == found["path"]
    Path(found["path"], "a.txt").write_text("one\ntwo\n")
    status, diff = ask("GET", "/diff")
    assert (status, [file["path"] for file in diff["files"]]) == (200, ["a.txt"])
    assert "+two" in diff["patch"]
    page = served.ask("GET", f"/sessions/{session}/changes").body.decode()
    assert "a.txt" in page
    assert "rookery/login" in served.ask("GET", f"/sessions/{session}").body.decode()
    tree.put({"a.txt": "mine\n"})
    status, plan = ask("GET", "/merge")
    assert (plan["in_the_way"], plan["conflicts"], plan["added"]) == (["a.txt"], [], 1)
    status, refused = ask("POST", "/merge", {})
    assert (status, refused["error"]) == (409, "dirty_target")
    tree.git("checkout", "a.txt")
    status, kept = ask("POST", "/drop", {})
    assert (status, kept["error"]) == (409, "unmerged_work")
    status, kept = ask("DELETE", "")
    assert (status, kept["error"]) == (409, "unmerged_work")
    race = served.ask("GET", "/api/races/r1").json()
    assert [(each["files"], each["added"]) for each in race["sessions"]] == [(1, 1)]
    assert served.ask("GET", "/api/races/none").json()["error"] == "no_race"
    status, merged = ask("POST", "/merge", {"how": "squash"})
    assert (status, merged["into"], merged["files"]) == (200, "main", 1)
    assert tree.git("log", "-1", "--format=%s") == "Log in\n"
    assert ask("GET", "")[1]["worktree"]["state"] == "merged"
    other = served.create(cwd=tree.cwd, worktree=True)
    assert served.ask("POST", f"/api/sessions/{other}/drop", {}).status == 200
    refused = served.ask("POST", "/api/sessions", {"cwd": "/", "worktree": True}).json()
    assert refused["error"] == "no_repository"


def _by_the_page(served: Served, tree: Tree) -> None:
    form = served.ask("GET", "/new").body.decode()
    assert 'name="worktree"' in form
    session = served.create(cwd=tree.cwd, worktree=True)
    assert served.ask("DELETE", f"/api/sessions/{session}?force=true").status == 200
