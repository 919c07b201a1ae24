"""Worktrees through the daemon: created, compared, merged, dropped."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rookery.client import fleet
from rookery.client.daemon import logins
from rookery.client.daemon.logins import Login
from tests.cli.driving import rookery
from tests.client.work_tree.trees import WHO, Tree
from tests.daemon.served import Served, awaited, serve

PLAY = [sys.executable, "-m", "rookery", "play"]


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
        _race(served, tree, home)
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
    assert tree.git("log", "-1", "--format=%s") == "Change a.txt\n"
    assert ask("GET", "")[1]["worktree"]["state"] == "merged"
    other = served.create(cwd=tree.cwd, worktree=True)
    assert served.ask("POST", f"/api/sessions/{other}/drop", {}).status == 200
    refused = served.ask("POST", "/api/sessions", {"cwd": "/", "worktree": True}).json()
    assert refused["error"] == "no_repository"


def _race(served: Served, tree: Tree, home: Path) -> None:
    """Started, compared and decided through the daemon, and by the command line over it."""
    for name, text in (("good", "good\n"), ("bad", "bad\n")):
        script = home / f"{name}.json"
        script.write_text(json.dumps({"otherwise": [{"write": "a.txt", "content": text}]}))
        command = json.dumps([*PLAY, str(script)])
        with (home / "config.toml").open("a") as file:
            file.write(f"[agents.{name}]\ncommand = {command}\n")
    body = {"agents": ["good", "bad", "nobody"], "cwd": tree.cwd, "prompt": "Go", "confirm": "all"}
    key = {"Idempotency_Key": "race-1"}
    started = served.ask("POST", "/api/races", body, **key)
    assert started.status == 201, started.body
    assert served.ask("POST", "/api/races", body, **key).json() == started.json()
    race, entries = started.json()["id"], started.json()["entries"]
    assert [bool(each["session"]) for each in entries] == [True, True, False]
    assert (entries[2]["agent"], entries[2]["why"]) == ("nobody", "no such agent")

    def rows() -> Any:
        return served.ask("GET", "/api/races/latest").json()["sessions"]

    awaited(lambda: [row["state"] for row in rows()] == ["done", "done"])
    screen = served.ask("GET", f"/races/{race}").body.decode()
    assert screen.count('data-do="race-pick"') == 2
    logins.save(str(home), Login(served.address, served.token))
    away = {"ROOKERY_URL": served.address}
    shown = rookery("race", "show", "--json", **away)
    assert [json.loads(line)["files"] for line in shown.out.splitlines()] == [1, 1], shown.err
    picked = rookery("race", "pick", entries[0]["session"], "--yes", "--squash", **away)
    assert picked.code == 0, picked.err
    assert f"Dropped {entries[1]['session']} (bad)." in picked.err
    assert tree.read("a.txt") == b"good\n"
    again = served.ask("POST", "/api/races/pick", {"session": entries[0]["session"]}).json()
    assert again["error"] == "no_worktree"
    dropped = served.ask("POST", "/api/races/drop", {"race": race}, Idempotency_Key="d").json()
    assert dropped == {"dropped": []}
    for head in fleet.heads(str(home)):
        fleet.remove(str(home), head["id"], force=True)


def test_a_merge_that_is_sent_twice_runs_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    tree = Tree(tmp_path / "tree", a__txt="one\n")
    served = serve(home)
    try:
        session = served.create(cwd=tree.cwd, worktree="twice", title="Twice")
        place = served.ask("GET", f"/api/sessions/{session}").json()["cwd"]
        Path(place, "a.txt").write_text("two\n")
        token = served.token

        def merge(_: int) -> Any:
            path, body = f"/api/sessions/{session}/merge", {"how": "squash"}
            answer = served.ask("POST", path, body, token=token, Idempotency_Key="m1")
            return answer.status, answer.json()

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(merge, range(4)))
        assert all(each == answers[0] for each in answers)
        assert answers[0][0] == 200
        assert tree.git("rev-list", "--count", "HEAD") == "2\n"
    finally:
        served.stop()


def _by_the_page(served: Served, tree: Tree) -> None:
    form = served.ask("GET", "/new").body.decode()
    assert 'name="worktree"' in form
    session = served.create(cwd=tree.cwd, worktree=True)
    assert served.ask("DELETE", f"/api/sessions/{session}?force=true").status == 200


def test_what_has_a_key_is_done_once_also_after_the_daemon_was_killed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork, a merge and a race: the answers are the same, and nothing is made twice."""
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    tree = Tree(tmp_path / "tree", a__txt="one\n")
    served = serve(home)
    session = served.create(cwd=tree.cwd, worktree="once", title="Once")
    place = served.ask("GET", f"/api/sessions/{session}").json()["cwd"]
    Path(place, "a.txt").write_text("two\n")
    race = {"agents": ["demo"], "cwd": tree.cwd, "prompt": "hello"}
    asked: list[tuple[str, Any, str]] = [
        (f"/api/sessions/{session}/fork", {"title": "Fork"}, "f1"),
        ("/api/races", race, "r1"),
        (f"/api/sessions/{session}/merge", {"how": "squash"}, "m1"),
    ]

    def ask_all() -> list[Any]:
        found = [served.ask("POST", path, body, Idempotency_Key=key) for path, body, key in asked]
        return [(each.status, each.json()) for each in found]

    try:
        first = ask_all()
        assert [status for status, _ in first] == [201, 201, 200]
        served.kill()
        served = serve(home)
        assert ask_all() == first
        other = served.ask("POST", asked[0][0], {"title": "Other"}, Idempotency_Key="f1")
        assert (other.status, other.json()["error"]) == (409, "key_reused")
        titles = [head["title"] for head in fleet.heads(str(home))]
        assert (titles.count("Fork"), len(titles)) == (1, 3)
        assert tree.git("rev-list", "--count", "HEAD") == "2\n"
    finally:
        served.stop()
        for head in fleet.heads(str(home)):
            fleet.remove(str(home), head["id"], force=True)


def test_a_merge_is_not_done_again_where_only_its_answer_was_lost(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon was killed after the merge, and before it noted the result."""
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)
    tree = Tree(tmp_path / "tree", a__txt="one\n")
    served = serve(home)
    try:
        session = served.create(cwd=tree.cwd, worktree="lost", title="Lost")
        place = served.ask("GET", f"/api/sessions/{session}").json()["cwd"]
        Path(place, "a.txt").write_text("two\n")
        body = {"how": "squash", "message": "", "keep": False}
        path = f"/api/sessions/{session}/merge"
        assert served.ask("POST", path, body, Idempotency_Key="m2").status == 200
        served.kill()
        [note] = (home / "daemon" / "keys").glob("*[0-9a-f]")
        row = json.loads(note.read_text())
        row.pop("result")
        note.write_text(json.dumps(row | {"done": False}))
        served = serve(home)
        again = served.ask("POST", path, body, Idempotency_Key="m2")
        assert (again.status, again.json()["kept"]) == (200, False)
        assert served.ask("POST", path, body, Idempotency_Key="m3").json()["error"] == "no_worktree"
        assert tree.git("rev-list", "--count", "HEAD") == "2\n"
    finally:
        served.stop()
