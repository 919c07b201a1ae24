"""The changes in a directory since a commit, as one patch."""

from typing import NamedTuple

from rookery.client.work_tree.changes import Change, Changes


class Diff(NamedTuple):
    base: str
    """The commit; "": there is none yet."""
    files: list[Change]
    patch: str
    cut: bool
    """There is more than is shown."""


def as_patch(changed: Changes) -> Diff:
    patch = b"".join(file.patch for file in changed.files).decode("utf-8", "replace")
    return Diff(changed.base, [file.change for file in changed.files], patch, changed.cut)
