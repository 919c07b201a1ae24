"""A session's directory: its files by name, and what changed in it. No path comes from a request:
the directory is the one that the session was created with."""

import asyncio
import os
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from rookery.client import fleet
from rookery.client.work_tree.diff import NoDiff, diff
from rookery.client.work_tree.files import Finder
from rookery.core.json import Json
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import Masked, reads
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, SessionId, State

router = APIRouter(tags=["work tree"])

_finder = Finder()


def _cwd(daemon: State, session: str) -> str:
    head = fleet.head_of_session(daemon.home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    cwd = str(head["cwd"])
    if not os.path.isdir(cwd):
        raise Problem(
            409, "no_directory", f"{cwd} does not exist any more.", "Create it, or use another."
        )
    return cwd


@router.get(
    "/api/sessions/{session}/files", responses=reads(shapes.Files, 409), response_class=Masked
)
async def find_files(
    daemon: Daemon,
    session: SessionId,
    query: Annotated[
        str, Query(max_length=200, description="Letters of the name, in order; empty: any file.")
    ] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Response:
    """Find files in the session's directory by some letters of their names.

    What git ignores is left out, and where there is no git, what tools leave behind.
    """

    def find() -> Json:
        return {"files": _finder.find(_cwd(daemon, session), query, limit)}

    return Masked(await asyncio.to_thread(find))


@router.get(
    "/api/sessions/{session}/diff", responses=reads(shapes.Diff, 409), response_class=Masked
)
async def read_diff(
    daemon: Daemon,
    session: SessionId,
    base: Annotated[
        str,
        Query(max_length=200, description="A commit, branch or tag; empty: the last commit."),
    ] = "",
) -> Response:
    """What changed in the session's directory, new files included, compared with a commit."""

    def read() -> Json:
        try:
            found = diff(_cwd(daemon, session), base)
        except NoDiff as error:
            remedy = "Name another base." if "base" in error.name else ""
            raise Problem(409, error.name, str(error), remedy) from error
        return {**found._asdict(), "files": [each._asdict() for each in found.files]}

    return Masked(await asyncio.to_thread(read))
