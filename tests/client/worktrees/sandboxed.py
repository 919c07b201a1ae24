"""A session's worktree in a sandbox, with no worker around it."""

import os
import subprocess
from pathlib import Path
from typing import Any

from rookery.client import fleet
from rookery.client.create import create_session
from rookery.client.worktrees import own_git
from rookery.core.settings.sandbox import Sandbox
from rookery.sandbox.kinds import prepare
from rookery.sandbox.plan import Bind, Place
from tests.client.work_tree.trees import Tree

WORK = "echo {0} > {0} && git add {0} && git commit -qm {0}"


class Session:
    """A worktree of a repository, and commands in a sandbox around it."""

    def __init__(self, root: Path, tree: Tree, name: str = "w") -> None:
        self.root, self.tree, self.home = root, tree, root / "home"
        for each in ("user", "scratch"):
            (root / each).mkdir(exist_ok=True)
        id = create_session(
            str(self.home), agent="demo", argv=[], cwd=tree.cwd, worktree=name, title="t"
        )
        head = fleet.head_of_session(str(self.home), id)
        assert head is not None
        self.id, self.state = id, head["worktree"]
        self.git = os.path.realpath(self.state["git"])

    @property
    def own(self) -> Path:
        """Its git directory, as the user could see it."""
        return Path(own_git.folder_of(self.state))

    def inside(self, line: str, **settings: Any) -> str:
        binds = [Bind(*mount) for mount in own_git.prepare(self.state)]
        place = Place(
            [self.state["path"]],
            str(self.root / "user"),
            [str(self.home)],
            str(self.root / "scratch"),
            binds=binds,
            path=os.environ["PATH"].split(":"),
            mark=f"{self.id}.1",
        )
        made = prepare(Sandbox(**{"kind": "bwrap", "network": "off", **settings}), place)
        environment = {**os.environ, "HOME": str(self.root / "user")}
        try:
            spawn = made.spawn(["/bin/sh", "-c", f"exec 2>&1; {line}"], environment, place.roots[0])
            about = {"env": spawn.environment, "cwd": spawn.cwd, "stderr": subprocess.STDOUT}
            done = subprocess.run(
                spawn.argv, check=False, stdout=subprocess.PIPE, text=True, stdin=-3, **about
            )
        finally:
            made.close()
        return str(done.stdout)

    def tip(self) -> str:
        """Of the branch outside."""
        return self.tree.git("rev-parse", f"refs/heads/{self.state['branch']}").strip()

    def check(self, label: str = "") -> None:
        """The user's git finds nothing wrong."""
        for words in (("fsck", "--strict"), ("log", "--all", "--format=%s"), ("gc", "--quiet")):
            done = subprocess.run(
                ["git", *words], cwd=self.tree.cwd, check=False, capture_output=True, text=True
            )
            said = [line for line in done.stderr.splitlines() if "dangling" not in line]
            assert (done.returncode, said) == (0, []), (label, words)
