"""A session's directory: its files by name, what changed in it, and changes undone or committed.
The directory is the one that the session was created with; a path of a request only names one of
its changes."""

import asyncio
import os
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from rookery.client import fleet
from rookery.client.work_tree import commit, undo
from rookery.client.work_tree.changes import Change, Hunk, changes
from rookery.client.work_tree.diff import as_patch, diff
from rookery.client.work_tree.files import Finder
from rookery.client.work_tree.viewer import Directories, Part, directories_of
from rookery.core.json import Json
from rookery.core.json.secret_files import hides_values, line_without_value, patch_without_values
from rookery.core.json.secrets import masked
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import WRITES, Masked, reads
from rookery.daemon.api.bodies import Strict
from rookery.daemon.errors import Problem
from rookery.daemon.state import Daemon, SessionId, State
from rookery.home import paths
from rookery.operations.merging import session as branch
from rookery.operations.merging.changed import changed, changed_alone

router = APIRouter(tags=["work tree"])

finder = Finder()

InQuery = Annotated[
    str,
    Query(
        max_length=200,
        description="A commit, branch or tag; empty: the last commit, or what a worktree was made "
        "from.",
    ),
]
Base = Annotated[str, Field(max_length=200, description="The commit that it was compared with.")]
Path = Annotated[str, Field(min_length=1, max_length=4096, description="From the change.")]
FilePath = Annotated[
    str,
    Query(
        min_length=1,
        max_length=4096,
        description="From the session's directory, or absolute in one of its directories.",
    ),
]
Digest = Annotated[str, Field(max_length=64, description="From the change.")]


