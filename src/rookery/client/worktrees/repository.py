"""The git repository of a directory, and git run for a worktree.

Nothing that an agent can write into its worktree decides which repository is used: git gets the
directory that was noted when the worktree was made, and an index of ours. No hook runs
(docs/worktrees.md).
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from rookery.client.work_tree import git

SECONDS = 600.0
"""For what reads or writes all files."""


class NoWorktree(Exception):
    """It cannot be done; `name` for programs, the message for people."""

    def __init__(self, name: str, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.remedy = remedy


class Repository(NamedTuple):
    top: str
    """The work tree that the directory is in."""
    inside: str
    """The directory, from there; "": it is the same."""
    git: str
    """What all its worktrees share."""
    head: str
    branch: str
    """What is checked out; "": no branch."""


def look(cwd: str) -> Repository:
    """Raises NoWorktree."""
    bare = git.run(cwd, ["rev-parse", "--is-bare-repository"])
    if bare is None:
        if git.run("/", ["--version"]) is None:
            raise NoWorktree("no_git", "git is not installed, and a worktree needs it.")
        words = f"{cwd} is not in a git repository, and a worktree needs one."
        raise NoWorktree("no_repository", words, "Run git init there, or leave out --worktree.")
    top = _asked(cwd, "--show-toplevel")
    if not top:
        words = f"{cwd} is in a bare repository, or in a .git directory."
        raise NoWorktree("bare_repository", words, "Use a directory with checked out files.")
    if _asked(cwd, "--show-superproject-working-tree"):
        words = f"{top} is a submodule. Worktrees of submodules are not supported."
        raise NoWorktree("submodule", words, "Leave out --worktree, or clone it on its own.")
    head = _asked(cwd, "--verify", "--quiet", "HEAD^{commit}")
    if not head:
        raise NoWorktree("no_commit", f"{top} has no commit yet.", "Commit something first.")
    if _config(cwd, "core.sparseCheckout"):
        words = f"{top} is a sparse checkout. Worktrees of those are not supported."
        raise NoWorktree("sparse_checkout", words, "Leave out --worktree.")
    inside = os.path.relpath(os.path.realpath(cwd), os.path.realpath(top))
    shared = _asked(cwd, "--path-format=absolute", "--git-common-dir")
    return Repository(top, "" if inside == "." else inside, shared, head, branch_of(cwd))


def branch_of(cwd: str) -> str:
    found = git.run(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    return text_of(found.data) if found else ""


def has_submodules(cwd: str) -> bool:
    return os.path.exists(os.path.join(cwd, ".gitmodules"))


def _asked(cwd: str, *words: str) -> str:
    found = git.run(cwd, ["rev-parse", *words])
    return text_of(found.data) if found else ""


def _config(cwd: str, key: str) -> bool:
    found = git.run(cwd, ["config", "--type=bool", "--get", key])
    return found is not None and text_of(found.data) == "true"


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").removesuffix("\n")


def names_of(data: bytes) -> list[str]:
    return [name for name in data.decode("utf-8", "surrogateescape").split("\0") if name]


# --- git for a worktree ---------------------------------------------------------------------------


class Git:
    """git for the files of a worktree, with an index of ours."""

    def __init__(self, shared: str, top: str, index: str = "") -> None:
        self._words = [f"--git-dir={shared}", f"--work-tree={top}"]
        self._top = top
        self._index = {"GIT_INDEX_FILE": index} if index else {}

    def try_(self, *words: str, given: bytes = b"", seconds: float = SECONDS) -> git.Told:
        return git.do(
            self._top if os.path.isdir(self._top) else "/",
            [*self._words, *words],
            given,
            seconds,
            hooks=False,
            environment=self._index,
        )

    def data(self, *words: str, given: bytes = b"") -> bytes:
        """What git prints. Raises NoWorktree."""
        told = self.try_(*words, given=given)
        if told.code != 0:
            raise failure(words, told)
        return told.data

    def text(self, *words: str, given: bytes = b"") -> str:
        return text_of(self.data(*words, given=given))


@contextmanager
def with_index(shared: str, top: str, commit: str) -> Iterator[Git]:
    """The files of a worktree compared with a commit. Raises NoWorktree."""
    with tempfile.TemporaryDirectory(prefix="rookery-index-") as place:
        found = Git(shared, top, os.path.join(place, "index"))
        found.data("read-tree", commit)
        yield found


def failure(words: Sequence[str], told: git.Told) -> NoWorktree:
    said = told.said
    if "tell me who you are" in said or "empty ident" in said or "no email was given" in said:
        remedy = "Run git config --global user.name and git config --global user.email."
        return NoWorktree("no_identity", "git does not know who commits here.", remedy)
    if ".lock" in said and "exist" in said.lower():
        words_ = f"Another git command is at work, or was killed: {said}"
        return NoWorktree("busy", words_, "Try again when it is done.")
    return NoWorktree("git_failed", f"git {words[0]} failed: {said or 'it took too long.'}")
