"""The git side of a worktree in the trash.

Its branch is deleted, so that no list of branches shows it; references of ours keep its commits and
what was staged. The repository's record of the worktree (its `worktrees/NAME`) stays: locked, so
that `git worktree prune` leaves it alone, and without `gitdir`, so that `git worktree list` does
not show it. Restoring is a rename. Every step can be repeated, and the lock is created first and
removed last: whoever finds it continues where a killed process stopped."""

import os
import re
from contextlib import suppress

from rookery.client.worktrees import objects, place
from rookery.client.worktrees.repository import Git, NoWorktree, text_of
from rookery.core.json import Json

REFS = "refs/rookery/trash"
GITDIR, ASIDE, LOCKED = "gitdir", "gitdir.rookery-trash", "locked"
REASON = "In Rookery's trash: "
BRANCH, HEAD, STAGED = "branch", "head", "staged"
_STAGED = re.compile(rb"(?::\d{6} )?1[02]0\d{3} (?:[0-9a-f]{40,64} )?([0-9a-f]{40,64}) [A-Z1-3]")
"""In a row of `diff-index` or of `ls-files`, what is a file or a link."""


def retire(name: str, tree: Json) -> bool:
    """Set aside the branch of a worktree in the trash. `name`: the trash entry. Returns False if it
    could not be done now (no space, the repository is gone); all commits are still there then."""
    admin, shared = tree.get("admin") or "", tree["git"]
    if entry_of(tree) == name and os.path.exists(os.path.join(admin, ASIDE)):
        return True
    if not _is_listed(tree):
        return False
    git, branch = Git(shared, shared), f"refs/heads/{tree['branch']}"
    tips = {
        BRANCH: _commit(git, branch),
        HEAD: _commit(git, f"worktrees/{os.path.basename(admin)}/HEAD"),
        STAGED: _staged(shared, admin),
    }
    for kind, object_id in tips.items():
        if object_id and git.try_("update-ref", _ref(name, kind), object_id).code != 0:
            return False
    try:
        with open(os.path.join(admin, LOCKED), "w", encoding="utf-8") as file:
            file.write(f"{REASON}{name}\n")
        if tips[BRANCH] and git.try_("update-ref", "-d", branch, tips[BRANCH]).code != 0:
            return False
        os.rename(os.path.join(admin, GITDIR), os.path.join(admin, ASIDE))
    except OSError:
        return False
    return True


def entry_of(tree: Json) -> str:
    """Return the trash entry that a worktree belongs to, according to its lock; "" if it is not in
    the trash."""
    try:
        path = os.path.join(tree.get("admin") or "", LOCKED)
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(4096)
    except OSError:
        return ""
    return text.removeprefix(REASON).strip() if text.startswith(REASON) else ""


def check(tree: Json) -> None:
    """Check that a worktree can be restored, before anything is moved. Raises NoWorktree if another
    branch has its name now."""
    branch, shared = tree["branch"], tree["git"]
    if not os.path.isdir(shared) or _is_listed(tree):
        return
    if _commit(Git(shared, shared), f"refs/heads/{branch}"):
        raise NoWorktree(
            "branch_exists",
            f"There is another branch {branch} in {shared} now.",
            f"Merge or drop the session that has it, or rename it: git branch -m {branch} NEW-NAME",
        )


def bring_back(name: str, tree: Json) -> str:
    """Recreate the branch, once the worktree is back in its place; return a sentence on what is
    missing."""
    admin, shared = tree.get("admin") or "", tree["git"]
    if not os.path.isdir(shared):
        return f"Its repository {shared} is gone. Its files are in {tree['path']}."
    git, branch = Git(shared, shared), f"refs/heads/{tree['branch']}"
    kept = _commit(git, _ref(name, BRANCH))
    if kept and not _commit(git, branch):
        outcome = git.try_("update-ref", "-m", "restored", branch, kept)
        if outcome.code != 0:
            return f"Its branch {tree['branch']} could not be made again: {outcome.output}"
    if entry_of(tree) != name:
        if _is_listed(tree):  # it was never put by
            return _missing(git, tree)
        return (
            f"Git no longer knows the worktree: {admin} is gone. Its files are in {tree['path']}."
        )
    with suppress(FileNotFoundError):
        os.rename(os.path.join(admin, ASIDE), os.path.join(admin, GITDIR))
    _forget_refs(git, name)
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(admin, LOCKED))
    return _missing(git, tree)


def erase(name: str, tree: Json) -> None:
    """Drop the branch and the worktree's record in the repository; git's own garbage collection
    removes the commits if nothing else refers to them. Raises OSError."""
    admin, shared = tree.get("admin") or "", tree["git"]
    if not os.path.isdir(shared):
        return
    retire(name, tree)
    _forget_refs(Git(shared, shared), name)
    gone = os.path.join(shared, f"rookery-trash-{name}")
    inside = os.path.realpath(os.path.dirname(admin)) == os.path.realpath(f"{shared}/worktrees")
    if admin and inside and entry_of(tree) == name:
        os.rename(admin, gone)  # at once: a part of it would not tell whose it is
    if os.path.isdir(gone):
        place.erase(gone)
    with suppress(OSError):  # it is empty
        os.rmdir(os.path.dirname(admin))


def _missing(git: Git, tree: Json) -> str:
    if _commit(git, f"refs/heads/{tree['branch']}"):
        return ""
    return f"The commits of its branch {tree['branch']} are gone from {tree['git']}."


def _staged(shared: str, admin: str) -> str:
    """A tree of the files that are staged but not committed: `git gc` would remove them."""
    args = ("diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z")
    try:
        rows = objects.run(admin, *args, "HEAD", "--").split(b"\0")
        rows += objects.run(admin, "ls-files", "--unmerged", "-z").split(b"\0")
        blobs = sorted({match[1] for row in rows if (match := _STAGED.match(row))})
        lines = b"".join(b"100644 blob %b\t%b\0" % (each, each) for each in blobs)
        return text_of(objects.run(shared, "mktree", "-z", given=lines)) if blobs else ""
    except NoWorktree:
        return ""


def _forget_refs(git: Git, name: str) -> None:
    for kind in (BRANCH, HEAD, STAGED):
        git.try_("update-ref", "-d", _ref(name, kind))


def _is_listed(tree: Json) -> bool:
    """Whether git lists the worktree, and not another one in its place."""
    try:
        with open(os.path.join(tree.get("admin") or "", GITDIR), "rb") as file:
            path = os.fsdecode(file.read(8192)).removesuffix("\n")
    except OSError:
        return False
    return os.path.realpath(path) == os.path.realpath(os.path.join(tree["path"], ".git"))


def _ref(name: str, kind: str) -> str:
    return f"{REFS}/{name}/{kind}"


def _commit(git: Git, name: str) -> str:
    outcome = git.try_("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return text_of(outcome.data) if outcome.code == 0 else ""
