"""The usage screen: cost and tokens by day, agent, model and session."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from rookery import usage
from rookery.agents.registry import AGENTS, title_of
from rookery.core import units
from rookery.core.header import Shown
from rookery.core.turn import quota
from rookery.core.vendors.detection import OWN
from rookery.daemon.page import shell
from rookery.daemon.pieces import charts
from rookery.daemon.state import Daemon, State
from rookery.export.html.text import esc_line, tag
from rookery.render.local_time import ago, clock_time

router = APIRouter(include_in_schema=False)

RANGES = (7, 30, 90)
SHOWS = {"cost": "Cost", "tokens": "Tokens", "turns": "Turns"}
MAX_TABLE_ROWS = 20
"""How many rows a table has at most."""
HEADS = {"agent": "Agent", "model": "Model", "session": "Session"}
DOLLARS = "USD"


class View(NamedTuple):
    days: int
    show: str
    currency: str

    def address(self, **changed: object) -> str:
        given = self._replace(**changed)  # type: ignore[arg-type]
        named = {"days": given.days, "show": given.show}
        named |= {"currency": given.currency} if given.currency not in ("", DOLLARS) else {}
        return esc_line(f"/usage?{urlencode(named)}")

    def value(self, group: usage.Group) -> float:
        if self.show == "cost":
            return dict(group.cost).get(self.currency, 0.0)
        return float(group.turns if self.show == "turns" else group.tokens)

    def formatted(self, value: float) -> str:
        if self.show == "cost":
            return money(value, self.currency)
        return units.tokens(value) if self.show == "tokens" else f"{value:,.0f}"


def money(amount: float, currency: str) -> str:
    return units.money(amount) if currency == DOLLARS else f"{amount:,.2f} {currency}"


@router.get("/usage")
async def used(
    daemon: Daemon,
    days: Annotated[int, Query(ge=1, le=3650)] = 30,
    show: Literal["", "cost", "tokens", "turns"] = "",
    currency: Annotated[str, Query(max_length=10)] = "",
) -> HTMLResponse:
    today = datetime.now().astimezone().date()
    first = today - timedelta(days=days - 1)
    since = int(datetime(first.year, first.month, first.day).astimezone().timestamp() * 1000)
    rows = await asyncio.to_thread(usage.collect, daemon.home, usage.Filters(since))
    total = usage.total(rows)
    known = [name for name, _ in sorted(total.cost, key=lambda each: -each[1])]
    currency = currency if currency in known else (known[0] if known else DOLLARS)
    view = View(days, show or ("cost" if total.cost else "tokens"), currency)
    inner = _limits(quota.newest(map(Shown, daemon.fleet.heads), OWN), time.time() * 1000)
    inner += _filters(view, known)
    if not rows:
        inner += '<div class="empty"><p>Nothing was used in this time.</p></div>'
    else:
        inner += _total(total) + await asyncio.to_thread(_charts, daemon, view, rows, first, today)
    main = f'<div class="screen usage"><h1>Usage</h1>{inner}</div>'
    return shell.page(daemon, title="Usage", main=main, here="usage", styles=("settings.css",))


def _limits(reports: Sequence[quota.Report], now: float) -> str:
    """Render the quotas in force, marking those that are nearly used up."""
    rows = ""
    for report in reports:
        window = report.window
        if not quota.holds(window, now):
            continue
        share = "" if window.used is None else f"{round(window.used * 100)} %"
        when = clock_time(window.resets, now) if window.resets is not None else ""
        agent = f"{title_of(report.agent)} {report.account}".strip()
        rows += tag(
            "tr",
            "".join(
                (
                    tag("th", esc_line(agent, 80)),
                    tag("td", esc_line(window.name)),
                    tag(
                        "td",
                        "used up" if window.limited else share,
                        "failed" * quota.is_pressing(window, now),
                    ),
                    tag("td", esc_line(when)),
                    tag("td", esc_line(ago(window.at, now))),
                )
            ),
        )
    if not rows:
        return ""
    names = ("Agent", "Window", "Used", "Resets", "Reported")
    head = tag("thead", tag("tr", "".join(tag("th", name) for name in names)))
    table = tag("table", head + tag("tbody", rows), "bars")
    return tag("h2", "Limits") + tag("div", table, "wide limits")


def _filters(view: View, currencies: Sequence[str]) -> str:
    def chip(label: str, here: bool, **changed: object) -> str:
        current = ' aria-current="true"' if here else ""
        return f'<a class="chip" href="{view.address(**changed)}"{current}>{label}</a>'

    ranges = "".join(chip(f"{each} days", each == view.days, days=each) for each in RANGES)
    shows = "".join(chip(label, each == view.show, show=each) for each, label in SHOWS.items())
    money_ = ""
    if len(currencies) > 1 and view.show == "cost":
        money_ = _group(
            "Currency",
            "".join(chip(esc_line(c), c == view.currency, currency=c) for c in currencies),
        )
    return tag("div", _group("Time", ranges) + _group("What", shows) + money_, "filters")


def _group(label: str, inner: str) -> str:
    return f'<nav aria-label="{label}">{inner}</nav>'


def _total(total: usage.Group) -> str:
    cost = " + ".join(money(amount, currency) for currency, amount in total.cost) or "not reported"
    rows = {
        "Cost": cost,
        "Turns": f"{total.turns:,}",
        "Tokens in": _tokens(total, total.input),
        "Tokens out": _tokens(total, total.output),
        "Cached": _tokens(total, total.cached),
    }
    inner = "".join(
        f"<div><dt>{key}</dt><dd>{esc_line(text)}</dd></div>" for key, text in rows.items()
    )
    return f'<dl class="totals">{inner}</dl>'


def _tokens(group: usage.Group, number: int) -> str:
    """Return a number of tokens as text. Some agents report only how full their context is, which
    does not mean 0 tokens."""
    return units.tokens(number) if group.tokens else "not reported"


def _charts(daemon: State, view: View, rows: Sequence[usage.Row], first: date, today: date) -> str:
    by_day = {group.name: group for group in usage.grouped(rows, "day")}
    days = [first + timedelta(days=at) for at in range((today - first).days + 1)]
    points = []
    for day in days:
        value = view.value(by_day.get(day.isoformat(), usage.Group("")))
        points.append(charts.Point(f"{day.day} {day:%b}", value, view.formatted(value)))
    label = SHOWS[view.show]
    none = tag("p", f"No {label.lower()} were reported in this time.", "soft")
    drawn = charts.columns(points, f"{label} by day") if any(p.value for p in points) else none
    html = tag("h2", f"{label} by day") + drawn
    titles = {str(head["id"]): str(head["title"]) for head in daemon.fleet.heads}
    for by, head in HEADS.items():
        groups = sorted(usage.grouped(rows, by), key=view.value, reverse=True)
        lines = list(_lines(view, by, groups[:MAX_TABLE_ROWS], titles))
        left = len(groups) - MAX_TABLE_ROWS
        more = tag("p", f"and {left:,} more", "soft") if left > 0 else ""
        heads = (head, label, "Turns", "Tokens")
        html += tag("h2", f"By {by}") + charts.bars(heads, lines, f"{label} by {by}") + more
    return html


def _lines(
    view: View, by: str, groups: Iterable[usage.Group], titles: dict[str, str]
) -> Iterable[charts.Line]:
    for group in groups:
        title, link = group.name, ""
        if by == "session":
            link = f"/sessions/{group.name}" if group.name in titles else ""
            title = titles.get(group.name) or f"{group.name} (deleted)"
        elif by == "agent" and group.name in AGENTS:
            title = AGENTS[group.name].title
        value = view.value(group)
        tokens = units.tokens(group.tokens) if group.tokens else "–"
        shown = "–" if view.show == "tokens" and not group.tokens else view.formatted(value)
        cells = (shown, f"{group.turns:,}", tokens)
        yield charts.Line(title, link, value, cells)
