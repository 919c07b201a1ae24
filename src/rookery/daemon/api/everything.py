"""Over all sessions: what was ever said, and what was used."""

import asyncio
import os
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from rookery import usage
from rookery.core.json import Json
from rookery.core.turn import quota
from rookery.core.vendors.detection import OWN
from rookery.daemon.api import shapes
from rookery.daemon.api.answers import Masked, reads
from rookery.daemon.state import Daemon
from rookery.search.query import LIMIT, MOST_HITS, Answer, Filters, query
from rookery.search.update import update

router = APIRouter(tags=["all sessions"])

WAIT, PATIENCE = 1.0, 2.0
"""Seconds for another process that updates the index, and for the update: `whole` says whether
there is more to do."""

Agent = Annotated[str, Query(max_length=200, description="Sessions of this agent.")]
Directory = Annotated[
    str, Query(alias="in", max_length=4096, description="Sessions that work there, or below.")
]
Since = Annotated[int, Query(ge=0, le=2**53, description="Not older, in milliseconds since 1970.")]
Role = Literal["", "prompt", "answer", "thought", "tool", "other"]


@router.get("/api/search", responses=reads(shapes.Hits), response_class=Masked)
async def search_all(
    daemon: Daemon,
    words: Annotated[
        str,
        Query(
            alias="q",
            min_length=1,
            max_length=1000,
            description='All of them; `"in quotes"` those that belong together; `begin*`.',
        ),
    ],
    agent: Agent = "",
    within: Directory = "",
    since: Since = 0,
    role: Role = "",
    session: Annotated[str, Query(max_length=64)] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_HITS)] = LIMIT,
) -> Response:
    """Search prompts, answers, thoughts, commands, their output and paths; newest first."""

    filters = Filters(agent, within, since, role, session)
    answer, whole = await asyncio.to_thread(find, daemon.home, words, filters, limit)
    hits = [hit.to_json() for hit in answer.hits]
    return Masked({"hits": hits, "more": answer.more, "whole": whole, "problem": answer.problem})


def find(home: str, words: str, filters: Filters, limit: int) -> tuple[Answer, bool]:
    """The hits, and whether everything is indexed."""
    progress = update(home, wait=WAIT, seconds=PATIENCE)
    if filters.directory:
        place = os.path.abspath(os.path.expanduser(filters.directory))
        filters = filters._replace(directory=place)
    answer = query(home, words, filters, limit)
    return answer._replace(problem=answer.problem or progress.problem), progress.done


@router.get("/api/usage", responses=reads(shapes.Usages), response_class=Masked)
async def read_usage(
    daemon: Daemon,
    by: Literal["day", "agent", "model", "session"] = "day",
    agent: Agent = "",
    within: Directory = "",
    since: Since = 0,
    session: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Tokens, cost and turns, as the agents report them."""

    def read() -> Json:
        rows = usage.collect(daemon.home, usage.Filters(since, agent, within, session))
        groups = [group.to_json() for group in usage.grouped(rows, by)]
        return {"by": by, "groups": groups, "total": usage.total(rows).to_json()}

    return Masked(await asyncio.to_thread(read))


@router.get("/api/limits", responses=reads(shapes.Limits))
async def read_limits(daemon: Daemon) -> shapes.Limits:
    """The quotas that agents report: the newest report on each window, by agent."""
    found = [report.as_json() for report in quota.newest(daemon.fleet.heads, OWN)]
    return shapes.Limits(limits=[shapes.Limit(**each) for each in found])
