"""Directories of this machine in which a session could be created."""

import os
from typing import Annotated, TypedDict

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import At, read
from rookery.operations.work_tree import Files, Letters, Most, NoDirectory, finder

GROUP = "Start"
MAX_PATH_LENGTH = 4096

Beginning = Annotated[str, Arg("How the path begins: `/srv/sh`, `~/`.", max_length=MAX_PATH_LENGTH)]
Place = Annotated[str, Arg("A whole path, or ~/…", pattern=".", max_length=MAX_PATH_LENGTH)]


class Directories(TypedDict):
    directories: Annotated[list[str], "Each with a slash at its end, 20 at most."]


class Branches(TypedDict):
    current: Annotated[str, "What is checked out; empty: no branch, or no repository."]
    branches: Annotated[list[str], "The last used first, 100 at most."]


def directory(path: str) -> str:
    """Return the real path of a directory. Raises NoDirectory if it is none on this machine."""
    place = os.path.expanduser(path)
    if "\0" in path or not os.path.isabs(place) or not os.path.isdir(place):
        message = f"{path[:200]!r} is not a directory on this machine."
        raise NoDirectory(message, "Use a whole path.")
    return os.path.realpath(place)


@read("Directories", on="rookery", group=GROUP, role="all", typed=False, for_new=True)
def directories(at: At, prefix: Beginning = "~/") -> Directories:
    """List directories whose paths begin so: where a session could work. Names only."""
    from rookery.client.work_tree.directories import completed

    del at
    return {"directories": completed(prefix)}


@read("Files of a directory", on="rookery", group=GROUP, role="all", typed=False, for_new=True)
def directory_files(at: At, cwd: Place, query: Letters = "", limit: Most = 20) -> Files:
    """Find files of a directory in which a session could be created, by letters of their names."""
    del at
    return {"files": finder().find(directory(cwd), query, limit)}


@read("Branches", on="rookery", group=GROUP, role="all", typed=False, for_new=True)
def branches(at: At, cwd: Place) -> Branches:
    """List the branches of a directory's git repository: what a worktree can begin at."""
    from rookery.client.work_tree.directories import branches as branches_of

    del at
    current, others = branches_of(directory(cwd))
    return {"current": current, "branches": others}
