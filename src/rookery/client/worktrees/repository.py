"""The git repository of a directory, and running git for a worktree.

Nothing that an agent can write into its worktree decides which repository is used: git gets the
directory that was noted when the worktree was created, and an index of ours. No hooks run, nor any
other programs that only the repository names (docs/worktrees.md)."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from rookery.client.work_tree import git
from rookery.core.refusals import Refused
from rookery.git import places
from rookery.git.places import Place
from rookery.git.program import NoGit, program

SECONDS = 600.0
"""For what reads or writes all files."""


class NoWorktree(Refused):
    """The operation on a worktree is impossible; the message says why."""


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
    """Return the repository of a directory. Raises NoWorktree if it cannot have worktrees."""
    place = places.find(cwd)
    if place is None:
        message = f"{cwd} is not in a git repository, and a worktree needs one."
        raise NoWorktree("no_repository", message, "Run git init there, or leave out --worktree.")
    top = place.top
    if not top:
        message = f"{cwd} is in a bare repository, or in a .git directory."
        raise NoWorktree("bare_repository", message, "Use a directory with checked out files.")
    if places.is_submodule(place):
        message = f"{top} is a submodule. Worktrees of submodules are not supported."
        raise NoWorktree("submodule", message, "Leave out --worktree, or clone it on its own.")
    sparse = _is_sparse(place)
    head = _asked(cwd, "--verify", "--quiet", "HEAD^{commit}")
    if not head:
        raise NoWorktree("no_commit", f"{top} has no commit yet.", "Commit something first.")
    if sparse:
        message = f"{top} is a sparse checkout. Worktrees of those are not supported."
        raise NoWorktree("sparse_checkout", message, "Leave out --worktree.")
    inside = os.path.relpath(os.path.realpath(cwd), os.path.realpath(top))
    return Repository(top, "" if inside == "." else inside, place.shared, head, branch_of(cwd))


def _is_sparse(place: Place) -> bool:
    """Whether it is a sparse checkout. Raises NoWorktree if git cannot be used there."""
    try:
        program(place)
    except NoGit:
        raise NoWorktree("no_git", "git is not installed, and a worktree needs it.") from None
    try:
        with git.opened(place) as opened:
            return opened.settings.sparse
    except NoGit as error:
        raise NoWorktree("git_failed", str(error)) from error


def branch_of(cwd: str) -> str:
    output = git.run(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    return text_of(output.data) if output else ""


def has_submodules(cwd: str) -> bool:
    return os.path.exists(os.path.join(cwd, ".gitmodules"))


def _asked(cwd: str, *args: str) -> str:
    output = git.run(cwd, ["rev-parse", *args])
    return text_of(output.data) if output else ""


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").removesuffix("\n")


def names_of(data: bytes) -> list[str]:
    return [name for name in data.decode("utf-8", "surrogateescape").split("\0") if name]


# --- git for a worktree ---------------------------------------------------------------------------


class Git:
    """Git for the files of a worktree, with an index of ours."""

    def __init__(self, shared: str, top: str, index: str = "") -> None:
        self.place = places.at(shared, os.path.realpath(top))
        self._top = top
        self._index = index

    def try_(self, *args: str, given: bytes = b"", seconds: float = SECONDS) -> git.GitResult:
        return git.do(
            self._top if os.path.isdir(self._top) else "/",
            args,
            given,
            seconds,
            place=self.place,
            index=self._index,
        )

    def data(self, *args: str, given: bytes = b"") -> bytes:
        """Return what git prints. Raises NoWorktree."""
        outcome = self.try_(*args, given=given)
        if outcome.code != 0:
            raise failure(args, outcome)
        return outcome.data

    def text(self, *args: str, given: bytes = b"") -> str:
        return text_of(self.data(*args, given=given))


@contextmanager
def with_index(shared: str, top: str, commit: str) -> Iterator[Git]:
    """Yield git for comparing the files of a worktree with a commit. Raises NoWorktree."""
    with tempfile.TemporaryDirectory(prefix="rookery-index-") as place:
        store = Git(shared, top, os.path.join(place, "index"))
        store.data("read-tree", commit)
        yield store


def failure(args: Sequence[str], outcome: git.GitResult) -> NoWorktree:
    printed = outcome.output
    if (
        "tell me who you are" in printed
        or "empty ident" in printed
        or "no email was given" in printed
    ):
        remedy = "Run git config --global user.name and git config --global user.email."
        return NoWorktree("no_identity", "git does not know who commits here.", remedy)
    if ".lock" in printed and "exist" in printed.lower():
        words_ = f"Another git command is at work, or was killed: {printed}"
        return NoWorktree("busy", words_, "Try again when it is done.")
    return NoWorktree("git_failed", f"git {args[0]} failed: {printed or 'it took too long.'}")
