"""Merges a worktree's work back into the directory that it came from.

First everything is worked out in git's object store alone: a commit of what was uncommitted, and
the tree that results from the merge. Conflicts and files that are in the way are found there. Only
then is the directory touched, by one command that changes all of it or nothing."""

import os
from typing import NamedTuple

from rookery.client.work_tree import git
from rookery.client.worktrees import own_git, place, programs, repository
from rookery.client.worktrees.draft import drafted
from rookery.client.worktrees.drop import tip_of, uncommitted
from rookery.client.worktrees.repository import (
    SECONDS,
    Git,
    NoWorktree,
    failure,
    names_of,
    text_of,
    with_index,
)
from rookery.core import worktree
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.git import places

MERGE, REBASE, SQUASH, APPLY = WAYS = ("merge", "rebase", "squash", "apply")
NAMED = 10
"""Paths that an error names."""
BUSY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


class Size(NamedTuple):
    files: int
    added: int
    removed: int

    def __str__(self) -> str:
        return f"{count(self.files, 'file')}, +{self.added} −{self.removed}"


class Plan(NamedTuple):
    """A merge worked out in advance; nothing has been touched yet."""

    how: str
    top: str
    """Where it goes."""
    branch: str
    """What is checked out there."""
    onto: str
    tip: str
    """The worktree's work, as a commit."""
    moved: str
    """The same on top of `onto`, where it is rebased."""
    tree: str
    """The result; "": it has conflicts."""
    conflicts: list[str]
    commits: int
    uncommitted: int
    size: Size
    in_the_way: list[str]
    """Files of the directory with changes of their own."""
    message: str
    """Of the commit that is made of the work, or that joins what the agent committed; "": there is
    none, as the branch is only moved forward."""

    @property
    def into(self) -> str:
        """The target branch, or the directory if none is checked out."""
        return self.branch or self.top

    def resolution(self) -> str:
        """Return the prompt that has the agent resolve the conflicts; "" if there are none."""
        if not self.conflicts:
            return ""
        into, commit = self.branch or "HEAD", self.onto[:12]
        return (
            f"Your work conflicts with {into}: {_listed(self.conflicts)}.\n"
            "Commit your work, then merge the other side into your branch "
            f"(git merge {commit}). Resolve the conflicts so that what both sides meant is kept, "
            "check the result, and commit the merge."
        )

    def check(self) -> None:
        """Raises NoWorktree if it cannot be done now."""
        if self.conflicts:
            raise NoWorktree(
                "conflict",
                f"Conflict with {self.branch or 'HEAD'} in {_listed(self.conflicts)}. "
                "Nothing was merged.",
                "To have the agent resolve it: rookery merge SESSION --ask-agent",
            )
        if self.in_the_way:
            problem = f"{self.top} has uncommitted changes in files that the merge changes"
            raise NoWorktree(
                "dirty_target",
                f"{problem}: {_listed(self.in_the_way)}. Nothing was changed.",
                "Commit or stash them, then try again.",
            )


def plan(tree: Json, how: str = MERGE, message: str = "") -> Plan:
    """Work out a merge, writing nothing but objects into git's store. Raises NoWorktree."""
    if how not in WAYS:
        raise NoWorktree("unknown_way", f"A worktree is merged by: {', '.join(WAYS)}.")
    if not worktree.exists(tree) or not os.path.isdir(tree["path"]):
        raise NoWorktree("no_worktree", gone(tree))
    repo = repository.look(_origin(tree))
    if os.path.realpath(repo.git) != os.path.realpath(tree["git"]):
        raise NoWorktree("other_repository", f"{tree['origin']} is now in another repository.")
    if not repo.branch and how != APPLY:
        problem = f"{repo.top} has no branch checked out, so a merge would be lost."
        raise NoWorktree("detached", problem, "Check out a branch there, or use --apply.")
    _check_quiet(repo.top)
    files = uncommitted(tree)
    tip = commit(tree, message) if files else tip_of(tree)
    store = Git(repo.git, repo.top)
    programs.check_merge(store, repo.head, tip)
    commits = int(store.text("rev-list", "--count", f"{repo.head}..{tip}"))
    moved = ""
    if how == REBASE:
        moved, result, conflicts = _rebased(store, repo.head, tip)
    else:
        result, conflicts = _merged(store, repo.head, tip)
    size, way = Size(0, 0, 0), list[str]()
    if result:
        changed, size = _changed(store, repo.head, result)
        programs.check(store, changed, result)
        way = _in_the_way(store, repo, changed, result)
    about = (repo.top, repo.branch, repo.head, tip, moved, result, conflicts, commits)
    text = ""
    if how == SQUASH and result:
        text = message.strip() or drafted(store, repo.head, result)
    elif files and how != APPLY:
        text = store.text("log", "-1", "--format=%B", tip)
    elif how == MERGE and result and not _leads_to(store, repo.head, tip):
        text = _joining(tree, repo.branch, message)
    return Plan(how, *about, len(files), size, way, text)


