"""Full-text search over all sessions: the form and its results."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote, urlencode

from rookery.agents.registry import AGENTS
from rookery.core.json import secrets
from rookery.core.json.safe_text import count
from rookery.export.html.text import esc, esc_line, tag
from rookery.home.paths import with_tilde
from rookery.render.local_time import ago
from rookery.search.query import Hit

ROLES = {
    "": "Anything",
    "prompt": "Prompts",
    "answer": "Answers",
    "thought": "Reasoning",
    "tool": "Commands and output",
    "other": "Other",
}
SAID = {"prompt": "You", "answer": "Answer", "thought": "Reasoning", "tool": "Tool"}
AGES = {"": "Any time", "day": "Last day", "week": "Last week", "month": "Last month"}
SECONDS = {"day": 86_400, "week": 7 * 86_400, "month": 30 * 86_400}
MORE = 100
"""Hits that are shown."""
NO_TITLE = "New session"


class SearchQuery(NamedTuple):
    """The text that is searched for, and the filters."""

    q: str = ""
    agent: str = ""
    within: str = ""
    since: str = ""
    role: str = ""

    @property
    def query(self) -> str:
        named = {"q": self.q, "agent": self.agent, "in": self.within}
        named |= {"since": self.since, "role": self.role}
        return urlencode({key: value for key, value in named.items() if value})


def screen(
    wanted: SearchQuery, results: str, agents: Sequence[str], directories: Sequence[str]
) -> str:
    """Render the form with the results below it; it works without scripts."""
    listed = "".join(f'<option value="{esc_line(each)}">' for each in directories)
    form = (
        '<form id="search" role="search" aria-label="Everything ever said" action="/search">'
        '<div class="words">'
        f'<input type="search" name="q" value="{esc_line(wanted.q, 1000)}" autofocus '
        'autocomplete="off" maxlength="1000" aria-label="Search everything ever said" '
        'placeholder="Words, &quot;a phrase&quot;, or begin*"><button class="primary">Search'
        '</button></div><div class="filters">'
        + _select("role", "Where", ROLES, wanted.role)
        + _select(
            "agent",
            "Agent",
            {"": "Any agent"} | {each: _agent(each) for each in agents},
            wanted.agent,
        )
        + _select("since", "When", AGES, wanted.since)
        + '<label>Directory<input name="in" list="directories" maxlength="4096" '
        f'placeholder="Any directory" value="{esc_line(wanted.within, 4096)}"></label>'
        f'<datalist id="directories">{listed}</datalist></div></form>'
    )
    return (
        f'<div class="screen searching"><h1>Search</h1>{form}'
        f'<div id="results">{results}</div></div>'
    )


def _select(name: str, label: str, choices: dict[str, str], chosen: str) -> str:
    if chosen not in choices:
        choices = {**choices, chosen: chosen}
    options = "".join(
        f'<option value="{esc_line(value)}"{" selected" if value == chosen else ""}>'
        f"{esc_line(text)}</option>"
        for value, text in choices.items()
    )
    return f'<label>{label}<select name="{name}">{options}</select></label>'


BEGIN = (
    '<div class="empty"><p>Search prompts, answers, reasoning, commands, their output and paths '
    "of all sessions.</p></div>"
)


def results(
    wanted: SearchQuery, hits: Sequence[Hit], *, more: bool, whole: bool, problem: str
) -> str:
    if not wanted.q.strip():
        return BEGIN
    note = ""
    if problem:
        note = tag("p", esc_line(problem), "failed")
    elif not whole:
        note = (
            '<p class="soft" role="status" data-again>Older sessions are still being indexed.</p>'
        )
    if not hits:
        message = "No matches yet." if not whole else "No matches."
        hint = "" if not _narrowed(wanted) else _everywhere(wanted)
        return note + tag("div", tag("p", message) + hint, "empty")
    total = f"{count(len(hits), 'hit')}{', and older ones' if more else ''}, the newest first"
    rows = "".join(map(_hit, hits))
    wider = tag("p", "Use more words, or a filter, to see older ones.", "soft") if more else ""
    return f'{note}<p class="soft" role="status">{total}</p><ol class="hits">{rows}</ol>{wider}'


def _narrowed(wanted: SearchQuery) -> bool:
    return bool(wanted.agent or wanted.within or wanted.since or wanted.role)


def _everywhere(wanted: SearchQuery) -> str:
    address = f"/search?{SearchQuery(wanted.q).query}"
    return f'<p><a class="button" href="{esc_line(address, 5000)}">Search everywhere</a></p>'


def _hit(hit: Hit) -> str:
    place = f"/sessions/{quote(hit.session)}?at={hit.seq}"
    title = esc_line(secrets.masked(hit.title), 200) or NO_TITLE
    about = " · ".join(
        each
        for each in (
            SAID.get(hit.role, ""),
            esc_line(_agent(hit.agent), 60),
            f'<span class="place">{esc_line(with_tilde(hit.cwd), 200)}</span>',
            _when(hit.at),
        )
        if each
    )
    return (
        f'<li><a href="{place}"><strong dir="auto">{title}'
        f'</strong><span class="snippet" dir="auto">{snippet(hit)}</span>'
        f'<span class="soft">{about}</span></a></li>'
    )


def _agent(name: str) -> str:
    known = AGENTS.get(name)
    return known.title if known else name


def snippet(hit: Hit) -> str:
    """Render the snippet with the matches marked."""
    text = secrets.covered(hit.snippet.text)
    html, at = "", 0
    for first, last in hit.snippet.marks:
        html += esc(text[at:first]) + tag("mark", esc(text[first:last]))
        at = last
    return html + esc(text[at:])


def _when(at: int) -> str:
    try:
        moment = datetime.fromtimestamp(at / 1000).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    shown = f"{moment.day} {moment:%b %Y, %H:%M}"
    attributes = f'datetime="{moment.isoformat(timespec="seconds")}" title="{shown}"'
    return f"<time {attributes}>{ago(at, time.time() * 1000)}</time>"
