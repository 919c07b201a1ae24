"""Filters and merge drivers that files need and that are only in the repository's own
configuration: nothing is merged without them, and none of them runs before the user trusts it."""

import os
import shlex
import tempfile
from collections.abc import Iterable, Sequence

from rookery.client.work_tree import drivers
from rookery.client.worktrees.repository import Git, NoWorktree, names_of
from rookery.core.json.safe_text import count
from rookery.git.program import NoGit
from rookery.git.settings import Driver
from rookery.home import paths

UNTRUSTED = "untrusted_program"


class Untrusted(NoWorktree):
    """Programs are needed that the user has not trusted."""

    def __init__(self, git: Git, chosen: Sequence[Driver], names: Sequence[str]) -> None:
        self.place, self.chosen = git.place, chosen
        listed = "; ".join(f"{each.kind} {each.name} ({each})" for each in chosen)
        some = names[0] + (f" and {count(len(names) - 1, 'more file')}" if names[1:] else "")
        need = "need" if names[1:] else "needs"
        message = f"{some} {need} a program that only {git.place.shared} names: {listed}."
        top = shlex.quote(git.place.top)
        remedy = f"If you trust it: rookery config trust-git {top}. Nothing was changed."
        super().__init__(UNTRUSTED, message, remedy)


def check(git: Git, names: Sequence[str], tree: str = "") -> None:
    """Check the filters of files that are read from the work tree, or written as they are in
    `tree`. Raises Untrusted, NoWorktree."""
    if not names or not _has(git, "filter"):
        return
    asked = _asked(git, "filter", names)
    if tree:
        asked += _asked_in(git, "filter", names, tree)
    _refuse(git, "filter", asked)


def check_merge(git: Git, ours: str, theirs: str) -> None:
    """Check the merge drivers of files that both sides changed. Raises Untrusted, NoWorktree."""
    if not _has(git, "merge"):
        return
    base = git.try_("merge-base", ours, theirs)
    if base.code != 0:
        return
    start = base.data.decode("ascii", "replace").strip()
    args = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", start)
    both = {*names_of(git.data(*args, ours))} & {*names_of(git.data(*args, theirs))}
    names = sorted(both)
    if names:
        asked = _asked(git, "merge", names) + _asked_in(git, "merge", names, ours)
        _refuse(git, "merge", asked)


def _has(git: Git, kind: str) -> bool:
    try:
        return any(each.kind == kind for each in drivers.configured(git.place))
    except NoGit as error:
        raise NoWorktree("git_failed", str(error)) from error


def _asked(git: Git, kind: str, names: Iterable[str], *more: str) -> list[tuple[str, str]]:
    """Each file with the driver that its attributes name."""
    given = "".join(f"{name}\0" for name in names).encode("utf-8", "surrogateescape")
    output = git.data("check-attr", *more, "-z", "--stdin", kind, given=given)
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    return list(zip(fields[::3], fields[2::3], strict=False))


def _asked_in(git: Git, kind: str, names: Iterable[str], tree: str) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory(prefix="rookery-index-") as folder:
        other = Git(git.place.own, git.place.top, os.path.join(folder, "index"))
        other.data("read-tree", tree)
        return _asked(other, kind, names, "--cached")


def _refuse(git: Git, kind: str, asked: Iterable[tuple[str, str]]) -> None:
    by_name: dict[tuple[str, str], list[str]] = {}
    for path, name in asked:
        by_name.setdefault((kind, name), []).append(path)
    try:
        chosen = drivers.untrusted(paths.home(), git.place, by_name)
    except NoGit as error:
        raise NoWorktree("git_failed", str(error)) from error
    if chosen:
        files = [path for each in chosen for path in by_name[kind, each.name]]
        raise Untrusted(git, chosen, list(dict.fromkeys(files)))
