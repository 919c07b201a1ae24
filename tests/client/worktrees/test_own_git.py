"""A sandboxed session in a worktree cannot harm its repository: what it commits is taken over
by git, and nothing else of it gets there. With real bwrap and podman."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.client.trash import moves, store
from rookery.client.worktrees import own_git
from rookery.client.worktrees.drop import tip_of, work_of
from rookery.client.worktrees.repository import NoWorktree
from rookery.operations.merging.session import merge_session
from tests.client.work_tree.trees import WHO, Tree
from tests.client.worktrees.forged import commit
from tests.client.worktrees.sandboxed import WORK, Session
from tests.rigs.player import player
from tests.sandbox import images
from tests.sandbox.cage import ROOT, configure, said
from tests.worker.aviary import Aviary

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in WHO.items():
        monkeypatch.setenv(key, value)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, Tree(tmp_path / "our häuser", a__txt="1\n2\n"))


HARM = {
    "the objects": "rm -rf {git}/objects {git}/shared-objects",
    "one object": "find {git}/ -path '*objects/??/*' -exec sh -c ': > $0' {{}} ';'",
    "the branches": "rm -rf {git}/refs {git}/packed-refs; echo 0 > {git}/refs/heads/main",
    "branches, by git": "git branch -D main; git update-ref -d refs/heads/main; git tag -d v1",
    "another's branch": "git update-ref refs/heads/main HEAD; git update-ref refs/heads/new HEAD",
    "gc": "git reflog expire --expire=now --all; git gc -q --prune=now; git prune --expire=now",
    "repack": "git repack -adq; git pack-refs --all; git prune-packed",
    "other worktrees": "git worktree prune; rm -rf {git}/worktrees; git worktree add -q x",
    "all of it": "rm -rf {git}/* {git}",
    "its own HEAD": "echo junk > {git}/worktrees/{name}/HEAD; rm -f {git}/worktrees/*/index",
    "settings": "git config core.fsmonitor evil; echo x > {git}/commondir; echo x > {git}/config",
    "hooks": "echo x > {git}/hooks/pre-commit; git config core.hooksPath x",
    "grafts": "mkdir -p {git}/info; echo x > {git}/info/grafts; echo x > {git}/shallow",
    "replaced": "git replace -f HEAD $(git commit-tree -m x HEAD^{{tree}})",
    "alternates": "echo /etc > {git}/objects/info/alternates; git gc -q",
}


def test_nothing_inside_harms_the_repository(session: Session) -> None:
    tree = session.tree
    tree.git("tag", "v1")
    tree.git("branch", "other")
    listed = ("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/main")
    refs = [*listed, "refs/heads/other", "refs/heads/new", "refs/tags"]
    kept = [Path(session.git, name) for name in ("config", "HEAD")]
    before, files = tree.git(*refs), [path.read_bytes() for path in kept]
    for name, line in HARM.items():
        part = os.path.basename(session.state["admin"])
        session.inside(f"{WORK.format('x')}; {line.format(git=session.git, name=part)}")
        session.check(name)
        work_of(session.state)  # takes over what can be taken
        session.check(name)
        assert tree.git(*refs) == before, name
        assert [path.read_bytes() for path in kept] == files, name
        assert not {"commondir", "shallow"} & {*os.listdir(session.git)}, name
        assert os.listdir(session.state["admin"]), name
    assert "nothing added" not in session.inside("git status")  # it heals


def test_all_of_git_works_inside_and_the_branch_outside_follows(session: Session) -> None:
    tree = session.tree
    first = session.tip()
    assert session.inside(WORK.format("one")) == ""
    assert session.tip() == first  # not before git took it over
    assert tip_of(session.state) == session.tip() != first
    lines = (
        "git commit -q --amend -m amended && git tag mine && git branch more && git gc -q",
        f"{WORK.format('two')} && {WORK.format('three')} && git rebase -q HEAD~2 --onto HEAD~3",
        "echo x > a.txt && git stash -q && git stash pop -q && git config user.nick n",
        "git checkout -q -- a.txt && git switch -q more && git switch -q -",
    )
    for line in lines:
        assert session.inside(line) == "", line
        inside = session.inside("git rev-parse HEAD").strip()
        assert tip_of(session.state) == session.tip() == inside, line
        session.check(line)
    tree.put({"later.txt": "later\n"})
    tree.save()
    assert "later" in session.inside("git cherry-pick main >/dev/null; cat later.txt")
    assert session.inside(f"git switch -qc away; {WORK.format('four')}; git branch -qm gone") == ""
    assert tip_of(session.state) == session.inside("git rev-parse HEAD").strip() != session.tip()
    session.check()
    session.inside(f"git switch -q {session.state['branch']}; git merge -q gone")
    merge_session(str(session.home), session.id)
    assert tree.read("four") == b"four\n"
    session.check()


def test_a_branch_that_the_user_moves_moves_inside(session: Session) -> None:
    session.inside(WORK.format("one"))
    tip_of(session.state)
    place = session.state["path"]
    Path(place, "mine").write_text("mine\n")
    for words in (("add", "mine"), ("commit", "-qm", "mine")):
        subprocess.run(["git", *words], cwd=place, check=True)
    theirs = session.tip()
    assert session.inside("git status --short; git log -1 --format=%s") == "mine\n"
    session.inside(WORK.format("two"))
    assert tip_of(session.state) != theirs
    assert "mine" in session.tree.git("log", "--format=%s", session.state["branch"])


def test_two_that_move_it_lose_nothing(session: Session) -> None:
    session.inside(WORK.format("one"))
    session.tree.git("update-ref", f"refs/heads/{session.state['branch']}", _other(session))
    with pytest.raises(NoWorktree, match=r"kept at refs/rookery/") as caught:
        tip_of(session.state)
    assert session.tree.git("log", "-1", "--format=%s", f"refs/rookery/{session.id}") == "one\n"
    session.check()
    line = caught.value.remedy.partition(": git ")[2].split()
    session.tree.git(*line)
    assert tip_of(session.state) == session.tip()


def _other(session: Session) -> str:
    return session.tree.git("commit-tree", "-p", "main", "-m", "other", "main^{tree}").strip()


# --- killed, and elsewhere ------------------------------------------------------------------------

KILLED = """
import json, os, signal, sys
from rookery.client.worktrees import objects, own_git
left, run = int(sys.argv[2]), objects.run
def counted(*words, **more):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(*words, **more)
objects.run = counted
own_git.exchange(json.loads(sys.argv[1]))
"""


def test_a_kill_at_any_moment_leaves_a_sound_repository(session: Session) -> None:
    session.inside(WORK.format("one"))
    for step in range(1, 40):
        words = [sys.executable, "-c", KILLED, json.dumps(session.state), str(step)]
        done = subprocess.run(words, check=False, capture_output=True)
        session.check(f"step {step}")
        if done.returncode != -signal.SIGKILL:
            break
    assert done.returncode == 0, done.stderr
    assert step > 5
    assert session.tree.git("log", "-1", "--format=%s", session.state["branch"]) == "one\n"
    assert not [name for name in os.listdir(session.own.parent) if name.startswith("taking-")]
    assert not [each for each in os.listdir(f"{session.git}/objects/pack") if "keep" in each]


def test_a_session_of_the_build_before_goes_on(session: Session) -> None:
    """Its commits are in the repository, its index and logs in the worktree's part there."""
    place = session.state["path"]
    subprocess.run(["/bin/sh", "-c", WORK.format("old")], cwd=place, check=True)
    Path(place, "staged").write_text("staged\n")
    subprocess.run(["git", "add", "staged"], cwd=place, check=True)
    assert session.inside("git log -1 --format=%s; git status --short") == "old\nA  staged\n"
    session.inside("git commit -qm new")
    assert tip_of(session.state) == session.tip()
    session.check()


