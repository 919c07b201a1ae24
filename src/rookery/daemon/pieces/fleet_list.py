"""The list of sessions, with the groups and labels of core/view/states."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from rookery.agents.registry import title_of
from rookery.core import units, worktree
from rookery.core.clock_slip import is_snoozed
from rookery.core.header import Shown
from rookery.core.json import Json, lenient
from rookery.core.json.safe_text import clean_line
from rookery.core.json.secrets import masked
from rookery.core.settings.sandbox import NONE
from rookery.core.view import states
from rookery.core.view.fleet import NO_TITLE, WORKING, others_here, state_of
from rookery.core.view.states import ASLEEP, GROUPS, IDLE, NEEDS_YOU, TO_READ
from rookery.daemon.pieces import icons
from rookery.export.html.block import coded
from rookery.export.html.text import esc_line, tag
from rookery.home.paths import with_tilde
from rookery.render import signs
from rookery.render.local_time import age

_NAMES = ("needs", "read", "running", "waiting", "idle", "asleep")
SHOWS = {"": "All", **dict(zip(_NAMES, GROUPS, strict=True))}
FINISHED = {"finished": (TO_READ, IDLE, ASLEEP)}
"""Filters in the URLs of earlier builds, with the groups that each shows."""
HIDDEN = {"archived": "Archived", "snoozed": "Snoozed"}
COLUMN = 40
"""Sessions in the column; the screen has all."""
PAGE = 100
SHORT = 28
"""Characters of a directory."""

MORE = (
    f'<button class="quiet icon" data-do="row" aria-label="Actions">{icons.icon("more")}</button>'
)
BEGIN = (
    '<div class="empty"><p>No sessions yet.</p>'
    '<p><a class="button primary" href="/new">New session</a></p>'
    '<p class="soft">or, in a terminal: <code>rookery run "fix the failing test"</code></p></div>'
)


class ListQuery(NamedTuple):
    """Which part of the list to show."""

    show: str = ""
    query: str = ""
    by_directory: bool = False
    page: int = 0

    def address(self, **changed: object) -> str:
        given = self._replace(**{"page": 0, **changed})  # type: ignore[arg-type]
        named = {"show": given.show, "words": given.query, "page": given.page or ""}
        named["group"] = "directory" if given.by_directory else ""
        query = urlencode({name: value for name, value in named.items() if value})
        return esc_line(f"/?{query}" if query else "/")


ALL = ListQuery()


class Row(NamedTuple):
    head: Json
    """With what `states.standing` tells."""
    status: str
    hidden: str
    """archived or snoozed; "": it is listed."""


def rows_of(heads: Iterable[Json], now: float) -> list[Row]:
    """Return the rows in the order of the list."""
    extended = [head | states.standing(head, state_of(head, awake=head["awake"])) for head in heads]
    return [_row(head, now) for head in states.in_order(extended)]


def _row(head: Json, now: float) -> Row:
    hidden = "archived" if head["archived"] else "snoozed" if is_snoozed(Shown(head), now) else ""
    return Row(head, state_of(head, awake=head["awake"]), hidden)


# --- the two forms -------------------------------------------------------------------------------


def column(heads: Iterable[Json], now: float, *, session: str = "", query: str = "") -> str:
    """Render the list as a column beside a screen; the session of that screen is marked."""
    rows = rows_of(heads, now)
    listed = [row for row in rows if not row.hidden and _matches(row.head, query)]
    shown = listed[:COLUMN]
    if session and all(row.head["id"] != session for row in shown):
        shown += [row for row in rows if row.head["id"] == session]
    inner = _groups(shown, now, session, _counts(listed))
    if not inner:
        inner = tag("p", "No matches." if query else "No sessions yet.", "none")
    if len(listed) > COLUMN:
        address = ALL.address(query=query)
        inner += f'<p class="all"><a href="{address}">All {len(listed):,} sessions</a></p>'
    return _list(inner, rows, now, len(shown), len(listed), _others(rows, session))


def _others(rows: list[Row], session: str) -> int:
    """Count the other sessions that work in the directory of the shown one, while it is working
    itself."""
    mine = next((row for row in rows if row.head["id"] == session), None)
    if mine is None or mine.status not in WORKING:
        return 0
    known = ((row.head["id"], row.head["cwd"], row.status) for row in rows)
    return others_here(session, mine.head["cwd"], known)


def screen(heads: Iterable[Json], now: float, wanted: ListQuery = ALL) -> str:
    """Render the list as a whole screen, with its filters."""
    rows = rows_of(heads, now)
    if not rows:
        return _list(BEGIN, rows, now, 0, 0)
    fitting = [row for row in rows if _is_shown(row, wanted.show)]
    fitting = [row for row in fitting if _matches(row.head, wanted.query)]
    first = wanted.page * PAGE
    shown = fitting[first : first + PAGE]
    if wanted.by_directory:
        inner = _directories(shown, now)
    else:
        inner = _groups(shown, now, "", _counts(fitting))
    inner = inner or tag("p", _nothing(wanted), "none")
    return _list(
        _filters(rows, wanted) + inner + _pages(len(fitting), wanted),
        rows,
        now,
        len(shown),
        len(fitting),
    )


def _list(
    inner: str, rows: list[Row], now: float, shown: int, fitting: int, others: int = 0
) -> str:
    """Wrap the list in an element with the counts for the tab's title and icon, over all listed
    sessions."""
    seen = [row for row in rows if not row.hidden]
    needs = sum(row.head["group"] == NEEDS_YOU for row in seen)
    running = sum(row.status == "running" for row in seen)
    asks = sum(row.status == "needs-you" for row in seen)
    counts = f'data-needs="{needs}" data-asks="{asks}" data-running="{running}"'
    more = " data-more" if fitting > shown else ""
    counts += f' data-now="{now:.0f}"'
    counts += f' data-others="{others}"' if others else ""
    return f'<div class="list" {counts}{more}>{inner}</div>'


def _counts(rows: Iterable[Row]) -> Mapping[str, int]:
    counts = dict.fromkeys(GROUPS, 0)
    for row in rows:
        counts[row.head["group"]] += 1
    return counts


def _groups(rows: list[Row], now: float, session: str, counts: Mapping[str, int]) -> str:
    html = ""
    for name in GROUPS:
        mine = [_line(row, now, session) for row in rows if row.head["group"] == name]
        if mine:
            kind = "needs" if name == NEEDS_YOU else ""
            html += _group_of(name, counts[name] or len(mine), mine, kind)
    return html


def _directories(rows: list[Row], now: float) -> str:
    places: dict[str, list[str]] = {}
    for row in rows:
        places.setdefault(str(row.head["cwd"]), []).append(_line(row, now, ""))
    shown = [
        (with_tilde(clean_line(place)) or "no directory", each) for place, each in places.items()
    ]
    return "".join(_group_of(place, len(each), each, "place") for place, each in shown)


def _group_of(name: str, count: int, lines: list[str], kind: str) -> str:
    head = f'<h2 class="{kind}">{esc_line(name)} <span>{count:,}</span></h2>'
    return tag("section", head + tag("ul", "".join(lines)))


# --- which are shown -----------------------------------------------------------------------------


def _is_shown(row: Row, show: str) -> bool:
    if show in HIDDEN or row.hidden:
        return row.hidden == show
    return not show or row.head["group"] in FINISHED.get(show, (SHOWS.get(show),))


def _matches(head: Json, query: str) -> bool:
    """Tell whether all words of the query occur in the session's title, agent or directory."""
    if not query:
        return True
    where = f"{head['title']} {head['agent']} {shown_agent(head)} {head['cwd']}".lower()
    return all(word in where for word in query.lower().split())


