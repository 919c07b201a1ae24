"""The home screen: the list of all sessions. `/pieces/fleet` is the list alone, for a page that is
already open."""

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from rookery.daemon.page import shell
from rookery.daemon.pieces import fleet_list
from rookery.daemon.pieces.fleet_list import ListQuery
from rookery.daemon.state import Daemon

router = APIRouter(include_in_schema=False)

Show = Annotated[str, Query(max_length=20, pattern="^[a-z]*$")]
Words = Annotated[str, Query(max_length=200)]
Group = Literal["", "directory"]
Page = Annotated[int, Query(ge=0, le=10_000)]


@router.get("/")
async def fleet(
    daemon: Daemon, show: Show = "", words: Words = "", group: Group = "", page: Page = 0
) -> HTMLResponse:
    query, place = ListQuery(show, words, group == "directory", page), shell.place(daemon)
    listed = fleet_list.screen(daemon.fleet.heads, _now(), query)
    main = f'<h1 class="unseen">Sessions</h1><div id="list"{place}>{listed}</div>'
    modules, styles = ("home.js",), ("home.css",)
    return shell.page(daemon, title="", main=main, here="fleet", modules=modules, styles=styles)


@router.get("/pieces/fleet")
async def piece(
    daemon: Daemon,
    form: Literal["column", "screen"] = "column",
    session: Annotated[str, Query(max_length=200)] = "",
    show: Show = "",
    words: Words = "",
    group: Group = "",
    page: Page = 0,
) -> HTMLResponse:
    if form == "column":
        listed = fleet_list.column(daemon.fleet.heads, _now(), session=session, query=words)
    else:
        query = ListQuery(show, words, group == "directory", page)
        listed = fleet_list.screen(daemon.fleet.heads, _now(), query)
    return HTMLResponse(listed)


def _now() -> float:
    return time.time() * 1000
