"""A worktree and its branch dropped; and what would be lost with them."""

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
    """What only the worktree and its branch have."""

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
        said = [count(self.commits, "commit")] if self.commits else []
        said += [f"{count(self.files, 'uncommitted file')}"] if self.files else []
        return " and ".join(said)

    def __bool__(self) -> bool:
        return bool(str(self) or self.guests)


class Unmerged(NoWorktree):
    """There is work that would be lost."""

    kind = "preview"

    def __init__(self, session: str, work: Work) -> None:
        words = f"The worktree of session {session} has work that was not merged: {work}."
        shared = together(work.guests, f"in the worktree of session {session}")
        known = [words, shared] if str(work) else [shared]
        keep = "" if work.unknown or not str(work) else f"To keep it: rookery merge {session}. "
        remedy = f"{keep}To remove it anyway: --force"
        super().__init__("unmerged_work", " ".join(known).strip(), remedy)


def together(guests: Sequence[str], where: str = "there") -> str:
    """That other sessions work in a worktree; "": none does."""
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
    """The commit that the worktree stands on: its branch's, unless the agent checked out another.
    Raises NoWorktree."""
    own_git.exchange(tree)
    shared = Git(tree["git"], tree["path"])
    for ref in (
        f"worktrees/{os.path.basename(tree['admin'])}/HEAD",
        f"refs/heads/{tree['branch']}",
    ):
        told = shared.try_("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if told.code == 0:
            return text_of(told.data)
    words = f"The branch {tree['branch']} is gone from {tree['git']}."
    again = f"git branch {tree['branch']} {_last_commit(tree)[:12]}"
    remedy = f"To make it again: {again}. To give up the worktree: rookery drop --force."
    raise NoWorktree("no_branch", words, remedy)


def _last_commit(tree: Json) -> str:
    """As far as the worktree's own log of commits tells; else where it began."""
    found: list[str] = []
    with suppress(OSError), open(os.path.join(tree["admin"], "logs", "HEAD"), "rb") as log:
        found = log.read().decode("utf-8", "replace").strip().rpartition("\n")[2].split(" ", 2)
    name = found[1] if len(found) > 1 else ""
    return name if re.fullmatch("[0-9a-f]{40,64}", name) else str(tree["base"])


def uncommitted(tree: Json) -> list[str]:
    """Files that differ from the last commit, and new ones; not what git ignores, nor what was
    copied into it. Raises NoWorktree."""
    if not os.path.isdir(tree["path"]):
        return []
    with with_index(tree["git"], tree["path"], tip_of(tree)) as git_:
        words = ("--name-only", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "-z")
        found = names_of(git_.data("diff", *words))
        fresh = names_of(git_.data("ls-files", "-z", "-o", "--exclude-standard"))
        programs.check(git_, [*found, *fresh])
    copied = set(tree.get("copied", ()))
    return [*found, *(name for name in fresh if name not in copied)]


def _unmerged(tree: Json) -> int:
    """Commits that nothing else has: no other branch, no tag."""
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
    told = shared.try_("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return told.code == 0


def unmerged(home: str, session: str) -> Work:
    """What would be lost with a session, also where its log cannot be read."""
    tree = place.record(home, session)
    return work_of(tree)._replace(guests=guests_of(home, session, tree))


def guests_of(home: str, session: str, tree: object) -> tuple[str, ...]:
    """Other sessions that would lose their directory with its worktree."""
    if not isinstance(tree, dict) or not os.path.isdir(tree["path"]):
        return ()
    top, found = os.path.realpath(tree["path"]), list[str]()
    for name in sorted(os.listdir(paths.sessions(home))):
        if paths.is_id(name) and name != session:
            head = paths.read_json(os.path.join(paths.session_dir(home, name), paths.HEAD))
            cwd = lenient.text(head, "cwd")
            inside = session in cwd and os.path.commonpath([os.path.realpath(cwd), top]) == top
            found += [name] if inside else []
    return tuple(found)


def refuse_loss(home: str, session: str, *, force: bool) -> None:
    """Raises Unmerged."""
    if not force and (work := unmerged(home, session)):
        raise Unmerged(session, work)


def drop_recorded(home: str, session: str) -> None:
    """While a session is deleted."""
    if (tree := place.record(home, session)) is not None:
        drop(home, session, tree)


def drop(home: str, session: str, tree: Json) -> None:
    """With all that is in it. Raises NoWorktree, OSError."""
    with suppress(NoWorktree), place.held(home, session):
        clear(home, session, tree)
        return
    clear(home, session, tree)


def clear(home: str, session: str, tree: Json) -> None:
    """Under the lock, where there is one."""
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
