"""What changed in a session's directory, as a screen and as a piece beside the transcript."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from rookery.agents.registry import AGENTS
from rookery.client import fleet
from rookery.client.reading import excerpt
from rookery.client.work_tree import git
from rookery.client.work_tree.changes import Changes, NoDiff, changes, commit_at, commit_of
from rookery.client.work_tree.commit import hooks
from rookery.core.json import Json, lenient
from rookery.core.json.secrets import masked, masked_json
from rookery.daemon.api.work_tree import directory_of, problem_of
from rookery.daemon.errors import Problem
from rookery.daemon.page import shell
from rookery.daemon.pieces.review import changes as pieces
from rookery.daemon.state import Daemon, SessionId, State
from rookery.export.html.text import esc_line
from rookery.home import paths
from rookery.log.reader import Reader

router = APIRouter(include_in_schema=False)

TURNS, EDITS = 50, 100
"""Where git does not tell what changed: turns that are read for edits, and edits that are shown."""
WORKING = ("running", "quiet")


@router.get("/sessions/{session}/changes")
async def changes_screen(
    daemon: Daemon,
    session: SessionId,
    base: Annotated[str, Query(max_length=200)] = "",
    view: Literal["unified", "split"] = "unified",
    file: Annotated[str, Query(max_length=4096)] = "",
    piece: bool = False,
    side: bool = False,
    known: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """`piece`: without the page around it; `known`: nothing if it is still the same. `file`: that
    one alone."""
    head = await asyncio.to_thread(fleet.head_of_session, daemon.home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    shown = _shown(daemon, head)._replace(view=view, at=base, side=side)
    found = await asyncio.to_thread(_piece, daemon, shown, file)
    if known and f'data-known="{known}"' in found[:1000]:
        return Response(status_code=204)
    if piece:
        return HTMLResponse(found)
    title = masked(str(head["title"] or "Session"))
    return shell.page(
        daemon,
        title=f"Changes · {title}",
        main=f'<h1 class="unseen">Changes: {esc_line(title)}</h1><div class="review">{found}</div>',
        session=session,
        screen="changes",
        modules=("changes.js",),
        styles=("changes.css",),
    )


def _shown(daemon: State, head: Json) -> pieces.Shown:
    agent = AGENTS.get(str(head["agent"]))
    name = agent.title if agent else str(head["agent"])
    working = name if head["state"] in WORKING else ""
    return pieces.Shown(str(head["id"]), working=working, read_only=daemon.read_only)


def _piece(daemon: State, shown: pieces.Shown, file: str) -> str:
    try:
        cwd = directory_of(daemon, shown.session)
        found = changes(cwd, shown.at)
        shown = _with_places(daemon, shown, cwd, found)
    except NoDiff as error:
        problem = problem_of(error)
        edits = _edits(daemon, shown.session) if error.name == "no_git" else []
        return pieces.refused(problem.message, problem.remedy, shown, edits)
    except Problem as problem:
        if problem.error != "no_directory":
            raise
        return pieces.refused(problem.message, problem.remedy, shown)
    if not file:
        return pieces.rendered(found, shown)
    one = found.file(file)
    if one is None:
        return pieces.rendered(found._replace(files=[]), shown)
    return pieces.section(one, shown, full=True)


def _edits(daemon: State, session: str) -> list[Json]:
    """What agents said that they changed, the newest first: all that there is without git."""
    found: list[Json] = []
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        upto, read = log.last_seq(), 0
        while upto > 0 and read < TURNS and len(found) < EDITS:
            piece = excerpt(log, upto)
            for block in reversed(piece.document.blocks.values()):
                if block["role"] == "tool" and block["status"] == "done":
                    diffs = [part for part in block["parts"] if part["type"] == "diff"]
                    found += masked_json(diffs)
            upto, read = piece.first - 1, read + 1
    return found[:EDITS]


def _with_places(daemon: State, shown: pieces.Shown, cwd: str, found: Changes) -> pieces.Shown:
    head = fleet.head_of_session(daemon.home, shown.session) or {}
    began = lenient.text(head.get("worktree"), "base")
    began = began or commit_at(cwd, int(head.get("created", 0)) // 1000)
    last = commit_of(cwd, "")
    named = git.run(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    branch = named.data.decode("utf-8", "replace").strip() if named else ""
    ran = tuple(hooks(cwd)) if found.files and not shown.read_only else ()
    return shown._replace(began=began if began != last else "", branch=branch, hooks=ran)
