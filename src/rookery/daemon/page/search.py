"""Full-text search over all sessions, as a screen and as the piece with its results; and the lookup
of sessions and settings by name for Ctrl+K."""

import asyncio
import re
import time
from collections.abc import Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, JSONResponse, Response

from rookery.core.json import Json
from rookery.core.json.safe_text import clean_line
from rookery.core.json.secrets import masked
from rookery.core.view.fleet import NO_TITLE
from rookery.core.view.fuzzy import score
from rookery.daemon.access.roles import ALL
from rookery.daemon.page import shell
from rookery.daemon.page.settings import sections
from rookery.daemon.pieces.fleet_list import shown_agent
from rookery.daemon.pieces.review import hits
from rookery.daemon.state import Daemon, State
from rookery.forms import catalog
from rookery.forms.sections import FORMS
from rookery.home.paths import with_tilde
from rookery.search.query import Filters
from rookery.search.up_to_date import update_and_query as look_up

router = APIRouter(include_in_schema=False)

DIRECTORIES = 50
"""That are offered."""
INDEX_TIMEOUT = 2.0
"""How many seconds the index may take to catch up."""
CLOSEST = 20
"""Sessions, and settings, that are found by name."""


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
    query = hits.SearchQuery(q, agent, within, since, role)
    html = await asyncio.to_thread(_results, daemon, query)
    if piece:
        return HTMLResponse(html)
    heads = [head for head in daemon.fleet.heads if not head.get("damaged")]
    agents = sorted({str(head["agent"]) for head in heads})
    directories = list(dict.fromkeys(str(head["cwd"]) for head in heads))[:DIRECTORIES]
    return shell.page(
        daemon,
        title=f"{q[:80]} · Search" if q else "Search",
        main=hits.screen(query, html, agents, directories),
        here="search",
        modules=("search.js",),
        styles=("changes.css",),
    )


def _results(daemon: State, wanted: hits.SearchQuery) -> str:
    if not wanted.q.strip():
        return hits.results(wanted, [], more=False, whole=True, problem="")
    age = hits.SECONDS.get(wanted.since)
    since = int((time.time() - age) * 1000) if age else 0
    filters = Filters(wanted.agent, wanted.within, since, wanted.role)
    answer, progress = look_up(daemon.home, unfinished(wanted.q), filters, hits.MORE, INDEX_TIMEOUT)
    whole, problem = progress.done, answer.problem
    return hits.results(wanted, answer.hits, more=answer.more, whole=whole, problem=problem)


_LAST = re.compile(r"(?:^|\s)\w{3,}\Z")


def unfinished(query: str) -> str:
    """Mark the last word as a prefix if it may be unfinished, for searching while it is typed."""
    return f"{query}*" if '"' not in query and _LAST.search(query) else query


# --- by name --------------------------------------------------------------------------------------


@router.get("/pieces/palette")
async def matches(daemon: Daemon, words: Annotated[str, Query(max_length=200)] = "") -> Response:
    """The closest sessions and settings; without words, the newest sessions and all sections."""
    settings = await asyncio.to_thread(_settings, daemon)
    text = words.strip().lower()
    if not text:
        settings = [each for each in settings if "#" not in each["href"]]
    entries = [*_closest(text, _sessions(daemon)), *_closest(text, settings)]
    return JSONResponse(entries)


def _closest(query: str, rows: Iterable[Json]) -> list[Json]:
    listed = list(rows)
    if not query:
        return listed[:CLOSEST]
    ranks = [
        (value, at) for at, row in enumerate(listed) if (value := _rank(query, row)) is not None
    ]
    return [listed[at] for _, at in sorted(ranks)[:CLOSEST]]


def _rank(query: str, row: Json) -> int | None:
    """Return a rank if all letters occur in order in the row's name, or every word somewhere in the
    row; else None."""
    if (value := score(query, row["label"].lower())) is not None:
        return value
    text = f"{row['label']} {row['more']} {row['kind']}".lower()
    return 1000 if all(word in text for word in query.split()) else None


def _sessions(daemon: State) -> Iterable[Json]:
    for head in daemon.fleet.heads:
        place = with_tilde(clean_line(str(head["cwd"])))
        yield {
            "label": clean_line(masked(head["title"] or NO_TITLE))[:200],
            "more": f"{shown_agent(head)} · {place}"[:200],
            "kind": "Archived session" if head["archived"] else "Session",
            "href": f"/sessions/{head['id']}",
        }


def _settings(daemon: State) -> list[Json]:
    entries: list[Json] = []
    for section, title in sections(daemon):
        address = f"/settings/{section}" if section else "/settings"
        name = title if section else "Settings"
        entries.append({"label": name, "more": "", "kind": "Settings", "href": address})
        if not section:
            more = "light, dark or as the system; the theme of this device"
            colours = {"label": "Colours", "more": more, "kind": name, "href": f"{address}#look"}
            entries.append(colours)
    if daemon.role == ALL:
        entries += [
            {
                "label": each.title,
                "more": each.about.partition(". ")[0].rstrip("."),
                "kind": FORMS[each.section].title,
                "href": each.address,
            }
            for each in catalog.entries(daemon.home)
            if each.field
        ]
    return entries
