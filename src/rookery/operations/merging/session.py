"""Merging, dropping and comparing a session's worktree, for every face. Agents may do none
of it."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from rookery.client import fleet, guard
from rookery.client.daemon.origin import run
from rookery.client.session import Trouble
from rookery.client.work_tree.changes import Changes, changes
from rookery.client.worktrees import merge, own_git, place
from rookery.client.worktrees.drop import (
    Unmerged,
    clear,
    drop,
    guests_of,
    refuse_loss,
    together,
    unmerged,
)
from rookery.client.worktrees.repository import NoWorktree
from rookery.core import worktree
from rookery.core.json import Json
from rookery.core.json.safe_text import count
from rookery.core.view.fleet import state_of
from rookery.home import paths
from rookery.log.errors import FAULTS, StoreError, fault_of
from rookery.log.lock import becomes_free
from rookery.operations.calling.carrying import preview_of
from rookery.operations.calling.local_session import LocalSession
from rookery.operations.catalogue.row import Preview
from rookery.operations.merging.results import Merged, MergePlan

AGAIN = "Then merge again."
STOPS = 20.0
"""Seconds for a worker to end when it is asked to."""


def tree_of(home: str, session: str) -> Json | None:
    """Return a session's worktree, or None if it never had one. Raises UnknownSession."""
    head = fleet.head_of_session(home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    tree = head.get("worktree")
    return tree if isinstance(tree, dict) and tree.get("path") else None


def _known(home: str, session: str) -> Json:
    tree = tree_of(home, session)
    if tree is None:
        message = f"Session {session} has no worktree."
        raise NoWorktree("no_worktree", message, "rookery new --worktree makes one.")
    return tree


def plan_of(home: str, session: str, how: str = merge.MERGE, message: str = "") -> merge.Plan:
    """Return what a merge would do. Raises NoWorktree."""
    tree = _known(home, session)
    with _disks_named(tree):
        return merge.plan(tree, how, message)


def told_plan(home: str, session: str, how: str) -> MergePlan:
    """Return what a merge would do, for programs and for a question to the user."""
    plan = plan_of(home, session, how)
    return {
        "how": plan.how,
        "into": plan.into,
        "conflicts": plan.conflicts,
        "in_the_way": plan.in_the_way,
        "commits": plan.commits,
        "uncommitted": plan.uncommitted,
        "message": plan.message,
        "resolution": plan.resolution(),
        "files": plan.size.files,
        "added": plan.size.added,
        "removed": plan.size.removed,
        "fingerprint": preview(plan).fingerprint,
    }


def preview(plan: merge.Plan, *, kept: bool = False, others: Sequence[str] = ()) -> Preview:
    """Return the preview that the user agrees to: what the directory gets. The message and whether
    the worktree stays are the caller's own choice, so they are not part of it."""
    lines = [f"{plan.size}, into {plan.into}." if plan.size.files else f"{_nothing(plan)}."]
    if plan.uncommitted:
        lines.append(f"{count(plan.uncommitted, 'file')} will be committed first.")
    if plan.message:
        lines += ["Commit message:", *(f"  {line}" for line in plan.message.splitlines())]
    lines.append(f"The worktree and its branch are {'kept' if kept or others else 'deleted'}.")
    lines += [together(others)] if others else []
    about = (plan.how, plan.top, plan.branch, plan.onto, plan.tree, plan.commits, plan.uncommitted)
    return Preview("\n".join(lines), preview_of("", *about).fingerprint)


def guests(home: str, session: str) -> tuple[str, ...]:
    """Return the other sessions that work in its worktree. Raises UnknownSession."""
    return guests_of(home, session, tree_of(home, session))


def _nothing(plan: merge.Plan) -> str:
    why = f"{plan.into} has all of it" if plan.commits else "the session changed nothing"
    return f"Nothing to merge: {why}"


def merge_session(
    home: str,
    session: str,
    how: str = merge.MERGE,
    message: str = "",
    *,
    kept: bool = False,
    check: Callable[[merge.Plan], object] = lambda _: None,
) -> Merged:
    """Merge a session's worktree into the directory that it came from. Raises NoWorktree,
    FromAgent, and what `check` does. Nothing is touched before all of it is known to succeed."""
    guard.require_person(home, "merge its own work")
    tree = _known(home, session)
    if not worktree.exists(tree) or not os.path.isdir(tree["path"]):
        raise NoWorktree("no_worktree", merge.gone(tree))
    check_idle(home, session)
    for guest in (others := guests(home, session)):
        check_idle(home, guest)
    kept = kept or bool(others)
    if not kept:
        try:
            put_to_sleep(home, session)
        except Trouble as error:
            stops = "The session stops once its disk takes something."
            raise NoWorktree(
                "disk_full", f"Nothing was merged. {_why(error)} {stops}", AGAIN, "full"
            ) from error
    with place.held(home, session):
        plan, commit = _merged(tree, how, message, check)
        if kept:
            merge.keep(home, session, tree, plan)
        _note_merged(home, session, plan, kept=kept)
        if not kept:
            clear(home, session, tree)
    ends = f"The worktree stays. {together(others)}" if kept else "The worktree is gone."
    if plan.size.files:
        verb = "Applied to" if how == merge.APPLY else "Merged into"
        where = f", {commit[:12]}" if commit else "; not committed"
        summary = f"{verb} {plan.into}: {plan.size}{where}"
    else:
        summary = _nothing(plan)
    return {
        "summary": f"{summary}. {ends}".rstrip(),
        "how": plan.how,
        "into": plan.into,
        "directory": plan.top,
        "commit": commit,
        "kept": kept,
        "commits": plan.commits,
        "message": plan.message,
        "files": plan.size.files,
        "added": plan.size.added,
        "removed": plan.size.removed,
    }


def _merged(
    tree: Json, how: str, message: str, check: Callable[[merge.Plan], object]
) -> tuple[merge.Plan, str]:
    with _disks_named(tree):
        planned = merge.plan(tree, how, message)
        check(planned)
        return planned, merge.carry_out(planned, tree, message)


@contextmanager
def _disks_named(tree: Json) -> Iterator[None]:
    """Turn a failure into one that names what is wrong with the disk, if something is."""
    try:
        yield
    except (NoWorktree, OSError) as error:
        known = isinstance(error, NoWorktree) and error.reason != "git_failed"
        fault = 0 if known else fault_of(tree["git"]) or fault_of(tree["path"])
        if not fault:
            raise
        message = f"Nothing was merged: {FAULTS[fault]}."
        raise NoWorktree("disk_full", message, f"{AGAIN} git said: {error}", "full") from error


def _why(error: Trouble) -> str:
    """Return the error's message without what waits: that is another command than the user's."""
    return str(error).partition(". The ")[0] + "."


def _note_merged(home: str, session: str, planned: merge.Plan, *, kept: bool) -> None:
    """Record the merge in the session's log. Raises NoWorktree if the log cannot be written: the
    work is merged anyway."""
    done = f"The work was merged into {planned.into}"
    try:
        _note(home, session, worktree.MERGED, planned.tip, kept=kept)
    except Trouble as error:
        message = f"{done}. {_why(error)} That it was merged waits in the worker to be noted."
        remedy = "Free some space. Do not merge again."
        raise NoWorktree("disk_full", message, remedy, "full") from error
    except StoreError as error:
        message = f"{done}, but the session's log could not be written. {error}"
        rest = "The worktree stays. Then merge once more: what is there is not merged twice."
        raise NoWorktree("disk_full", message, rest, "full") from error


def told_before(home: str, session: str, how: str) -> Merged | None:
    """Return the outcome, as far as it is known, of an earlier merge whose worktree is gone; None
    if there was none."""
    tree = tree_of(home, session)
    if tree is None or tree["state"] != worktree.MERGED or worktree.exists(tree):
        return None
    into = str(tree["from"] or tree["origin"])
    return {
        "summary": f"Merged into {into}. The worktree is gone.",
        "how": how,
        "into": into,
        "directory": str(tree["origin"]),
        "commit": str(tree["merged"]),
        "kept": False,
        "commits": 0,
        "message": "",
        "files": 0,
        "added": 0,
        "removed": 0,
    }


def was_dropped(home: str, session: str) -> bool:
    tree = tree_of(home, session)
    return tree is not None and tree.get("state") == worktree.DROPPED


def loss(home: str, session: str) -> Preview:
    """Preview what dropping the worktree would lose. Raises NoWorktree, UnknownSession."""
    _droppable(home, session)
    work = unmerged(home, session)
    stays = "The worktree and its branch are deleted. The session stays, and can be read."
    if not work:
        return preview_of(stays)
    error = Unmerged(session, work)
    shown = preview_of(f"{error.message}\n{stays}", work)
    return shown._replace(reason=error.reason, remedy=error.remedy)


def drop_session(
    home: str,
    session: str,
    *,
    force: bool = False,
    check: Callable[[], object] = lambda: None,
) -> None:
    """Delete the session's worktree; the session stays. This also works for a session that is gone.
    `check` raises if more would be lost than was agreed to. Raises NoWorktree, Unmerged, FromAgent,
    UnknownSession, and what `check` does."""
    guard.require_person(home, "drop worktrees")
    tree, is_orphan = _droppable(home, session)
    refuse_loss(home, session, force=force)
    if not is_orphan:
        put_to_sleep(home, session)
        refuse_loss(home, session, force=force)  # it may have worked on until it ended
    check()
    if not is_orphan:
        _note(home, session, worktree.DROPPED)
    drop(home, session, tree)


def _droppable(home: str, session: str) -> tuple[Json, bool]:
    """Return the worktree, and whether the session itself is gone."""
    try:
        tree = _known(home, session)
    except fleet.UnknownSession:
        left = place.record(home, session)
        if left is None:
            raise
        return left, True
    if not worktree.exists(tree):
        raise NoWorktree("no_worktree", merge.gone(tree))
    return tree, False


def check_idle(home: str, session: str) -> None:
    head = fleet.head_of_session(home, session)
    match state_of(head, awake=head["awake"]) if head else "":
        case "needs-you":
            message = f"Session {session} is waiting for your answer."
            way = f"Give it: rookery answer {session}, or: rookery cancel {session}"
        case "running":
            message = f"Session {session} is in the middle of a turn."
            way = f"Wait for it, or: rookery cancel {session}"
        case "waiting":
            message = f"Session {session} is waiting for a free worker."
            way = f"Wait for it, or: rookery queue {session} clear"
        case _:
            return
    raise NoWorktree("running", message, way)


def put_to_sleep(home: str, session: str) -> None:
    head = fleet.head_of_session(home, session)
    if head is None or not fleet.is_in_use(home, head):
        return

    async def stop() -> None:
        with LocalSession(home, session) as client:
            async with asyncio.timeout(STOPS):
                await client.send({"do": "stop"})

    with suppress(TimeoutError):
        run(stop())
    if not becomes_free(paths.session_dir(home, session), STOPS):
        fleet.kill(home, session)


def _note(home: str, session: str, state: str, merged: str = "", *, kept: bool = False) -> None:
    about: Json = {"do": "worktree", "state": state, "kept": kept}
    about |= {"merged": merged} if merged else {}
    tell(home, session, about)


def archive(home: str, session: str) -> None:
    tell(home, session, {"do": "archive"})


def tell(home: str, session: str, command: Json) -> None:
    async def say() -> None:
        with LocalSession(home, session) as client:
            async with asyncio.timeout(STOPS):
                await client.send(command)

    run(say())


# --- what changed ---------------------------------------------------------------------------------


def changes_of(head: Json) -> Changes:
    """Return what a session changed: since its worktree's base, or in its directory since the last
    commit. Raises NoDiff, NoWorktree."""
    tree = head.get("worktree")
    if not isinstance(tree, dict) or not tree.get("path"):
        return changes(str(head["cwd"]))
    if not worktree.exists(tree) or not os.path.isdir(tree["path"]):
        raise NoWorktree("no_worktree", merge.gone(tree))
    own_git.exchange(tree)
    change_set = changes(tree["path"], tree["base"])
    copied = set(tree.get("copied", ()))
    files = [
        each for each in change_set.files if each.change.path not in copied or each.modes[0] != NEW
    ]
    return change_set._replace(files=files)


NEW = "000000"
"""The mode before of a file that is new."""
