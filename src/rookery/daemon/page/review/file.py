"""The screen for a file in a session's directories, also as a panel beside the transcript."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from rookery.core.json.secrets import masked
from rookery.core.refusals import Refused
from rookery.daemon.errors import problem_of
from rookery.daemon.page import shell
from rookery.daemon.pieces.review import file as pieces
from rookery.daemon.state import Daemon, SessionId, State
from rookery.operations.catalogue.row import At
from rookery.operations.work_tree import directories_of, directory_of, finder

router = APIRouter(include_in_schema=False)

OFFERED = 100
"""Files that are listed where none is named."""
Number = Annotated[int, Query(ge=0, le=10**9)]


@router.get("/sessions/{session}/file")
async def file_screen(
    daemon: Daemon,
    session: SessionId,
    path: Annotated[str, Query(max_length=4096)] = "",
    line: Number = 0,
    first: Number = 0,
    last: Number = 0,
    form: Literal["", "piece", "side", "rows"] = "",
) -> HTMLResponse:
    """Without a path, files to choose from. `form`: as a piece of this screen or of what stands
    beside the transcript, or nothing but the lines; else with the page around it."""
    shown = pieces.Shown(session, masked(path), line, side=form == "side")
    rows = form == "rows"
    html = await asyncio.to_thread(_piece, daemon, shown, path, (line, first, last), rows)
    if form:
        return HTMLResponse(html)
    return shell.page(
        daemon,
        title=f"{masked(path)} · Files" if path else "Files",
        main=f'<h1 class="unseen">Files</h1><div class="review">{html}</div>',
        session=session,
        screen="file",
        modules=("viewer.js",),
        styles=("composer.css", "changes.css", "viewer.css"),
    )


def _piece(
    daemon: State, shown: pieces.Shown, path: str, where: tuple[int, int, int], rows: bool
) -> str:
    at = At(daemon.home, shown.session)
    try:
        if not path:
            matches = finder().find(directory_of(at), "", OFFERED)
            there = sorted(directories_of(at).known(matches))
            return pieces.choice(there, shown, more=len(matches) == OFFERED)
        part = directories_of(at).read(path, *where)
    except Refused as error:
        if rows:
            raise
        problem = problem_of(error)
        return pieces.refused(problem.message, problem.remedy, shown)
    return pieces.lines(part, shown) if rows else pieces.rendered(part, shown)
