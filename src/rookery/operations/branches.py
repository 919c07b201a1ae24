"""Git worktrees of sessions: giving one to a session that has none, merging it into the directory
it came from, dropping it."""

from typing import Annotated, Literal

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, read, work
from rookery.operations.merging.results import Dropped, Merged, MergePlan, Moved

type Way = Literal["merge", "rebase", "squash", "apply"]

WAYS = {
    "merge": "Merge its branch (default).",
    "rebase": "Rebase its commits onto the branch.",
    "squash": "Squash its work into one commit.",
    "apply": "Apply the changes without committing.",
}
How = Annotated[Way, Arg("How the work gets there.", each=WAYS)]
Message = Annotated[
    str,
    Arg(
        "Commit message (default: a draft of what changed).",
        max_length=20_000,
        how="text",
        letter="m",
    ),
]
Keep = Annotated[bool, Arg("Keep the worktree and its branch.")]
Force = Annotated[bool, Arg("Drop it even if work was not merged.", agrees=True)]
Branch = Annotated[str, Arg("Branch name, after rookery/ (default: the id).", max_length=100)]
CANCEL = "Cancel a running turn first."
Cancel = Annotated[bool, Arg(CANCEL)]

HAS_WORKTREE = {"worktree": True}


@read("What a merge would do", on="session", typed=False, listed=False, when=HAS_WORKTREE)
def merge_plan(at: At, how: How = "merge") -> MergePlan:
    """Show what a merge of the session's worktree would do. Nothing is touched."""
    from rookery.operations.merging.session import told_plan

    return told_plan(at.home, at.session, how)


def _merge_preview(
    at: At, how: How = "merge", message: Message = "", keep: Keep = False
) -> Preview | None:
    from rookery.operations.merging import session as branch

    if at.again and branch.told_before(at.home, at.session, how):
        return None
    branch.check_idle(at.home, at.session)
    planned = branch.plan_of(at.home, at.session, how, message)
    planned.check()
    return branch.preview(planned, kept=keep, others=branch.guests(at.home, at.session))


@work(
    "Merge the worktree",
    on="session",
    person="merge its own work",
    preview=_merge_preview,
    when=HAS_WORKTREE,
    more="into the directory that it came from",
    examples=(
        "3f2a",
        '3f2a --squash -m "Rewrite the parser"',
        "3f2a --apply --keep",
        "3f2a --ask-agent",
    ),
)
def merge(at: At, how: How = "merge", message: Message = "", keep: Keep = False) -> Merged:
    """Merge the work of a session's worktree. It goes into the directory that it came from.

    Conflicts, and changes of yours that are in the way, are reported before anything is touched.
    Work that the agent did not commit is committed first, with -m, or a draft of what changed: a
    terminal shows it and takes another. Afterwards the worktree and its branch are deleted; the
    session stays.

    Git hooks do not run. If yours must see the commit: --apply, then git commit.

    SESSION: by default, the only one of this directory that has a worktree.
    """
    from rookery.operations.calling.carrying import check_agreed
    from rookery.operations.merging import session as branch

    if at.again and (before := branch.told_before(at.home, at.session, how)):
        return before
    return branch.merge_session(
        *(at.home, at.session, how, message),
        kept=keep,
        check=lambda plan: check_agreed(at, branch.preview(plan, kept=keep)),
    )


def _drop_preview(at: At, force: Force = False) -> Preview | None:
    from rookery.operations.merging import session as branch

    was_dropped = at.again and branch.was_dropped(at.home, at.session)
    return None if force or was_dropped else branch.loss(at.home, at.session)


@work(
    "Drop the worktree",
    on="sessions",
    person="drop worktrees",
    preview=_drop_preview,
    when=HAS_WORKTREE,
    more="its work is lost unless it was merged",
    examples=("3f2a", "--force 3f2a 91bc"),
)
def drop(at: At, force: Force = False) -> Dropped:
    """Delete worktrees without merging them. Their branches go with them; the sessions stay.

    If there is work that was not merged, a terminal asks; a script has to pass --force.
    """
    from rookery.operations.calling.carrying import check_agreed
    from rookery.operations.merging import session as branch

    def check() -> None:
        if not force and at.agreed is not None:
            check_agreed(at, branch.loss(at.home, at.session))

    if not (at.again and branch.was_dropped(at.home, at.session)):
        agreed = force or at.agreed is not None
        branch.drop_session(at.home, at.session, force=agreed, check=check)
    summary = f"Dropped the worktree of {at.session}."
    return {"summary": summary, "session": at.session, "dropped": True}


@work(
    "Move to a worktree",
    on="session",
    person="move a session",
    when={"worktree": False},
    more="its own copy of the repository, on a branch",
    examples=("3f2a", "3f2a --cancel --name parser"),
)
def move(at: At, name: Branch = "", cancel: Cancel = False) -> Moved:
    """Move a session to a git worktree of its own. There it is away from others in its directory.

    The files that it changed are copied into the worktree; they stay in the old directory, too.
    The session goes on there with its next prompt. `rookery merge` brings its work back.
    """
    from rookery.operations.merging import move as moving

    if at.again and (before := moving.told_before(at.home, at.session)):
        return before
    return moving.move_session(at.home, at.session, name, cancel=cancel, report=at.report)
