"""Changes in a session's directory, undone or committed. The directory is the one that the session
was created with; a path of a request only names one of its changes."""

import asyncio
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from rookery.client.work_tree import commit, undo
from rookery.core.json.secrets import masked
from rookery.daemon.api.answers import WRITES
from rookery.daemon.api.bodies import Strict
from rookery.daemon.state import Daemon, SessionId
from rookery.home import paths
from rookery.operations.catalogue.row import At
from rookery.operations.work_tree import directory_of

router = APIRouter(tags=["work tree"])

Base = Annotated[str, Field(max_length=200, description="The commit that it was compared with.")]
Path = Annotated[str, Field(min_length=1, max_length=4096, description="From the change.")]
Digest = Annotated[str, Field(max_length=64, description="From the change.")]


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


@router.post("/api/sessions/{session}/changes/undo", responses=WRITES)
async def undo_change(daemon: Daemon, session: SessionId, given: Undo) -> Undone:
    """Undo a hunk or a file. It is refused if the file is not what it was when it was shown."""

    def work() -> undo.Undone:
        cwd, kept = directory_of(At(daemon.home, session)), paths.session_dir(daemon.home, session)
        return undo.undo(cwd, kept, given.base, given.path, given.digest, given.hunk)

    found = await asyncio.to_thread(work)
    return Undone(id=found.id, paths=found.paths)


@router.post("/api/sessions/{session}/changes/put-back", responses=WRITES)
async def put_back_change(daemon: Daemon, session: SessionId, given: PutBack) -> Undone:
    """Take an undo back, unless the file changed since."""

    def work() -> undo.Undone:
        cwd, kept = directory_of(At(daemon.home, session)), paths.session_dir(daemon.home, session)
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
        cwd = directory_of(At(daemon.home, session))
        return commit.commit(cwd, given.message, shown, kept, given.hooks)

    found = await asyncio.to_thread(work)
    return Committed(id=found.id, summary=masked(found.summary), said=masked(found.said))