def gone(tree: Json) -> str:
    state = tree.get("state")
    if state in (worktree.MERGED, worktree.DROPPED):
        return f"The worktree was {state} before, and is gone."
    return f"The worktree {tree.get('path')} is gone."


def _origin(tree: Json) -> str:
    if not os.path.isdir(tree["origin"]):
        raise NoWorktree("no_directory", f"{tree['origin']} no longer exists.")
    return str(tree["origin"])


def _check_quiet(top: str) -> None:
    git_place = places.find(top)
    own = git_place.own if git_place else ""
    for name in BUSY:
        if own and os.path.lexists(os.path.join(own, name)):
            what = name.lower().partition("_head")[0].partition("-")[0].replace("_", "-")
            message = f"A {what} is not finished in {top}."
            raise NoWorktree("unfinished", message, "Finish it, or abort it, then try again.")


# --- in git's store -------------------------------------------------------------------------------


def commit(tree: Json, message: str) -> str:
    """Commit the worktree's uncommitted changes on top of its last commit. Raises NoWorktree."""
    tip = tip_of(tree)
    with with_index(tree["git"], tree["path"], tip) as store:
        names = uncommitted(tree)
        if inner := [name.rstrip("/") for name in names if name.endswith("/")]:
            problem = f"{_listed(inner)}: a repository of its own, which a merge would not bring."
            raise NoWorktree(
                "inner_repository", problem, "Remove its .git, or add it as a submodule."
            )
        # Not by `git add`: it would ask each submodule, by a git that reads the settings there.
        given = "".join(f"{name}\0" for name in names).encode("utf-8", "surrogateescape")
        news = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        store.data(*news, given=given)
        result = store.text("write-tree")
        text = message.strip() or drafted(store, tip, result) or f"Work of {tree['branch']}"
        return store.text("commit-tree", result, "-p", tip, "-F", "-", given=text.encode())


def _merged(store: Git, onto: str, tip: str) -> tuple[str, list[str]]:
    """The tree that results from a merge, or the files in conflict."""
    args = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
    outcome = store.try_(*args, onto, tip)
    rows = names_of(outcome.data)
    if outcome.code == 0:
        return rows[0].strip(), []
    if outcome.code == 1 and rows:
        return "", list(dict.fromkeys(rows[1:])) or ["(unknown)"]
    if "usage:" in outcome.output or "unknown option" in outcome.output:
        raise NoWorktree("old_git", "A merge needs git 2.38 or newer.")
    raise failure(args, outcome)


def _rebased(store: Git, onto: str, tip: str) -> tuple[str, str, list[str]]:
    """Rebase each commit of the worktree, without merges; return the last one and its tree, or the
    files in conflict."""
    base = store.text("merge-base", onto, tip)
    order = ("--reverse", "--topo-order", "--no-merges")
    at, result = onto, store.text("rev-parse", f"{onto}^{{tree}}")
    for each in store.text("rev-list", *order, f"{onto}..{tip}").split():
        before = store.try_("rev-parse", "--verify", "--quiet", f"{each}^")
        start = text_of(before.data) if before.code == 0 else base
        # Of the three trees alone: older versions of git cannot be given the base.
        root = _bare(store, start)
        new, conflicts = _merged(store, _bare(store, at, root), _bare(store, each, root))
        if conflicts:
            return "", "", conflicts
        if new != result:
            at, result = _again(store, each, new, at), new
    return at, result, []


def _bare(store: Git, commit: str, *parents: str) -> str:
    above = [word for each in parents for word in ("-p", each)]
    return store.text("commit-tree", f"{commit}^{{tree}}", *above, "-m", "rebase")


def _again(store: Git, each: str, tree: str, parent: str) -> str:
    """The same commit elsewhere: by the same author, with the same message."""
    raw = store.data("cat-file", "commit", each)
    head, _, message = raw.partition(b"\n\n")
    lines = [line for line in head.split(b"\n") if line.startswith((b"author ", b"encoding "))]
    who = text_of(store.data("var", "GIT_COMMITTER_IDENT"))
    headers = [b"tree " + tree.encode(), b"parent " + parent.encode(), *lines[:1]]
    headers += [b"committer " + who.encode("utf-8", "surrogateescape"), *lines[1:]]
    given = b"\n".join(headers) + b"\n\n" + message
    return store.text("hash-object", "-t", "commit", "-w", "--stdin", given=given)