def test_two_sessions_of_one_repository(session: Session) -> None:
    second = Session(session.root, session.tree, "v")
    session.inside(WORK.format("one"))
    second.inside(WORK.format("two"))
    assert tip_of(session.state) != tip_of(second.state)
    assert "two" in session.inside("git log --format=%s rookery/v")
    second.inside("git branch -D rookery/w; git update-ref refs/heads/rookery/w HEAD")
    tip_of(second.state)
    assert session.tree.git("log", "-1", "--format=%s", "rookery/w") == "one\n"
    session.check()


async def test_the_branch_follows_at_the_end_of_a_turn(aviary: Aviary, tmp_path: Path) -> None:
    tree = Tree(tmp_path / "repository", a__txt="1\n")
    script = tmp_path / "script.json"
    script.write_text("{}")
    configure(aviary, read=shlex.join([str(ROOT / "tests"), str(script)]))
    argv = player(str(script), "--state", "/tmp/state")
    bird = aviary.hatch(argv=argv, cwd=tree.cwd, worktree="w", sandbox="bwrap")
    told = await said(bird, WORK.format("one"))
    await said(bird, f"rm -rf {shlex.quote(str(tree.place / '.git'))}/*")
    await bird.send("stop")
    await bird.gone(bird.worker)
    assert tree.git("log", "-1", "--format=%s", "rookery/w") == "one\n", told
    tree.git("fsck", "--strict")