def directory_of(daemon: State, session: str) -> str:
    """Raises Problem: it is gone."""
    head = fleet.head_of_session(daemon.home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    cwd = str(head["cwd"])
    if not os.path.isdir(cwd):
        raise Problem(409, "no_directory", f"{cwd} no longer exists.", "Create it, or use another.")
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
        return {"files": finder.find(directory_of(daemon, session), query, limit)}

    return Masked(await asyncio.to_thread(find))


KNOWN = 100
"""Paths that are looked up at once."""


class FilePart(BaseModel):
    path: str = Field(description="From the session's directory; elsewhere absolute.")
    size: int = Field(description="Bytes of the whole file.")
    lines: int = Field(description="Of the whole file.")
    first: int = Field(description="The number of the first line in `rows`.")
    rows: list[str] = Field(description="The lines, at most 400; secrets in them are masked.")
    binary: bool = Field(description="It is not text: there are no lines.")
    masked: bool = Field(description="All values in it are hidden: it is a file such as .env.")


class KnownFiles(BaseModel):
    files: list[str] = Field(description="Those of the paths that can be read.")


def reader_of(daemon: State, session: str) -> Directories:
    """Raises Problem: the session's directory is gone."""
    directory_of(daemon, session)
    return directories_of(fleet.head_of_session(daemon.home, session) or {}, daemon.home)


def read_part(daemon: State, session: str, path: str, where: tuple[int, int, int]) -> Part:
    """`where`: the line, or the first and the last. Raises Problem."""
    return reader_of(daemon, session).read(path, *where)


@router.get("/api/sessions/{session}/file", responses=reads(FilePart, 409), response_class=Masked)
async def read_file(
    daemon: Daemon,
    session: SessionId,
    path: FilePath,
    line: Annotated[
        int, Query(ge=0, le=10**9, description="The part around this line; 0: the beginning.")
    ] = 0,
    first: Annotated[int, Query(ge=0, le=10**9, description="Instead: from this line on.")] = 0,
    last: Annotated[int, Query(ge=0, le=10**9, description="Up to this line; 0: 400 lines.")] = 0,
) -> Response:
    """Read a file of the session's directories, a part at a time.

    Nothing outside them is read, whatever links in them lead to, and no file that holds keys.
    """
    found = await asyncio.to_thread(read_part, daemon, session, path, (line, first, last))
    return Masked(found._asdict())


@router.get(
    "/api/sessions/{session}/files/known", responses=reads(KnownFiles, 409), response_class=Masked
)
async def known_files(
    daemon: Daemon,
    session: SessionId,
    paths: Annotated[str, Query(max_length=8_000, description="As for `file`, one in each line.")],
) -> Response:
    """Which of these paths name files that can be read."""

    def look() -> Json:
        return {"files": reader_of(daemon, session).known(paths.split("\n")[:KNOWN])}

    return Masked(await asyncio.to_thread(look))


@router.get(
    "/api/sessions/{session}/diff", responses=reads(shapes.Diff, 409), response_class=Masked
)
async def read_diff(
    daemon: Daemon,
    session: SessionId,
    base: InQuery = "",
    of: Annotated[Literal["", "session", "directory"], Query()] = "",
    turn: Annotated[int, Query(ge=0, le=10**9, description="Only what this turn changed.")] = 0,
) -> Response:
    """What changed in the session's directory, new files included, compared with a commit; with
    `of=session`, what its own turns changed, as far as snapshots tell, and with `turn` one of
    them."""

    def read() -> Json:
        head = fleet.head_of_session(daemon.home, session)
        told = {"of": "directory", "note": ""}
        if (of == "session" or turn) and head:
            changes, whose, note = (
                changed_alone(daemon.home, session, turn) if turn else changed(daemon.home, head)
            )
            found, told = as_patch(changes), {"of": whose, "note": note}
        elif base or of or not head or not head.get("worktree"):
            found = diff(directory_of(daemon, session), base)
        else:
            found, told["of"] = as_patch(branch.changes_of(head)), "worktree"
        files = [each._asdict() for each in found.files]
        patch = patch_without_values(found.patch)
        return {**found._asdict(), "patch": patch, "files": files, **told}

    return Masked(await asyncio.to_thread(read))


class Undo(Strict):
    base: Base = ""
    path: Path
    digest: Digest
    hunk: Annotated[str, Field(max_length=64)] = Field(
        "", description="One of the file's hunks; empty: the whole file."
    )


class Undone(BaseModel):
    id: str = Field(description="To put it back.")
    paths: list[str] = Field(description="The files that were changed.")


class PutBack(Strict):
    id: str = Field(max_length=64, description="The answer to the undo request.")


class ShownFile(Strict):
    path: Path
    digest: Digest


class NewCommit(Strict):
    message: str = Field(max_length=20_000, examples=["Fix the login test"])
    files: list[ShownFile] = Field(
        max_length=5_000, description="The files to commit, as they were shown."
    )
    hooks: str = Field(
        "", max_length=64, description="From the error new_hooks: the user agrees to run them."
    )


class Committed(BaseModel):
    id: str = Field(description="The commit.")
    summary: str
    said: str = Field(description="What commit hooks printed.")


@router.get(
    "/api/sessions/{session}/changes", responses=reads(shapes.Changes, 409), response_class=Masked
)
async def read_changes(daemon: Daemon, session: SessionId, base: InQuery = "") -> Response:
    """What changed in the session's directory, by file and by hunk, with what it takes to undo or
    commit it."""

    def read() -> Json:
        found = changes(directory_of(daemon, session), base)
        files = [
            {
                **file.change._asdict(),
                "note": file.note,
                "digest": file.digest,
                "hunks": [_hunk(file.change, hunk) for hunk in file.hunks],
            }
            for file in found.files
        ]
        return {"base": found.base, "files": files, "cut": found.cut}

    return Masked(await asyncio.to_thread(read))


def _hunk(change: Change, hunk: Hunk) -> Json:
    lines = [each.decode(errors="replace") for each in hunk.lines]
    if hides_values(change.path) or hides_values(change.before):
        lines = list(map(line_without_value, lines))
        hunk = hunk._replace(head="")
    return {**hunk._asdict(), "lines": lines}


@router.post("/api/sessions/{session}/changes/undo", responses=WRITES)
async def undo_change(daemon: Daemon, session: SessionId, given: Undo) -> Undone:
    """Undo a hunk or a file. It is refused if the file is not what it was when it was shown."""

    def work() -> undo.Undone:
        cwd, kept = directory_of(daemon, session), paths.session_dir(daemon.home, session)
        return undo.undo(cwd, kept, given.base, given.path, given.digest, given.hunk)

    found = await asyncio.to_thread(work)
    return Undone(id=found.id, paths=found.paths)


@router.post("/api/sessions/{session}/changes/put-back", responses=WRITES)
async def put_back_change(daemon: Daemon, session: SessionId, given: PutBack) -> Undone:
    """Take an undo back, unless the file changed since."""

    def work() -> undo.Undone:
        cwd, kept = directory_of(daemon, session), paths.session_dir(daemon.home, session)
        return undo.put_back(cwd, kept, given.id)

    found = await asyncio.to_thread(work)
    return Undone(id=found.id, paths=found.paths)


@router.post("/api/sessions/{session}/changes/commit", responses=WRITES)
async def commit_changes(daemon: Daemon, session: SessionId, given: NewCommit) -> Committed:
    """Commit these files, as git commit in a terminal would: commit hooks run. Where some are
    new, or changed since the session began, the answer is the error new_hooks, which shows them."""
    shown = [commit.Shown(file.path, file.digest) for file in given.files]

    def work() -> commit.Commit:
        kept = paths.session_dir(daemon.home, session)
        return commit.commit(directory_of(daemon, session), given.message, shown, kept, given.hooks)

    found = await asyncio.to_thread(work)
    return Committed(id=found.id, summary=masked(found.summary), said=masked(found.said))
