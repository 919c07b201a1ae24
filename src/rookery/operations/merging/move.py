"""Moving a session that others disturb to a git worktree of its own, with its turns, its agent's
memory as far as the agent takes it along, and the files that it changed."""

import os
import time
from collections.abc import Callable

from rookery.client import fleet, guard, offline
from rookery.client.create import own_worktree
from rookery.client.work_tree.changes import NoDiff
from rookery.client.worktrees.repository import NoWorktree
from rookery.core import worktree
from rookery.core.json import Draft, Json, lenient
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import state_of
from rookery.home import paths
from rookery.operations.merging.changed import changed
from rookery.operations.merging.results import Moved
from rookery.operations.merging.session import STOPS, check_idle, put_to_sleep, tell, tree_of
from rookery.snapshots import place

POLL = 0.1
"""Seconds between two looks whether its turn is over."""


def move_session(
    home: str,
    session: str,
    name: str = "",
    *,
    cancel: bool = False,
    report: Callable[[str], object] = lambda _: None,
) -> Moved:
    """Move the session; return its new directory, its branch, and the files that it took along.
    `name`: of the branch; "": the session's id. `cancel`: a running turn is cancelled first. Raises
    NoWorktree, FromAgent, UnknownSession."""
    guard.require_person(home, "move a session")
    head = fleet.head_of_session(home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    if worktree.exists(head.get("worktree")):
        branch = worktree.brief(head["worktree"])
        raise NoWorktree("has_worktree", f"Session {session} already has a worktree: {branch}.")
    if cancel:
        _end_turn(home, session)
    check_idle(home, session)
    put_to_sleep(home, session)
    cwd = lenient.text(head.get("worktree"), "origin") or str(head["cwd"])
    with own_worktree(home, session, cwd, name, report) as (top, made):
        directory = os.path.abspath(top)
        files = [] if head.get("worktree") else _take_along(home, head, cwd, directory)
        moved = {"sessionUpdate": "_session", "cwd": directory, **made}
        offline.note(paths.session_dir(home, session), Draft(moved))
    return _moved(directory, str(made["worktree"]["branch"]), files, cwd)


def told_before(home: str, session: str) -> Moved | None:
    """Return the earlier outcome, without the files taken along; None: it was not moved."""
    tree = tree_of(home, session)
    if tree is None or not worktree.exists(tree):
        return None
    return _moved(str(tree["path"]), str(tree["branch"]), [], str(tree["origin"]))


def _moved(directory: str, branch: str, files: list[str], source: str) -> Moved:
    summary = f"The session works in {paths.with_tilde(directory)} now ({branch})."
    if files:
        copied = count(len(files), "changed file")
        summary += f" {copied} copied there; the old directory still has them, too."
    about: Moved = {
        "summary": summary,
        "directory": directory,
        "branch": branch,
        "files": files,
        "from": source,
    }
    return about


def _end_turn(home: str, session: str) -> None:
    until = time.monotonic() + STOPS
    tell(home, session, {"do": "cancel"})
    while time.monotonic() < until:
        head = fleet.head_of_session(home, session)
        if head is None or state_of(head, awake=head["awake"]) not in ("running", "needs-you"):
            return
        time.sleep(POLL)


def _take_along(home: str, head: Json, source: str, target: str) -> list[str]:
    """Copy the files that the session changed, as they are now, and return their names. They stay
    in the old directory, too."""
    try:
        files = changed(home, head).changes.files
    except NoDiff as error:
        raise NoWorktree("no_changes", f"Nothing was moved. {error}") from error
    names = [name for each in files for name in (each.change.path, each.change.before) if name]
    for name in names:
        try:
            content = place.read(source, name)
            if content != place.NOTHING or place.read(target, name) != place.NOTHING:
                place.write(target, name, content)
        except (place.Outside, OSError) as error:
            message = f"Nothing was moved: {name} could not be copied ({error})."
            raise NoWorktree("not_copied", message) from None
    return names
