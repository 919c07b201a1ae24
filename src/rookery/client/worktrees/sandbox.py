"""What a sandbox has to let in so that an agent can commit in its worktree: parts of the
repository's directory, which lies outside the session's roots. Not its hooks and its configuration:
those name programs that the user's own git would run."""

import os
from typing import NamedTuple

from rookery.core.json import Json


class Places(NamedTuple):
    readable: list[str]
    writable: list[str]


def git_places(tree: Json) -> Places:
    """Of a worktree, as its session's header has it. Those that are missing are made."""
    shared = os.path.realpath(tree["git"])
    folder = os.path.dirname(tree["branch"])
    names = ["objects", f"refs/heads/{folder}", f"logs/refs/heads/{folder}"]
    names += ["reftable"] if os.path.isdir(os.path.join(shared, "reftable")) else []
    writable = [os.path.join(shared, name) for name in names]
    for path in writable:
        os.makedirs(path, exist_ok=True)
    return Places([shared], [*writable, os.path.realpath(tree["admin"])])
