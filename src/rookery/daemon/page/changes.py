"""The changes in a session's directory, as a screen and as a panel beside the transcript."""

import asyncio
from contextlib import suppress
from typing import Annotated, Literal, NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import HTMLResponse

from rookery.agents.registry import AGENTS
from rookery.client import fleet
from rookery.client.reading import excerpt
from rookery.client.rewind.turns import turns
from rookery.client.work_tree import git
from rookery.client.work_tree.changes import Changes, File, NoDiff, changes, commit_at, commit_of
from rookery.client.work_tree.commit import hooks
from rookery.client.work_tree.context import Gap, lines_of, on_disk
from rookery.client.work_tree.context import whole as whole_file
from rookery.core.json import Json, lenient
from rookery.core.json.secrets import masked, masked_json
from rookery.core.refusals import Refused
from rookery.daemon.errors import problem_of
from rookery.daemon.page import shell
from rookery.daemon.pieces.review import changes as pieces
from rookery.daemon.pieces.review.changed_file import (
    Scope,
    Shown,
    lines_between,
    readable,
    section,
)
from rookery.daemon.state import Daemon, SessionId, State
from rookery.export.html.text import esc_line
from rookery.home import paths
from rookery.log.reader import Reader
from rookery.operations.catalogue.row import At
from rookery.operations.merging.changed import Changed, changed_alone, content
from rookery.operations.work_tree import directory_of

router = APIRouter(include_in_schema=False)

RECENT = 30
"""Turns that can be chosen."""
TURNS, EDITS = 50, 100
"""Where git does not tell what changed: turns that are read for edits, and edits that are shown."""
WORKING = ("running", "quiet")


Number = Annotated[int, Query(ge=0, le=10**9)]
Path = Annotated[str, Query(max_length=4096)]


class Compared:
    """The query parameters that say what is compared, and how it is shown."""

    def __init__(
        self,
        base: Annotated[str, Query(max_length=200)] = "",
        of: Literal["", "session"] = "",
        turn: Number = 0,
        view: Literal["unified", "split"] = "unified",
    ) -> None:
        """Read the parameters; `turn` and `of` select what a turn, or the session alone,
        changed."""
        past = f"turn={turn}" if turn else "of=session" if of else ""
        self.fields: Json = {"view": view, "at": base, "past": bool(past)}
        self.fields["scope"] = past or (base and f"base={quote(base)}")


Scoped = Annotated[Compared, Depends()]


class Asked(NamedTuple):
    """Which file is asked for, and whether with all its lines; "" means all files."""

    file: str = ""
    whole: bool = False