def _changed(store: Git, onto: str, result: str) -> tuple[list[str], Size]:
    data = store.data("diff-tree", "-r", "-z", "--numstat", "--no-renames", onto, result)
    names, added, removed = [], 0, 0
    for row in names_of(data):
        more, less, name = row.split("\t", 2)
        names.append(name)
        added += int(more) if more.isdigit() else 0
        removed += int(less) if less.isdigit() else 0
    return names, Size(len(names), added, removed)


def _in_the_way(
    store: Git, repo: repository.Repository, changed: list[str], result: str
) -> list[str]:
    """Those of the files a merge changes that have local changes, and whatever is in the place of a
    new one, which git may ignore."""
    args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=no"]
    output = git.run(repo.top, [*args, "--ignore-submodules=dirty"], seconds=SECONDS)
    if output is None:
        raise NoWorktree("git_failed", f"git status failed in {repo.top}.")
    dirty = {row[3:] for row in names_of(output.data)}
    fresh = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A")
    new = names_of(store.data(*fresh, repo.head, result))
    taken = [name for name in new if os.path.lexists(os.path.join(repo.top, name))]
    return list(dict.fromkeys([*(name for name in changed if name in dirty), *taken]))


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {count(more, 'more file')}" if more > 0 else "")


# --- in the directory -----------------------------------------------------------------------------


def carry_out(planned: Plan, tree: Json, message: str) -> str:
    """Change the directory; return the commit that it has now, "" if there is none. Raises
    NoWorktree."""
    planned.check()
    top = Git(tree["git"], planned.top)
    if planned.how == APPLY:
        return _apply(planned, top)
    new = _commit_of(planned, top, tree, message)
    if new != planned.onto:
        outcome = git.do(planned.top, ["merge", "--ff-only", "--quiet", new], seconds=SECONDS)
        if outcome.code != 0:
            problem = f"git could not change {planned.top}: {outcome.output}"
            raise NoWorktree("git_failed", problem, "Try again.")
    return new


def _commit_of(planned: Plan, store: Git, tree: Json, message: str) -> str:
    """The commit that the branch is moved to."""
    onto = planned.onto
    if planned.tree == store.text("rev-parse", f"{onto}^{{tree}}"):
        ahead = planned.how == MERGE and planned.commits
        return onto if not ahead else _joined(store, planned, tree, message)
    if planned.how == REBASE:
        return planned.moved
    if planned.how == SQUASH:
        text = planned.message or f"Work of {tree['branch']}"
        return store.text("commit-tree", planned.tree, "-p", onto, "-F", "-", given=text.encode())
    return _joined(store, planned, tree, message)


def _joined(store: Git, planned: Plan, tree: Json, message: str) -> str:
    onto, tip = planned.onto, planned.tip
    if _leads_to(store, onto, tip):
        return tip
    text = _joining(tree, planned.branch, message)
    args = ("commit-tree", planned.tree, "-p", onto, "-p", tip, "-F", "-")
    return store.text(*args, given=text.encode())


def _leads_to(store: Git, onto: str, tip: str) -> bool:
    return store.try_("merge-base", "--is-ancestor", onto, tip).code == 0


def _joining(tree: Json, branch: str, message: str) -> str:
    """The message of a merge commit: the usual line, then the user's text."""
    into = f" into {branch}" if branch not in ("main", "master") else ""
    title, body = f"Merge branch '{tree['branch']}'{into}", message.strip()
    return body if body.startswith(title) else f"{title}\n\n{body}".strip()


def _apply(planned: Plan, store: Git) -> str:
    args = ("--binary", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index")
    patch = store.data(
        "diff", *args, "--src-prefix=a/", "--dst-prefix=b/", planned.onto, planned.tree
    )
    if patch.strip():
        outcome = git.do(planned.top, ["apply", "--whitespace=nowarn", "-"], patch)
        if outcome.code != 0:
            raise NoWorktree(
                "git_failed", f"git apply failed: {outcome.output}. Nothing was changed."
            )
    return ""


def keep(home: str, session: str, tree: Json, planned: Plan) -> None:
    """Update a worktree that stays after its merge: what was uncommitted is committed there,
    too."""
    if planned.uncommitted:
        head = f"worktrees/{os.path.basename(tree['admin'])}/HEAD"
        Git(tree["git"], tree["path"]).data("update-ref", head, planned.tip)
        index = os.path.join(tree["admin"], "index")
        Git(tree["git"], tree["path"], index).data("read-tree", planned.tip)
        own_git.exchange(tree)
    record = place.record(home, session) or tree
    merged = {"state": worktree.MERGED, "merged": planned.tip, "kept": True}
    place.write(home, session, record | merged)