def _filters(rows: list[Row], wanted: ListQuery) -> str:
    html = ""
    for show, name in {**SHOWS, **HIDDEN}.items():
        count = sum(_is_shown(row, show) for row in rows)
        if not count and show and show != wanted.show:
            continue
        here = ' aria-current="true"' if show == wanted.show else ""
        address = wanted.address(show=show)
        html += f'<a class="chip" href="{address}"{here}>{name} <span>{count:,}</span></a>'
    by = wanted.by_directory
    label = "Group by state" if by else "Group by directory"
    html += (
        f'<a class="chip by" data-group="{"" if by else "directory"}" '
        f'href="{wanted.address(by_directory=not by)}">{label}</a>'
    )
    return f'<nav class="filters" aria-label="Filter">{html}</nav>'


def _nothing(wanted: ListQuery) -> str:
    return "No matches." if wanted.query else "No sessions."


def _pages(count: int, wanted: ListQuery) -> str:
    if count <= PAGE:
        return ""
    first = wanted.page * PAGE
    position = f"{first + 1:,}–{min(count, first + PAGE):,} of {count:,}"
    links = ""
    if wanted.page:
        address = wanted.address(page=wanted.page - 1)
        links += f'<a class="button" href="{address}">Previous {PAGE}</a>'
    if first + PAGE < count:
        address = wanted.address(page=wanted.page + 1)
        links += f'<a class="button" href="{address}">Next {PAGE}</a>'
    return f'<nav class="pages" aria-label="Pages"><span>{position}</span>{links}</nav>'


