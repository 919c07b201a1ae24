"""A session's git worktree: its work merged into the directory that it came from."""

from typing import Annotated, Literal

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, read, work
from rookery.operations.merging.shapes import Merged, MergePlan

type Way = Literal["merge", "rebase", "squash", "apply"]

WAYS = {
    "merge": "Merge its branch (default).",
    "rebase": "Rebase its commits onto the branch.",
    "squash": "Squash its work into one commit.",
    "apply": "Apply the changes without committing.",
}
How = Annotated[Way, Arg("How the work gets there.", each=WAYS)]
Message = Annotated[
    str, Arg("Commit message (default: a draft of what changed).", max_length=20_000, letter="m")
]
Keep = Annotated[bool, Arg("Keep the worktree and its branch.")]

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
    return branch.preview(planned, kept=keep)


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
