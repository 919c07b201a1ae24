"""Drops a worktree and its branch, and finds what would be lost with them."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from rookery.client.worktrees import own_git, place, programs
from rookery.client.worktrees.repository import Git, NoWorktree, names_of, text_of, with_index
from rookery.core import worktree
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import count
from rookery.home import paths


class Work(NamedTuple):
    """The work that exists only in the worktree and on its branch."""

    files: int
    """Changed and not committed, or new."""
    commits: int
    unknown: str = ""
    """Why it cannot be told."""
    which: tuple[str, ...] = ()
    """The last commit, and the files."""
    guests: tuple[str, ...] = ()
    """Other sessions that work there: forks, say."""

    def __str__(self) -> str:
        if self.unknown:
            return self.unknown
        parts = [count(self.commits, "commit")] if self.commits else []
        parts += [f"{count(self.files, 'uncommitted file')}"] if self.files else []
        return " and ".join(parts)

    def __bool__(self) -> bool:
        return bool(str(self) or self.guests)


class Unmerged(NoWorktree):
    """There is unmerged work that would be lost."""

    kind = "preview"

    def __init__(self, session: str, work: Work) -> None:
        message = f"The worktree of session {session} has work that was not merged: {work}."
        shared = together(work.guests, f"in the worktree of session {session}")
        known = [message, shared] if str(work) else [shared]
        keep = "" if work.unknown or not str(work) else f"To keep it: rookery merge {session}. "
        remedy = f"{keep}To remove it anyway: --force"
        super().__init__("unmerged_work", " ".join(known).strip(), remedy)


def together(guests: Sequence[str], where: str = "there") -> str:
    """Say that other sessions work in a worktree; "" if none does."""
    if not guests:
        return ""
    who = f"Session {guests[0]} works" if len(guests) == 1 else f"Sessions {', '.join(guests)} work"
    return f"{who} {where}, too."


def work_of(tree: object) -> Work:
    if not isinstance(tree, dict) or not worktree.exists(tree):
        return Work(0, 0)
    if not os.path.isdir(tree["git"]):  # the repository is gone, and with it what could be merged
        there = os.path.isdir(tree["path"])
        return (
            Work(0, 0, "its repository is gone, so its changes are unknown")
            if there
            else (Work(0, 0))
        )
    try:
        files = uncommitted(tree)
        return Work(len(files), _unmerged(tree), which=(tip_of(tree), *files))
    except NoWorktree as error:
        return Work(0, 0, f"it cannot be compared: {error}")


def tip_of(tree: Json) -> str:
    """Return the commit that the worktree is at: its branch's, unless the agent checked out
    another. Raises NoWorktree."""
    own_git.exchange(tree)
    shared = Git(tree["git"], tree["path"])
    for ref in (
        f"worktrees/{os.path.basename(tree['admin'])}/HEAD",
        f"refs/heads/{tree['branch']}",
    ):
        outcome = shared.try_("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if outcome.code == 0:
            return text_of(outcome.data)
    message = f"The branch {tree['branch']} is gone from {tree['git']}."
    again = f"git branch {tree['branch']} {_last_commit(tree)[:12]}"
    remedy = f"To make it again: {again}. To give up the worktree: rookery drop --force."
    raise NoWorktree("no_branch", message, remedy)


def _last_commit(tree: Json) -> str:
    """The last commit in the worktree's own reflog, or the one it started from."""
    fields: list[str] = []
    with suppress(OSError), open(os.path.join(tree["admin"], "logs", "HEAD"), "rb") as log:
        fields = log.read().decode("utf-8", "replace").strip().rpartition("\n")[2].split(" ", 2)
    name = fields[1] if len(fields) > 1 else ""
    return name if re.fullmatch("[0-9a-f]{40,64}", name) else str(tree["base"])


