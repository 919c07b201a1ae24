"""A session with a worktree in which there is something of every kind, for tests of the trash."""

import os
import subprocess
from pathlib import Path

from rookery.client.create import create_session
from rookery.client.trash.branch import REFS
from rookery.home import paths
from tests.client.work_tree.trees import Tree


class Nest:
    """A commit, a staged file, a new one, an ignored one."""

    def __init__(self, place: Path, branch: str = "", **given: str) -> None:
        self.home = str(place / "home")
        self.tree = Tree(place / "repo", a__txt="one\n", __gitignore="*.log\n")
        self.id = create_session(
            self.home,
            agent="demo",
            argv=[],
            cwd=self.tree.cwd,
            worktree=branch,
            environment={},
            **given,  # type: ignore[arg-type]
        )
        self.work = Path(self.home, "worktrees", self.id, "repo")
        self.branch = f"rookery/{branch or self.id}"
        (self.work / "b.txt").write_text("committed\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "work")
        (self.work / "c.txt").write_text("staged\n")
        self.git("add", "c.txt")
        for name in ("d.txt", "e.log"):
            (self.work / name).write_text("not added\n")
        self.before = self.state()

    def git(self, *words: str) -> str:
        argv = ["git", *words]
        done = subprocess.run(argv, cwd=self.work, check=True, capture_output=True, text=True)
        return done.stdout

    def state(self) -> tuple[str, str, list[str]]:
        status = self.git("status", "--porcelain", "--branch", "--ignored")
        return status, self.git("rev-parse", "HEAD"), sorted(os.listdir(self.work))

    @property
    def directory(self) -> str:
        return paths.session_dir(self.home, self.id)

    def check_away(self) -> None:
        assert not os.path.exists(self.directory)
        assert not self.work.exists()
        assert self.tree.git("branch", "--list", "rookery/*") == ""
        assert self.tree.git("worktree", "list").count("\n") == 1

    def check_back(self) -> None:
        """As it was, and whole for git; and nothing of the trash is left."""
        assert self.state() == self.before
        assert self.git("show", ":c.txt") == "staged\n"
        self.tree.git("fsck", "--full", "--strict")
        assert self.tree.git("for-each-ref", REFS) == ""
        assert self.tree.git("worktree", "list").count("\n") == 2
        assert "locked" not in self.tree.git("worktree", "list", "--porcelain")
        assert os.path.isdir(self.directory)

    def check_erased(self) -> None:
        """Nothing of it is left in the home or in the repository."""
        self.check_away()
        assert os.listdir(paths.trash(self.home)) == []
        assert self.tree.git("for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
        assert not (self.tree.place / ".git" / "worktrees").exists()
