"""Search over everything ever said, as a screen and as the piece with what was found."""

import asyncio
import re
import time
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from rookery.daemon.api.everything import find
from rookery.daemon.page import shell
from rookery.daemon.pieces.review import hits
from rookery.daemon.state import Daemon, State
from rookery.search.query import Filters

router = APIRouter(include_in_schema=False)

DIRECTORIES = 50
"""That are offered."""


@router.get("/search")
async def search_screen(
    daemon: Daemon,
    q: Annotated[str, Query(max_length=1000)] = "",
    agent: Annotated[str, Query(max_length=200)] = "",
    within: Annotated[str, Query(alias="in", max_length=4096)] = "",
    since: Literal["", "day", "week", "month"] = "",
    role: Literal["", "prompt", "answer", "thought", "tool", "other"] = "",
    piece: bool = False,
) -> HTMLResponse:
    wanted = hits.Wanted(q, agent, within, since, role)
    found = await asyncio.to_thread(_results, daemon, wanted)
    if piece:
        return HTMLResponse(found)
    heads = [head for head in daemon.fleet.heads if not head.get("damaged")]
    agents = sorted({str(head["agent"]) for head in heads})
    directories = list(dict.fromkeys(str(head["cwd"]) for head in heads))[:DIRECTORIES]
    return shell.page(
        daemon,
        title=f"{q[:80]} · Search" if q else "Search",
        main=hits.screen(wanted, found, agents, directories),
        here="search",
        modules=("search.js",),
        styles=("changes.css",),
    )


def _results(daemon: State, wanted: hits.Wanted) -> str:
    if not wanted.q.strip():
        return hits.results(wanted, [], more=False, whole=True, problem="")
    age = hits.SECONDS.get(wanted.since)
    since = int((time.time() - age) * 1000) if age else 0
    filters = Filters(wanted.agent, wanted.within, since, wanted.role)
    answer, whole = find(daemon.home, unfinished(wanted.q), filters, hits.MORE)
    return hits.results(wanted, answer.hits, more=answer.more, whole=whole, problem=answer.problem)


_LAST = re.compile(r"(?:^|\s)\w{3,}\Z")


def unfinished(words: str) -> str:
    """The last word may be the beginning of one: it is searched while it is typed."""
    return f"{words}*" if '"' not in words and _LAST.search(words) else words