# --- one row -------------------------------------------------------------------------------------


def _line(row: Row, now: float, session: str) -> str:
    head, name = row.head, esc_line(str(row.head["id"]), 100)
    label = esc_line(signs.label(head, now))
    here = ' aria-current="page"' if head["id"] == session else ""
    flags = "".join(f" data-{flag}" for flag in ("unread", "pinned") if head[flag])
    flags += f' data-hidden="{row.hidden}"' if row.hidden else ""
    if worktree.exists(head.get("worktree")):
        flags += f' data-worktree="{esc_line(worktree.brief(head["worktree"]), 60)}"'
    flags += f' data-news="{int(head.get("news", 0))}"' if head["unread"] else ""
    pin = icons.icon("pin") if head["pinned"] else ""
    title = esc_line(masked(head["title"] or NO_TITLE), 200)
    inner = (
        icons.state(head["condition"], label)
        + f'<span class="title" dir="auto">{pin}{title}</span>'
        + f'<time class="age" data-since="{head["began"]}">{age(head["began"], now)}</time>'
        + tag("span", _doing(row, label), "doing")
        + tag("span", _about(head), "about")
    )
    return (
        f'<li id="s-{name}" data-id="{name}" data-status="{row.status}"{flags}>'
        f'<a href="/sessions/{name}"{here}>{inner}</a>{MORE}</li>'
    )


def _doing(row: Row, label: str) -> str:
    """Return the session's state, unless the heading gives it, and what it is doing, wants, or said
    last."""
    activity = lenient.text(row.head, "doing") or row.head["last"]
    text = coded(clean_line(activity[:300]))
    if label == row.head["group"].lower():
        return text or (label if row.status == "running" else "&nbsp;")
    state = f'<b class="{row.head["condition"]}">{label}</b>'
    if row.head["condition"] in ("failed", "limited"):
        return f"{state}: {text}" if text else state
    return f"{state} · {text}" if text else state


def _about(head: Json) -> str:
    tree = head.get("worktree")
    place = with_tilde(clean_line(lenient.text(tree, "origin") or str(head["cwd"])))
    short = place if len(place) <= SHORT else f"…/{place.rsplit('/', 1)[-1]}"
    tags = [tag("span", esc_line(shown_agent(head)))]
    if (kind := lenient.text(head, "sandbox")) not in ("", NONE):
        tags.append(tag("span", esc_line(f"in {kind}")))
    if branch := worktree.brief(tree):
        tags.append(tag("span", esc_line(branch, 60)))
    if place:
        tags.append(f'<span class="place" title="{esc_line(place)}">{esc_line(short)}</span>')
    done, steps = [*lenient.sequence(head, "plan"), 0, 0][:2]
    tags += [tag("span", f"plan {done}/{steps}")] if steps else []
    if head["queue"] and head["condition"] != "held":
        tags.append(tag("span", f"{head['queue']} queued"))
    tags += [tag("span", cost)] if (cost := _cost(head)) else []
    return " · ".join(tags)


def shown_agent(head: Json) -> str:
    return lenient.text(head, "agentName") or title_of(str(head["agent"]))


def _cost(head: Json) -> str:
    cost = lenient.mapping(lenient.mapping(head, "usage"), "cost")
    amount, currency = lenient.number(cost, "amount"), lenient.text(cost, "currency")
    if not amount:
        return ""
    return units.money(amount) if currency in ("", "USD") else f"{amount:.2f} {esc_line(currency)}"
