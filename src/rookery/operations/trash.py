"""Removing sessions: to the trash, where they can be restored for 14 days, or permanently."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from rookery.core.refusals import Refused
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, read, work

if TYPE_CHECKING:
    from rookery.client.worktrees.drop import Work
    from rookery.core.json import Json

DELETES = "delete sessions"
MAX_NAMED = 20
"""How many sessions a preview names."""

Named = Annotated[
    str,
    Arg(
        "A session in the trash: its id, or for a restore also its title.",
        max_length=200,
        pattern="^.",
        positional=True,
        reason="not_in_trash",
        wrong="Name a session in the trash.",
    ),
]


Force = Annotated[bool, Arg("Also if its worktree has work that was not merged.")]
Permanently = Annotated[bool, Arg("Delete it at once, instead of moving it to the trash.")]


class Removed(TypedDict):
    summary: str
    until: Annotated[int | None, "Until when it can be restored; null: it cannot."]
    kept: Annotated[list[str], "What could not be deleted."]
    told: Annotated[str, "What its agent said; empty: it was not asked to delete its copy."]
    full: Annotated[bool, "Whether the disk is nearly full, and the trash could make room."]


class Trashed(TypedDict):
    """A session in the trash."""

    id: str
    title: str
    agent: str
    cwd: str
    removed: Annotated[int, "In milliseconds since the epoch."]
    until: Annotated[int, "When it is deleted permanently. In milliseconds since the epoch."]
    branch: Annotated[str, "Of its worktree; empty: it has none."]
    bytes: Annotated[int, "On the disk, with its worktree."]


class Trash(TypedDict):
    sessions: list[Trashed]


class Restored(TypedDict):
    """A session that is back in the lists."""

    summary: str
    id: str
    missing: Annotated[str, "What could not be restored with it; may be empty."]


class Erased(TypedDict):
    """The outcome of deleting permanently."""

    summary: str
    deleted: Annotated[list[str], "The ids of the sessions."]
    kept: Annotated[list[str], "What could not be deleted."]


def _one_leaves(at: At, force: Force = False, permanently: Permanently = False) -> Preview | None:
    import os

    from rookery.client import fleet
    from rookery.client.worktrees import drop
    from rookery.home import paths

    if not permanently or not os.path.isdir(paths.session_dir(at.home, at.session)):
        return None
    drop.refuse_loss(at.home, at.session, force=force)
    head = fleet.head_of_session(at.home, at.session) or {"id": at.session, "title": ""}
    return _lost([head], drop.unmerged(at.home, at.session))


@work(
    "Delete",
    person=DELETES,
    preview=_one_leaves,
    whole_id=True,
    listed=False,
    examples=("3f2a", "--yes --permanently 3f2a 91bc"),
)
def remove(at: At, force: Force = False, permanently: Permanently = False) -> Removed:
    """Move sessions to the trash, or delete them permanently.

    For 14 days, rookery restore brings them back with their transcript, snapshots, worktree and
    branch; then they are deleted permanently. Running agents are stopped. Files changed by agents
    stay, and so does your prompt history (prompts.jsonl).
    """
    from rookery.client import fleet
    from rookery.client.trash import moves
    from rookery.client.trash.emptying import is_low
    from rookery.search.update import drop_deleted

    kept, remark = list[str](), ""
    if permanently:
        remark = fleet.remove(at.home, at.session, kept.append, force=force)
        drop_deleted(at.home)
        summary, until, full = f"Deleted {at.session}.", None, False
    else:
        until = moves.remove(at.home, at.session, force=force).until
        summary, full = f"Moved {at.session} to the trash.", is_low(at.home)
    return {"summary": summary, "until": until, "kept": kept, "told": remark, "full": full}


@read("Trash", on="rookery", listed=False, examples=("", "--empty"))
def trash(at: At) -> Trash:
    """List removed sessions. Each is deleted permanently 14 days after it was removed; if the disk
    is full, the oldest are deleted earlier.
    """
    return {"sessions": _listed(at)}


@work(
    "Restore",
    on="rookery",
    person="restore sessions",
    listed=False,
    examples=("", "3f2a"),
)
def restore(at: At, name: Named) -> Restored:
    """Restore sessions from the trash. Their snapshots, worktree and branch come back with them."""
    from rookery.client.trash import moves

    session, missing = moves.restore(at.home, name)
    summary = f"Restored {session}. {missing}".rstrip()
    return {"summary": summary, "id": session, "missing": missing}


def _one_goes(at: At, name: Named) -> Preview:
    return _lost([row for row in _listed(at) if row["id"] == _whole(at, name)][:1])


@work("Delete from the trash", on="rookery", person=DELETES, preview=_one_goes, typed=False)
def delete_trashed(at: At, name: Named) -> Erased:
    """Delete a session in the trash permanently. Its agents are asked to delete their copy."""
    from rookery.client.trash import moves

    sizes, kept = _sizes(at), list[str]()
    return _deleted(at, [moves.delete(at.home, _whole(at, name), kept.append)], kept, sizes)


def _all_go(at: At) -> Preview | None:
    rows = _listed(at)
    return _lost(rows) if rows else None


@work("Empty the trash", on="rookery", person="empty the trash", preview=_all_go, typed=False)
def empty_trash(at: At) -> Erased:
    """Delete all sessions in the trash permanently, as `delete-trashed` does."""
    from rookery.client.trash import moves

    sizes, kept = _sizes(at), list[str]()
    return _deleted(at, moves.empty(at.home, kept.append), kept, sizes)


def _listed(at: At) -> list[Any]:
    from rookery.client.trash import moves

    return moves.listed(at.home)


def _sizes(at: At) -> dict[str, int]:
    return {row["id"]: row["bytes"] for row in _listed(at)}


def _whole(at: At, name: str) -> str:
    """Return the session if `name` is its whole id. Raises Refused, TrashError, Ambiguous."""
    from rookery.client.trash import moves

    if (session := moves.find(at.home, name).session) != name:
        message = "A title could mean another session."
        raise Refused("whole_id", message, "Use the session's whole id.")
    return session


def _lost(rows: "Sequence[Json]", work: "Work | None" = None) -> Preview:
    from rookery.client.worktrees.drop import together
    from rookery.core.json.safe_text import count
    from rookery.core.view.fleet import NO_TITLE
    from rookery.operations.calling.carrying import preview_of

    names = [f"{row['id']}  {row['title'] or NO_TITLE}" for row in rows]
    more = [f"and {len(rows) - MAX_NAMED:,} more"] if len(rows) > MAX_NAMED else []
    what = f"{count(len(rows), 'session')}, which cannot be restored after that"
    lines = [f"This permanently deletes {what}:", *names[:MAX_NAMED], *more]
    if work:
        lost, others = str(work), together(work.guests, "in its worktree")
        lines += [f"Its worktree has work that was not merged: {lost}"] if lost else []
        lines += [others] if others else []
    return preview_of("\n".join(lines), *names)


def _deleted(at: At, gone: list[str], kept: list[str], sizes: dict[str, int]) -> Erased:
    from rookery.core import units
    from rookery.core.json.safe_text import count
    from rookery.search.update import drop_deleted

    drop_deleted(at.home)
    freed = units.size(sum(sizes.get(session, 0) for session in gone))
    summary = f"Deleted {count(len(gone), 'session')}: {freed} freed."
    return {"summary": summary, "deleted": gone, "kept": kept}
