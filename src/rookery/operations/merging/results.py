"""The results of operations on worktrees and races."""

from typing import Annotated, TypedDict


class MergePlan(TypedDict):
    """The effects of a merge."""

    how: str
    into: Annotated[str, "The branch, or the directory where none is checked out."]
    conflicts: Annotated[list[str], "Files in conflict: a merge would be refused."]
    in_the_way: Annotated[
        list[str], "Files with uncommitted changes of yours: a merge would be refused."
    ]
    commits: int
    uncommitted: Annotated[int, "Files that would be committed first."]
    message: Annotated[
        str,
        "A draft for the commit that would be made; empty: there would be none, or the agent "
        "committed it.",
    ]
    resolution: Annotated[
        str, "A prompt that has the agent resolve the conflicts; empty: there are none."
    ]
    files: int
    added: int
    removed: int
    fingerprint: Annotated[str, "Send it with `merge` to agree to this."]


class Merged(TypedDict):
    summary: str
    how: str
    into: Annotated[str, "The branch, or the directory where none is checked out."]
    directory: str
    commit: Annotated[str, "The branch's commit now; empty: nothing was committed."]
    kept: bool
    commits: int
    message: Annotated[str, "Of the commit that was made of the work; may be empty."]
    files: int
    added: int
    removed: int


class Dropped(TypedDict):
    summary: str
    session: str
    dropped: bool


Moved = TypedDict(
    "Moved",
    {
        "summary": str,
        "directory": Annotated[str, "Where the session works from now on."],
        "branch": str,
        "files": Annotated[list[str], "Changed files that it took along, as copies."],
        "from": Annotated[str, "Where it worked before."],
    },
)


class Runner(TypedDict):
    """One session of a race."""

    session: str
    agent: str
    state: str
    branch: str
    files: Annotated[int | None, "Changed files; null: its worktree is gone."]
    added: int
    removed: int
    tests: Annotated[str, "By the critic's command: passed, failed, running or empty."]
    cost: Annotated[dict[str, float], "By currency."]
    tokens: int
    seconds: float


class Race(TypedDict):
    id: str
    sessions: list[Runner]


class Picked(TypedDict):
    summary: str
    merged: Merged
    dropped: Annotated[list[str], "The sessions whose worktrees were deleted."]


class RaceDropped(TypedDict):
    summary: str
    dropped: Annotated[list[str], "The sessions whose worktrees were deleted."]
