"""What operations on worktrees and races return."""

from typing import Annotated, TypedDict


class MergePlan(TypedDict):
    """What a merge would do."""

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
