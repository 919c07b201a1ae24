"""A worktree is made for a session, with what it needs; a failure leaves nothing."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rookery.client import fleet
from rookery.client.create import create_session
from rookery.client.worktrees import place, upkeep
from rookery.client.worktrees.repository import NoWorktree
from rookery.home import paths
from rookery.processes import tree as processes
from tests.client.work_tree.trees import WHO, Tree

ODD = "my projekt ü\n'x'"


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    found = Tree(tmp_path / ODD, a__txt="one\n", __gitignore=".env\nlib/\n")
    found.put({"sub dir/b.txt": "two\n"})
    found.save()
    return found


def make(home: Path, cwd: str | Path, name: str = "", **more: object) -> str:
    given = {"agent": "demo", "argv": [], "cwd": str(cwd), "worktree": name, **more}
    return create_session(str(home), **given)  # type: ignore[arg-type]


def header(home: Path, session: str) -> dict[str, object]:
    head = fleet.head_of_session(str(home), session)
    assert head is not None
    return head


def nothing_is_left(home: Path, tree: Tree) -> None:
    assert tree.git("worktree", "list").count("\n") == ODD.count("\n") + 1
    assert tree.git("branch", "--list", "rookery/*") == ""
    assert not (home / "worktrees").exists() or not os.listdir(home / "worktrees")
    assert not os.path.exists(tree.place / ".git" / "worktrees")


def prepare(home: Path, tree: Tree, *lines: str) -> None:
    path = str(tree.place).replace("\\", "\\\\").replace("\n", "\\n")
    (home / "config.toml").write_text(f'[worktrees."{path}"]\n' + "\n".join(lines) + "\n")


def test_a_session_works_in_a_copy_of_its_own(home: Path, tree: Tree) -> None:
    session = make(home, tree.place / "sub dir", "Log in/v2")
    head = header(home, session)
    found = head["worktree"]
    assert isinstance(found, dict)
    assert found["branch"] == "rookery/Log-in/v2"
    assert found["base"] == tree.git("rev-parse", "HEAD").strip()
    assert (found["origin"], found["from"]) == (str(tree.place / "sub dir"), "main")
    assert head["cwd"] == os.path.join(found["path"], "sub dir")
    assert str(found["path"]).startswith(str(home / "worktrees" / session))
    assert Path(str(head["cwd"]), "b.txt").read_text() == "two\n"
    assert tree.status() == ""
    fleet.remove(str(home), session)
    nothing_is_left(home, tree)


def test_it_begins_at_another_branch_where_one_is_named(home: Path, tree: Tree) -> None:
    tree.git("branch", "older")
    tree.put({"a.txt": "newer\n"})
    tree.save()
    head = header(home, make(home, tree.place, base="older"))
    found = head["worktree"]
    assert isinstance(found, dict)
    assert found["base"] == tree.git("rev-parse", "older").strip()
    assert Path(str(head["cwd"]), "a.txt").read_text() == "one\n"
    assert tree.read("a.txt") == b"newer\n"
    for wrong in ("no-such", "--all", "a..b"):
        with pytest.raises(NoWorktree):
            make(home, tree.place, base=wrong)


def test_files_are_copied_and_the_set_up_command_runs(home: Path, tree: Tree) -> None:
    tree.put({".env": "KEY=1\n", "conf/x.local": "2\n"})
    command = 'pwd > lib.txt; cat .env; echo \\"$ROOKERY_ORIGIN\\" >> lib.txt'
    prepare(home, tree, f'setup = "{command}"', 'copy = [".env", "conf/*.local", "a.txt", "no"]')
    said: list[str] = []
    session = make(home, tree.place, report=said.append)
    found = header(home, session)["worktree"]
    assert isinstance(found, dict)
    top = Path(found["path"])
    assert found["copied"] == [".env", "conf/x.local"]
    assert (top / ".env").read_text() == "KEY=1\n"
    assert (top / "lib.txt").read_text().startswith(f"{top}\n{tree.place}")
    assert "  KEY=1" in said


def test_a_failed_set_up_is_told_and_leaves_nothing(home: Path, tree: Tree) -> None:
    prepare(home, tree, 'setup = "echo no such package; mkdir -p d; chmod 0 d; exit 3"')
    with pytest.raises(NoWorktree, match=r"(?s)exit code 3.*no such package") as failed:
        make(home, tree.place)
    assert failed.value.reason == "setup_failed"
    assert not paths.session_ids(str(home))
    nothing_is_left(home, tree)


def test_a_copied_file_does_not_leave_the_worktree_through_a_link(
    home: Path, tree: Tree, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tree.place / "conf").symlink_to(outside)
    tree.git("add", "-A")
    tree.git("commit", "-qm", "link")
    (tree.place / "conf").unlink()
    tree.put({"conf/key": "secret"})
    prepare(home, tree, 'copy = ["conf/key"]')
    with pytest.raises(NoWorktree, match="leads through a link"):
        make(home, tree.place)
    assert not list(outside.iterdir())
    nothing_is_left(home, tree)


def test_what_has_no_worktree_gets_a_sentence(home: Path, tree: Tree, tmp_path: Path) -> None:
    def refused(cwd: str | Path, name: str = "") -> str:
        with pytest.raises(NoWorktree) as found:
            make(home, cwd, name)
        return found.value.reason

    plain = tmp_path / "plain"
    plain.mkdir()
    assert refused(plain) == "no_repository"
    assert refused(Tree(tmp_path / "empty").place) == "no_commit"
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "bare"], check=True)
    assert refused(tmp_path / "bare") == "bare_repository"
    assert refused(tree.place / ".git") == "bare_repository"
    inner = Tree(tmp_path / "inner", a="1")
    tree.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.cwd, "mod")
    assert refused(tree.place / "mod") == "submodule"
    make(home, tree.place, "taken")
    assert refused(tree.place, "taken") == "branch_exists"
    for name in ("-x", "a..b", "x.lock", "a//b", "x" * 200, "~", "a\x1bb"):
        assert refused(tree.place, name) == "bad_name"
    tree.git("config", "core.sparseCheckout", "true")
    assert refused(tree.place) == "sparse_checkout"


def test_no_hook_runs_and_a_detached_head_is_a_base(home: Path, tree: Tree) -> None:
    """Hooks may be an agent's: the repository's directory is shared."""
    hook = tree.place / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{home}/ran'\n")
    hook.chmod(0o755)
    tree.git("-c", "core.hooksPath=/dev/null", "checkout", "-q", "--detach")
    found = header(home, make(home, tree.place))["worktree"]
    assert isinstance(found, dict)
    assert found["from"] == ""
    assert not (home / "ran").exists()


KILLED = """
import sys
from rookery.client.create import create_session
create_session(sys.argv[1], agent="demo", argv=[], cwd=sys.argv[2], worktree="x")
"""


def _record(home: Path) -> dict[str, Any]:
    names = place.sessions(str(home))
    return (place.record(str(home), names[0]) or {}) if names else {}


def test_kill_9_in_the_middle_leaves_nothing_for_long(home: Path, tree: Tree) -> None:
    prepare(home, tree, f"setup = \"echo $$ > '{home}/begun'; sleep 600\"")
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(home), tree.cwd])
    until = time.monotonic() + 60
    while "setup" not in (record := _record(home)):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    [name] = place.sessions(str(home))
    assert upkeep.mend(str(home)) == []
    assert place.sessions(str(home)) == [name]  # it is being made
    process.send_signal(signal.SIGKILL)
    process.wait()
    (home / "config.toml").unlink()
    pid, start = record["setup"]
    assert processes.alive(pid, start)
    session = make(home, tree.place, "x")
    assert place.sessions(str(home)) == [session]
    assert not processes.wait_gone([processes.Process(pid, start)], 60)
    fleet.remove(str(home), session)
    nothing_is_left(home, tree)


def test_a_worktree_whose_session_is_gone_is_kept_while_it_has_work(home: Path, tree: Tree) -> None:
    session = make(home, tree.place)
    path = Path(str(header(home, session)["cwd"]))
    (path / "work.txt").write_text("mine\n")
    shutil.rmtree(paths.session_dir(str(home), session))
    [said] = upkeep.mend(str(home))
    assert "1 uncommitted file" in said
    assert f"rookery drop {session}" in said
    (path / "work.txt").unlink()
    assert upkeep.mend(str(home)) == []
    nothing_is_left(home, tree)