def uncommitted(tree: Json) -> list[str]:
    """Return the files that differ from the last commit, and new ones; not those that git ignores,
    nor those that were copied into the worktree. Raises NoWorktree."""
    if not os.path.isdir(tree["path"]):
        return []
    with with_index(tree["git"], tree["path"], tip_of(tree)) as git_:
        args = ("--name-only", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "-z")
        changed = names_of(git_.data("diff", *args))
        fresh = names_of(git_.data("ls-files", "-z", "-o", "--exclude-standard"))
        programs.check(git_, [*changed, *fresh])
    copied = set(tree.get("copied", ()))
    return [*changed, *(name for name in fresh if name not in copied)]


def _unmerged(tree: Json) -> int:
    """The number of commits that are on no other branch or tag."""
    shared = Git(tree["git"], tree["path"])
    tips = {tip_of(tree), f"refs/heads/{tree['branch']}"}
    others = ("--not", f"--exclude={tree['branch']}", "--branches", "--tags", "--remotes")
    merged = [tree["merged"]] if tree.get("merged") else []
    known = [each for each in tips if _is_known(shared, each)]
    merged = [each for each in merged if _is_known(shared, each)]
    if not known:
        return 0
    return int(shared.text("rev-list", "--count", *known, *others, *merged) or 0)


def _is_known(shared: Git, name: str) -> bool:
    outcome = shared.try_("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return outcome.code == 0


def unmerged(home: str, session: str) -> Work:
    """Return what would be lost with a session, even if its log is unreadable."""
    tree = place.record(home, session)
    return work_of(tree)._replace(guests=guests_of(home, session, tree))


def guests_of(home: str, session: str, tree: object) -> tuple[str, ...]:
    """Return the other sessions that would lose their directory with the worktree."""
    if not isinstance(tree, dict) or not os.path.isdir(tree["path"]):
        return ()
    top, guests = os.path.realpath(tree["path"]), list[str]()
    for name in sorted(os.listdir(paths.sessions(home))):
        if paths.is_id(name) and name != session:
            head = paths.read_json(os.path.join(paths.session_dir(home, name), paths.HEAD))
            cwd = lenient.text(head, "cwd")
            inside = session in cwd and os.path.commonpath([os.path.realpath(cwd), top]) == top
            guests += [name] if inside else []
    return tuple(guests)


def refuse_loss(home: str, session: str, *, force: bool) -> None:
    """Refuse to lose unmerged work. Raises Unmerged."""
    if not force and (work := unmerged(home, session)):
        raise Unmerged(session, work)


def drop_recorded(home: str, session: str) -> None:
    """Drop the worktree of a session that is being deleted."""
    if (tree := place.record(home, session)) is not None:
        drop(home, session, tree)


def drop(home: str, session: str, tree: Json) -> None:
    """Delete a worktree with everything in it. Raises NoWorktree, OSError."""
    with suppress(NoWorktree), place.held(home, session):
        clear(home, session, tree)
        return
    clear(home, session, tree)


def clear(home: str, session: str, tree: Json) -> None:
    """Delete the worktree, its record and its branch. The caller holds the lock, if there is
    one."""
    own = place.folder(home, session)
    if os.path.lexists(tree["path"]) and _is_in(tree["path"], own):
        place.erase(tree["path"])
    shared = tree["git"]
    if os.path.isdir(shared):
        admin = tree.get("admin") or ""
        if admin and os.path.isdir(admin) and _is_in(admin, os.path.join(shared, "worktrees")):
            place.erase(admin)
        known = Git(shared, shared)
        known.try_("worktree", "prune")
        with suppress(OSError):  # it is empty
            os.rmdir(os.path.join(shared, "worktrees"))
        known.try_("update-ref", "-d", f"refs/heads/{tree['branch']}")
    if os.path.lexists(own):
        place.erase(own)


def _is_in(path: str, folder: str) -> bool:
    above = os.path.dirname(os.path.realpath(path))
    return above == os.path.realpath(folder)
