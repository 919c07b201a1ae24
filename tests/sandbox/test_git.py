"""An agent commits in a sandbox, and leaves nothing in the repository that the user's own git would
run. With real bwrap, and no worker around it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.core.settings.sandbox import Sandbox
from rookery.sandbox.kinds import prepare
from rookery.sandbox.plan import Place, SandboxError
from rookery.sandbox.plan import Sandbox as Made
from tests.sandbox.test_bwrap import GIT, git

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


class Desk:
    """A repository, and a command in a sandbox around its work tree."""

    def __init__(self, root: Path) -> None:
        self.root, self.main = root, root / "main"
        for name in ("main", "user", "scratch", "home"):
            (root / name).mkdir()
        git(self.main, "init", "-q", "-b", "main")
        git(self.main, "commit", "-q", "--allow-empty", "-m", "first")

    def inside(self, line: str, *roots: Path, **settings: bool) -> str:
        """What a shell in the first of the roots says."""
        cwd = str(roots[0] if roots else self.main)
        made = self.sandbox(*roots, **settings)
        spawn = made.spawn(
            ["/bin/sh", "-c", f"exec 2>&1; {line}"],
            {**os.environ, "HOME": str(self.root / "user")},
            cwd,
        )
        about = {"env": spawn.environment, "cwd": spawn.cwd, "stderr": subprocess.STDOUT}
        done = subprocess.run(spawn.argv, check=False, stdout=subprocess.PIPE, text=True, **about)
        made.close()
        return str(done.stdout)

    def sandbox(self, *roots: Path, **settings: bool) -> Made:
        cwd = str(roots[0] if roots else self.main)
        place = Place(
            [cwd, *map(str, roots[1:])],
            str(self.root / "user"),
            [str(self.root / "home")],
            str(self.root / "scratch"),
            path=os.environ["PATH"].split(":"),
        )
        return prepare(Sandbox(kind="bwrap", network="off", **settings), place)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


COMMIT = " ".join([*GIT, "commit", "-qm", "inside"])
WORK = f"echo x > file && git add file && {COMMIT} && git switch -qc more && git log --format=%s"
ATTACKS = {
    "a hook": "echo x > {git}/hooks/pre-commit",
    "a hook, by a rename": "echo x > {git}/x; mv {git}/x {git}/hooks/pre-commit",
    "other hooks": "mv {git}/hooks {git}/old; mkdir {git}/hooks; echo x > {git}/hooks/pre-commit",
    "a setting": "git config core.fsmonitor evil",
    "another file of settings": "echo '[core]' > {git}/x; mv -f {git}/x {git}/config",
    "no settings": "rm -f {git}/config",
    "settings elsewhere": "echo ../evil > {git}/commondir; rm -f {git}/commondir",
    "settings elsewhere, by a rename": "echo ../evil > {git}/x; mv -f {git}/x {git}/commondir",
    "settings of the work tree": "echo '[core]' > {git}/x; mv -f {git}/x {git}/config.worktree",
    "another repository": "mv {git} {git}.old; git init -q; echo x > {git}/hooks/pre-commit",
}


def settings(repository: Path) -> dict[str, bytes]:
    """All that git runs or obeys there."""
    names = ("config", "config.worktree", "commondir")
    files = [*(repository / name for name in names), *(repository / "hooks").rglob("*")]
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def test_a_commit_works_and_git_runs_nothing_of_the_agents(desk: Desk) -> None:
    repository = desk.main / ".git"
    before = settings(repository)
    assert desk.inside(WORK).split() == ["inside", "first"]
    assert git(desk.main, "log", "--format=%s", "more").split() == ["inside", "first"]
    for attack, line in ATTACKS.items():
        said = desk.inside(line.format(git=repository))
        assert settings(repository) == before, f"{attack}: {said}"
    assert git(desk.main, "status", "--short") == ""


def test_a_work_tree_keeps_its_repository(desk: Desk) -> None:
    """What says where it is cannot be changed: neither in the work tree nor in its repository's
    part for it."""
    tree, repository = desk.root / "tree", desk.main / ".git"
    git(desk.main, "worktree", "add", "-qb", "tree", str(tree))
    own = repository / "worktrees" / "tree"
    names = [tree / ".git", own / "commondir", own / "gitdir"]
    before = settings(repository) | {str(path): path.read_bytes() for path in names}
    evil = f"mkdir -p evil; git init -q evil; for f in {' '.join(map(str, names))}; do"
    for roots in ((tree,), (tree, desk.main)):
        assert not desk.inside(f"echo {len(roots)} > file; git add file; {COMMIT}", *roots)
        assert git(tree, "log", "--format=%s", "-1") == "inside\n", roots
        desk.inside(f"{evil} echo gitdir: {tree}/evil/.git > $f; rm -f $f; done", *roots)
        desk.inside(f"mv {own} {own}.old; mv {own.parent} {own.parent}.old", *roots)
        desk.inside(ATTACKS["a hook"].format(git=repository), *roots)
        now = settings(repository) | {str(path): path.read_bytes() for path in names}
        assert now == before, roots


def test_placeholders_last_as_long_as_a_sandbox_is_around_them(desk: Desk) -> None:
    """Git works with them, inside and outside. One that a killed worker left goes with the next."""
    common = desk.main / ".git" / "commondir"
    settings_of_tree = common.with_name("config.worktree")
    common.write_text(".\n")
    first, second = desk.sandbox(), desk.sandbox()
    first.close()
    assert desk.inside(WORK).split() == ["inside", "first"]
    assert common.read_text() == ".\n"
    assert (common.stat().st_nlink, settings_of_tree.read_bytes()) == (1, b"")
    assert git(desk.main, "rev-parse", "--abbrev-ref", "HEAD") == "more\n"
    git(desk.main, "worktree", "add", "-q", str(desk.root / "tree"))
    git(desk.main, "gc", "-q")
    assert git(desk.root / "tree", "status", "--short") == ""
    second.close()
    left = {path.name for path in common.parent.iterdir()}
    assert not {name for name in left if name.startswith(("commondir", "config."))}
    assert git(desk.main, "log", "--format=%s", "more").split() == ["inside", "first"]


def test_a_placeholder_that_is_kept_from_us_starts_no_agent(desk: Desk) -> None:
    """An agent in another sandbox can lock it: one that is removed meanwhile would be no wall."""
    common = desk.main / ".git" / "commondir"
    common.write_text(".\n")
    with common.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(SandboxError, match="locked by another program"):
            desk.sandbox()
    desk.sandbox().close()
    assert not common.exists()


def test_a_repository_with_its_own_place_of_files_keeps_it(desk: Desk) -> None:
    """Git would not obey core.worktree beside a commondir."""
    git(desk.main, "config", "core.worktree", str(desk.root / "user"))
    made = desk.sandbox()
    assert not (desk.main / ".git" / "commondir").exists()
    made.close()


def test_the_user_may_allow_git_configuration_and_hooks(desk: Desk) -> None:
    desk.inside("git config core.editor mine; echo x > .git/hooks/pre-commit", git_hooks=True)
    assert git(desk.main, "config", "core.editor") == "mine\n"
    assert (desk.main / ".git" / "hooks" / "pre-commit").exists()


def test_a_path_that_became_a_link_is_not_mounted(desk: Desk) -> None:
    """An agent that made the repository itself may have left a link: it opens nothing."""
    secret = desk.root / "secret"
    secret.mkdir()
    (secret / "key").write_text("a private key")
    hooks = desk.main / ".git" / "hooks"
    hooks.rename(desk.main / "old")
    hooks.symlink_to(secret)
    assert "private key" not in desk.inside("cat .git/hooks/key")
    (desk.main / ".git").rename(desk.main / "older")
    (desk.main / ".git").symlink_to(desk.root)
    assert "private key" not in desk.inside("cat .git/secret/key")