IN_CONTAINER = """
import os, sys
git, branch, name, made = sys.argv[1:]
for folder, _, names in os.walk(f"{git}/shared-objects"):
    for each in names:
        try:
            os.unlink(f"{folder}/{each}")
            print("REMOVED", each)
        except OSError as error:
            print(error.strerror)
os.unlink(f"{git}/packed-refs")
os.makedirs(f"{git}/objects/{name[:2]}", exist_ok=True)
with open(made, "rb") as source, open(f"{git}/objects/{name[:2]}/{name[2:]}", "wb") as target:
    target.write(source.read())
with open(f"{git}/refs/heads/{branch}", "w") as ref:
    ref.write(name)
"""


def test_a_container_cannot_harm_it_either(session: Session) -> None:
    """The image has no git: the commit is made before."""
    if fault := images.fault():
        pytest.skip(fault)
    work, store = Path(session.state["path"]), session.root / "made"
    (store / "objects").mkdir(parents=True)
    name = commit(store, session.tree.git("rev-parse", "main^{tree}").strip(), session.tip())
    (store / "objects" / name[:2] / name[2:]).rename(work / "made")
    (work / "in_container.py").write_text(IN_CONTAINER)
    python = os.path.realpath(sys.executable)
    words = ["in_container.py", session.git, session.state["branch"], name, "made"]
    told = session.inside(
        shlex.join([python, "-I", "-S", *words]),
        kind="container",
        image=images.image(),
        engine=" ".join(images.ENGINE),
        args=images.LIMITS,
    )
    assert "Read-only file system" in told
    assert "REMOVED" not in told
    session.check(told)
    assert tip_of(session.state) == session.tip() == name, told
    session.check(told)


def test_what_was_committed_inside_comes_back_from_the_trash(session: Session) -> None:
    session.inside(WORK.format("one"))
    own_git.exchange(session.state)
    session.inside(WORK.format("two"))
    tip = session.inside("git rev-parse HEAD").strip()
    entry = store.put(str(session.home), session.id)
    assert session.tree.git("branch", "--list", "rookery/*") == ""
    session.check("in the trash")
    session.tree.git("gc", "--quiet", "--prune=now")
    assert store.restore(entry) == ""
    assert session.tip() == tip, "also what no turn's end had taken over"
    assert session.inside("git log --format=%s").split()[:2] == ["two", "one"]
    session.inside(WORK.format("three"))
    own_git.exchange(session.state)
    session.check("restored")
    assert session.tree.git("log", "-1", "--format=%s", session.state["branch"]) == "three\n"
    moves.erase(store.put(str(session.home), session.id))
    session.check("erased")
    assert session.tree.git("for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
