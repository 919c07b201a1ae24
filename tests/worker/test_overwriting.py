"""What an overwritten file costs: nothing, a rewind, or the file. The worker looks, the guard
judges; and a worktree's origin is nobody's temporary directory."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rookery.core.json.events import Event
from rookery.core.policy.rules import Call
from rookery.home import call_paths
from rookery.home.overwritten import Snapshots
from tests.worker.aviary import Aviary, Bird, is_ask, text_of
from tests.worker.test_policy import run

type Json = dict[str, Any]

COMMANDS = Path(__file__).parents[2] / "fixtures" / "commands"
LARGE = 1 << 20
KEPT = (
    *("README.md", "src/app.py", "src/main.py", "package.json", "config.yml", "notes.txt"),
    *("Makefile", "docs/guide.md"),
)
IGNORED = (".env", "app.db", "data/dump.sql", "logs/app.log")


def git(place: Path, *words: str) -> None:
    name = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
    subprocess.run(["git", "-C", place, *name, *words], check=True, capture_output=True)


def make_project(top: Path) -> Path:
    for name in (*KEPT, *IGNORED):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")
    (top / ".gitignore").write_text(".env\n*.db\n/data/\nlogs/\n")
    (top / "model.bin").write_bytes(b"x" * (LARGE + 1))
    git(top, "init", "-q")
    return top


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def look(project: Path, line: str, most: int = LARGE, **given: Any) -> Call:
    call: Json = {"kind": "execute", "rawInput": {"command": line, **given}}
    home = str(project.parent / "home")
    lay = call_paths.lay(home, os.environ)
    return call_paths.look_at("x", call, [str(project)], lay, Snapshots(most, "", home, os.environ))


def judged(call: Call) -> str:
    return "destructive" if call.danger else "risky" if call.risk else "none"


@pytest.mark.parametrize("name", ["guard", "guard-later"])
def test_the_guard_in_a_project_with_files_of_each_fate(project: Path, name: str) -> None:
    """At least 95 % caught, as what they are; at most 3 % of the harmless ones flagged."""
    text = (COMMANDS / f"{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    found = [(row["danger"], judged(look(project, row["command"])), row) for row in rows]
    harmful = [each for each in found if each[0] != "none"]
    harmless = [each for each in found if each[0] == "none"]
    missed = [row["command"] for wanted, got, row in harmful if wanted != got]
    flagged = [row["command"] for _, got, row in harmless if got != "none"]
    assert len(harmful) >= 100
    assert len(harmless) >= 100
    assert len(missed) <= 0.05 * len(harmful), missed
    assert len(flagged) <= 0.03 * len(harmless), flagged


@pytest.mark.parametrize(
    ("line", "fate"),
    [
        ("echo x > README.md", "risky"),
        ("cd src && echo x > app.py", "risky"),
        ("cp notes.txt src", "none"),
        ("cp other/app.py src", "risky"),
        ("rm README.md", "risky"),
        ("echo x > .env", "destructive"),
        ("rm .env", "destructive"),
        ("cat big > model.bin", "destructive"),
        ("echo x > .git/config", "destructive"),
        ("echo x > new.txt", "none"),
        (": > new.db", "none"),
        ("echo x >> .env", "none"),
        ("tee -a .env < README.md", "none"),
        ("echo x > src", "none"),
        ("echo x > link.txt", "risky"),
        ("echo x > away.txt", "destructive"),
        ("echo x > empty.db", "none"),
        ("echo x > forced.db", "risky"),
    ],
)
def test_what_becomes_of_a_file(project: Path, line: str, fate: str) -> None:
    (project / "empty.db").touch()
    (project / "link.txt").symlink_to("README.md")
    kept = Path("/var/tmp") / f"rookery-{os.getpid()}"
    kept.write_text("text\n")
    try:
        (project / "away.txt").symlink_to(kept)
        (project / "forced.db").write_text("text\n")
        (project / ".gitignore").write_text(".env\n*.db\n!forced.db\n/data/\nlogs/\n")
        assert judged(look(project, line)) == fate
    finally:
        kept.unlink()


def test_without_snapshots_nothing_brings_a_file_back(project: Path) -> None:
    found = look(project, "echo x > README.md", most=0)
    assert found.danger == "overwrites a file that nothing brings back (README.md)"


def test_a_call_that_says_where_it_runs_is_taken_at_its_word(project: Path) -> None:
    assert judged(look(project, ": > app.py", cwd=str(project / "src"))) == "risky"
    assert judged(look(project, ": > app.py")) == "none"


def test_nothing_of_the_repository_runs_while_files_are_looked_at(project: Path) -> None:
    mark = project.parent / "ran"
    script = project.parent / "evil"
    script.write_text(f"#!/bin/sh\ntouch {mark}\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "filter.x.clean", "filter.x.process"):
        git(project, "config", key, str(script))
    (project / ".gitattributes").write_text("* filter=x\n")
    assert judged(look(project, "echo x > README.md")) == "risky"
    assert not mark.exists()


async def asked(bird: Bird, begun: Event) -> Json:
    """What waits for the user."""
    found = await bird.until(lambda e: is_ask(e) and "ruled" not in e.update, begun.seq)
    return found.update


async def test_the_worker_asks_about_what_is_lost_and_names_all_of_it(aviary: Aviary) -> None:
    make_project(aviary.work)
    bird = aviary.hatch(confirm="all")
    both = "rm -rf build && git push --force; : > .env"
    begun = await bird.prompt([run("echo x > README.md"), run("echo x > new.txt"), run(both)])
    ask = await asked(bird, begun)
    assert ask["danger"] == (
        "deletes files permanently (rm -rf), rewrites a remote's history (git push --force) "
        "and empties a file that nothing brings back (.env)"
    )
    await bird.answer(ask, "reject")
    await bird.ended(begun)
    assert text_of(bird.events()).startswith("<ran echo x > README.md><ran echo x > new.txt>")


async def test_what_a_snapshot_brings_back_is_risky_and_says_so(aviary: Aviary) -> None:
    make_project(aviary.work)
    bird = aviary.hatch(confirm="risky")
    begun = await bird.prompt([run("echo x > new.txt"), run("echo x > README.md")])
    ask = await asked(bird, begun)
    assert "danger" not in ask
    assert ask["risk"] == "overwrites README.md"
    await bird.answer(ask, "allow")
    await bird.ended(begun)
    assert text_of(bird.events()) == "<ran echo x > new.txt><ran echo x > README.md>"


def edit(path: Path) -> Json:
    return {"ask": "edit", "kind": "edit", "locations": [{"path": str(path)}]} | {
        "allowed": [{"text": f"<wrote {path.name}>"}],
        "rejected": [{"text": "<refused>"}],
    }


async def test_a_session_in_a_worktree_does_not_edit_its_origin_unasked(aviary: Aviary) -> None:
    """Also where that lies in a temporary directory, as here, which is free otherwise."""
    origin = make_project(aviary.work)
    git(origin, "add", "README.md")
    git(origin, "commit", "-qm", "x")
    tree = origin.parent / "tree"
    git(origin, "worktree", "add", "-q", str(tree))
    bird = aviary.hatch(confirm="all", cwd=str(tree))
    own, other = edit(tree / "a.txt"), edit(origin.parent / "b.txt")
    begun = await bird.prompt([own, other, edit(origin / "c.txt"), run(f"echo x > {origin}/d.txt")])
    ask = await asked(bird, begun)
    assert ask["danger"] == f"writes outside the session's directories ({origin}/c.txt)"
    await bird.answer(ask, "reject")
    again = await bird.until(lambda e: "d.txt" in str(e.update.get("danger")), begun.seq)
    await bird.answer(again.update, "reject")
    await bird.ended(begun)
    assert text_of(bird.events()).startswith("<wrote a.txt><wrote b.txt><refused>")
