"""A session's worktree merged, dropped or compared: what every face calls. An agent may do none of
it."""

import asyncio
import os
from contextlib import suppress
from typing import NamedTuple

from rookery.client import fleet, guard
from rookery.client.daemon.origin import run
from rookery.client.session import Trouble
from rookery.client.work_tree.changes import Changes, changes
from rookery.client.worktrees import merge, own_git, place
from rookery.client.worktrees.drop import clear, drop, refuse_loss
from rookery.client.worktrees.repository import NoWorktree
from rookery.core import worktree
from rookery.core.json import Json
from rookery.core.view.fleet import state_of
from rookery.home import paths
from rookery.log.errors import FAULTS, StoreError, fault_of
from rookery.log.lock import becomes_free
from rookery.operations.calling.local_session import LocalSession

AGAIN = "Then merge again."
STOPS = 20.0
"""Seconds for a worker to end when it is asked to."""


class Merged(NamedTuple):
    plan: merge.Plan
    commit: str
    """What the directory's branch has now; "": nothing was committed there."""
    kept: bool


def tree_of(home: str, session: str) -> Json | None:
    """A session's worktree; None: it never had one. Raises UnknownSession."""
    head = fleet.head_of_session(home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    found = head.get("worktree")
    return found if isinstance(found, dict) and found.get("path") else None


def _known(home: str, session: str) -> Json:
    found = tree_of(home, session)
    if found is None:
        words = f"Session {session} has no worktree."
        raise NoWorktree("no_worktree", words, "rookery new --worktree makes one.")
    return found


def plan_of(home: str, session: str, how: str = merge.MERGE) -> merge.Plan:
    """What a merge would do. Raises NoWorktree."""
    return merge.plan(_known(home, session), how)


def as_json(plan: merge.Plan) -> Json:
    """What a merge would do, for programs and for a question."""
    fields = ("how", "conflicts", "in_the_way", "commits", "uncommitted", "message")
    about = {field: getattr(plan, field) for field in fields}
    about |= {"into": plan.branch or plan.top, "resolution": plan.resolution()}
    return {**about, **plan.size._asdict()}


def merge_session(
    home: str, session: str, how: str = merge.MERGE, message: str = "", *, kept: bool = False
) -> Merged:
    """Raises NoWorktree, FromAgent. Nothing is touched before all of it is known to succeed."""
    guard.require_person(home, "merge its own work")
    tree = _known(home, session)
    if not worktree.exists(tree) or not os.path.isdir(tree["path"]):
        raise NoWorktree("no_worktree", merge.gone(tree))
    check_idle(home, session)
    if not kept:
        try:
            put_to_sleep(home, session)
        except Trouble as error:
            stops = "The session stops once its disk takes something."
            raise NoWorktree(
                "disk_full", f"Nothing was merged. {_why(error)} {stops}", AGAIN, "full"
            ) from error
    with place.held(home, session):
        planned, commit = _merged(tree, how, message)
        if kept:
            merge.keep(home, session, tree, planned)
        _note_merged(home, session, planned, kept=kept)
        if not kept:
            clear(home, session, tree)
    return Merged(planned, commit, kept)


def _merged(tree: Json, how: str, message: str) -> tuple[merge.Plan, str]:
    try:
        planned = merge.plan(tree, how, message)
        return planned, merge.carry_out(planned, tree, message)
    except (NoWorktree, OSError) as error:
        known = isinstance(error, NoWorktree) and error.reason != "git_failed"
        fault = 0 if known else fault_of(tree["git"]) or fault_of(tree["path"])
        if not fault:
            raise
        words = f"Nothing was merged: {FAULTS[fault]} ({tree['git']})."
        raise NoWorktree("disk_full", words, f"{AGAIN} git said: {error}", "full") from error


def _why(error: Trouble) -> str:
    """Without what waits: that is another command than the user's."""
    return str(error).partition(". The ")[0] + "."


def _note_merged(home: str, session: str, planned: merge.Plan, *, kept: bool) -> None:
    """Raises NoWorktree: it is merged, and its log does not say so."""
    done = f"The work was merged into {planned.branch or planned.top}"
    try:
        _note(home, session, worktree.MERGED, planned.tip, kept=kept)
    except Trouble as error:
        words = f"{done}. {_why(error)} That it was merged waits in the worker to be noted."
        remedy = "Free some space. Do not merge again."
        raise NoWorktree("disk_full", words, remedy, "full") from error
    except StoreError as error:
        words = f"{done}, but the session's log could not be written. {error}"
        rest = "The worktree stays. Then merge once more: what is there is not merged twice."
        raise NoWorktree("disk_full", words, rest, "full") from error


def told(done: Merged) -> Json:
    """For programs, and for a sentence."""
    plan = done.plan
    return {
        "how": plan.how,
        "into": plan.branch or plan.top,
        "directory": plan.top,
        "commit": done.commit,
        "kept": done.kept,
        "commits": plan.commits,
        "message": plan.message,
        **plan.size._asdict(),
    }


def told_before(head: Json, how: str) -> Json | None:
    """The same of a worktree that was merged and is gone, as far as it is known; None: it is
    not."""
    tree = head.get("worktree")
    if not isinstance(tree, dict) or tree["state"] != worktree.MERGED or worktree.exists(tree):
        return None
    about = {"how": how, "into": tree["from"] or tree["origin"], "directory": tree["origin"]}
    numbers = dict.fromkeys(("commits", *merge.Size._fields), 0)
    return about | {"commit": tree["merged"], "kept": False, "message": "", **numbers}


def drop_session(home: str, session: str, *, force: bool = False) -> None:
    """Its worktree goes, the session stays. Raises NoWorktree, Unmerged, FromAgent."""
    guard.require_person(home, "drop worktrees")
    tree = _known(home, session)
    if not worktree.exists(tree):
        raise NoWorktree("no_worktree", merge.gone(tree))
    refuse_loss(home, session, force=force)
    put_to_sleep(home, session)
    refuse_loss(home, session, force=force)  # it may have worked on until it ended
    _note(home, session, worktree.DROPPED)
    drop(home, session, tree)


def drop_orphan(home: str, session: str, *, force: bool = False) -> bool:
    """The worktree of a session that is gone; whether there was one."""
    guard.require_person(home, "drop worktrees")
    tree = place.record(home, session)
    if tree is None:
        return False
    refuse_loss(home, session, force=force)
    drop(home, session, tree)
    return True


def check_idle(home: str, session: str) -> None:
    head = fleet.head_of_session(home, session)
    match state_of(head, awake=head["awake"]) if head else "":
        case "needs-you":
            words = f"Session {session} is waiting for your answer."
            way = f"Give it: rookery answer {session}, or: rookery cancel {session}"
        case "running":
            words = f"Session {session} is in the middle of a turn."
            way = f"Wait for it, or: rookery cancel {session}"
        case "waiting":
            words = f"Session {session} is waiting for a free worker."
            way = f"Wait for it, or: rookery queue {session} clear"
        case _:
            return
    raise NoWorktree("running", words, way)


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
    """What a session changed: since its worktree's base, or in its directory since the last
    commit. Raises NoDiff, NoWorktree."""
    tree = head.get("worktree")
    if not isinstance(tree, dict) or not tree.get("path"):
        return changes(str(head["cwd"]))
    if not worktree.exists(tree) or not os.path.isdir(tree["path"]):
        raise NoWorktree("no_worktree", merge.gone(tree))
    own_git.exchange(tree)
    found = changes(tree["path"], tree["base"])
    copied = set(tree.get("copied", ()))
    files = [each for each in found.files if each.change.path not in copied or each.modes[0] != NEW]
    return found._replace(files=files)


NEW = "000000"
"""The mode before of a file that is new."""