@router.get("/sessions/{session}/changes")
async def changes_screen(
    daemon: Daemon,
    session: SessionId,
    compared: Scoped,
    file: Path = "",
    whole: bool = False,
    piece: bool = False,
    side: bool = False,
    known: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """`piece`: without the page around it; `known`: nothing if it is still the same. `file`: that
    one alone."""
    head = await asyncio.to_thread(fleet.head_of_session, daemon.home, session)
    if head is None:
        raise fleet.UnknownSession(session)
    shown = _shown(daemon, head)._replace(side=side, **compared.fields)
    html = await asyncio.to_thread(_piece, daemon, head, shown, Asked(file, whole))
    if known and f'data-known="{known}"' in html[:1000]:
        return Response(status_code=204)
    if piece:
        return HTMLResponse(html)
    title = masked(str(head["title"] or "Session"))
    return shell.page(
        daemon,
        title=f"Changes · {title}",
        main=f'<h1 class="unseen">Changes: {esc_line(title)}</h1><div class="review">{html}</div>',
        session=session,
        screen="changes",
        modules=("changes.js",),
        styles=("changes.css",),
    )


class Lines:
    """The query parameters that select lines of a changed file."""

    def __init__(
        self,
        file: Path,
        digest: Annotated[str, Query(max_length=64)],
        first: Number,
        last: Number,
        shift: Annotated[int, Query(ge=-(10**9), le=10**9)] = 0,
    ) -> None:
        """Read the parameters; `digest` is of the file as it was shown."""
        self.file, self.digest = file, digest
        self.gap = Gap(max(1, first), last or 10**9, shift)


@router.get("/sessions/{session}/changes/lines")
async def unchanged_lines(
    daemon: Daemon, session: SessionId, compared: Scoped, wanted: Annotated[Lines, Depends()]
) -> HTMLResponse:
    """Rows of a changed file that no hunk shows."""
    shown = Shown(session, **compared.fields)
    return HTMLResponse(await asyncio.to_thread(_between, daemon, shown, wanted))


def _between(daemon: State, shown: Shown, wanted: Lines) -> str:
    file = _compared(daemon, shown).changes.file(wanted.file)
    if file is None or file.digest != wanted.digest:
        raise NoDiff("changed_since", f"{wanted.file} changed since it was shown.")
    return lines_between(wanted.file, _lines(daemon, shown, file), wanted.gap, shown)


def _shown(daemon: State, head: Json) -> Shown:
    agent = AGENTS.get(str(head["agent"]))
    name = agent.title if agent else str(head["agent"])
    working = name if head["state"] in WORKING else ""
    return Shown(str(head["id"]), working=working, read_only=daemon.read_only)


def _piece(daemon: State, head: Json, shown: Shown, asked: Asked) -> str:
    shown = _with_scopes(daemon, head, shown)
    try:
        diff, _, note = _compared(daemon, shown)
        shown = shown._replace(note=note)
        if not shown.past:
            shown = _with_places(daemon, shown, diff)
        if asked.file and (one := diff.file(asked.file)) is not None:
            if asked.whole:
                lines = [line.encode() for line in _lines(daemon, shown, one)]
                one = whole_file(one, lines)
            return section(one, shown, full=True, whole=asked.whole)
    except Refused as error:
        known = error.reason == "no_directory" or (isinstance(error, NoDiff) and not asked.whole)
        if not known:
            raise
        problem = problem_of(error)
        edits = _edits(daemon, shown.session) if error.reason == "no_git" else []
        return pieces.refused(problem.message, problem.remedy, shown, edits)
    return pieces.rendered(diff._replace(files=[]) if asked.file else diff, shown)


def _compared(daemon: State, shown: Shown) -> Changed:
    """Return what changed in the selected range. Raises NoDiff, Problem."""
    if not shown.past:
        return Changed(changes(directory_of(At(daemon.home, shown.session)), shown.at), "directory")
    number = shown.scope.removeprefix("turn=")
    return changed_alone(daemon.home, shown.session, int(number) if number.isdigit() else None)


def _lines(daemon: State, shown: Shown, file: File) -> list[str]:
    """Return all lines of a file, safe to show. Raises NoDiff, Problem."""
    if shown.past:
        data = content(daemon.home, shown.session, file.blob)
    else:
        data = on_disk(directory_of(At(daemon.home, shown.session)), file)
    return readable(file.change, lines_of(data))


def _edits(daemon: State, session: str) -> list[Json]:
    """Return the edits that agents reported, newest first: without git, there is nothing else."""
    edits: list[Json] = []
    with Reader.open(paths.session_dir(daemon.home, session)) as log:
        upto, read = log.last_seq(), 0
        while upto > 0 and read < TURNS and len(edits) < EDITS:
            piece = excerpt(log, upto)
            for block in reversed(piece.document.blocks.values()):
                if block["role"] == "tool" and block["status"] == "done":
                    diffs = [part for part in block["parts"] if part["type"] == "diff"]
                    edits += masked_json(diffs)
            upto, read = piece.first - 1, read + 1
    return edits[:EDITS]


def _with_scopes(daemon: State, head: Json, shown: Shown) -> Shown:
    """Add the scopes that can be compared."""
    cwd = str(head["cwd"])
    began = lenient.text(head.get("worktree"), "base")
    with suppress(NoDiff):
        began = began or commit_at(cwd, int(head.get("created", 0)) // 1000)
        began = began if began != commit_of(cwd, "") else ""
    scopes = [Scope("", "Since the last commit")]
    if began:
        scopes.append(Scope(f"base={began}", "Since the session began"))
    if shown.at and shown.at != began:
        scopes.append(Scope(shown.scope, f"Since {shown.at}"))
    recent = _turns(daemon, shown)
    if recent and not head.get("worktree"):
        scopes.append(Scope("of=session", "By this session alone"))
    return shown._replace(scopes=scopes, turns=recent)


def _turns(daemon: State, shown: Shown) -> list[Scope]:
    """Return the scopes of the newest turns first, including the one that is shown."""
    rows = turns(daemon.home, shown.session, RECENT)
    scopes = [
        Scope(f"turn={each['turn']}", f"Turn {each['turn']}: {masked(each['prompt'])[:60]}")
        for each in reversed(rows)
        if each["turn"] and not each["hidden"]
    ]
    if shown.scope.startswith("turn=") and not any(each.query == shown.scope for each in scopes):
        scopes.append(Scope(shown.scope, f"Turn {shown.scope.removeprefix('turn=')}"))
    return scopes


def _with_places(daemon: State, shown: Shown, diff: Changes) -> Shown:
    cwd = directory_of(At(daemon.home, shown.session))
    named = git.run(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    branch = named.data.decode("utf-8", "replace").strip() if named else ""
    ran = tuple(hooks(cwd)) if diff.files and not shown.read_only else ()
    return shown._replace(branch=branch, hooks=ran)
