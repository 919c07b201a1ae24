"""Races: the same prompt to several agents, each in a worktree of its own. The results are
compared; one is merged, or all are dropped."""

from typing import Annotated

from rookery.operations.branches import How, Message
from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, Preview, read, work
from rookery.operations.merging.results import Picked, Race, RaceDropped

GROUP = "Start and talk"
DROPS = "drop worktrees"

Which = Annotated[
    str, Arg("The race, by its id or its beginning: by default, the latest.", positional=True)
]
Named = Annotated[
    str, Arg("The race to drop.", max_length=64, pattern="^.", positional=True, reason="no_race")
]


@read("Compare a race", on="rookery", group=GROUP, typed=False)
def race(at: At, race: Which = "") -> Race:
    """Compare the sessions of a race; by default, of the latest one."""
    from rookery.operations.merging import race as races

    return races.table(at.home, race)


def _pick_preview(at: At, how: How = "merge", message: Message = "") -> Preview | None:
    from rookery.operations.merging import race as races

    return races.pick_preview(at, how, message)


@work(
    "Pick the winner",
    on="session",
    group=GROUP,
    person="merge its own work",
    preview=_pick_preview,
    typed=False,
    listed=False,
)
def pick(at: At, how: How = "merge", message: Message = "") -> Picked:
    """Merge one session of a race and drop the rest. If the merge fails, nothing is dropped.

    The commit message is shown first; `-m` gives another.
    """
    from rookery.operations.merging import race as races

    return races.pick(at, how, message)


def _drop_preview(at: At, race: Named) -> Preview | None:
    from rookery.operations.merging import race as races

    return races.drop_preview(at.home, race)


@work("Drop a race", on="rookery", group=GROUP, person=DROPS, preview=_drop_preview, typed=False)
def drop_race(at: At, race: Named) -> RaceDropped:
    """Drop the worktrees of all sessions of a race, and archive the sessions."""
    from rookery.operations.calling.carrying import check_agreed
    from rookery.operations.merging import race as races

    check_agreed(at, races.drop_preview(at.home, race))
    return races.drop(at.home, race)
