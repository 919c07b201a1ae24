"""The frame that all screens share: the column of sessions, and the live regions for
announcements."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from fastapi.responses import HTMLResponse

from rookery.daemon.access.roles import ALL
from rookery.daemon.pieces import fleet_list, icons
from rookery.daemon.pieces.document import document
from rookery.daemon.state import State
from rookery.export.html.page import MARK
from rookery.export.html.text import esc_line, tag

LINKS = (
    ("inbox", "/inbox", "Inbox"),
    ("search", "/search", "Search"),
    ("usage", "/usage", "Usage"),
    ("settings", "/settings", "Settings"),
)
RACE = "race"
"""A screen that no link of the column leads to, and that nothing but the column leaves."""
HOME = "fleet"
SKIP = '<a class="skip" href="#main">Skip to the content</a>'
TOLD = (
    '<p id="connection" role="status" hidden></p>'
    '<div id="polite" class="unseen" aria-live="polite"></div>'
    '<div id="assertive" class="unseen" aria-live="assertive"></div>'
)


class _Page(NamedTuple):
    here: str
    session: str
    screen: str

    def link(self, name: str, address: str, label: str) -> str:
        current = ' aria-current="page"' if name == self.here else ""
        return f'<a href="{address}"{current}>{label}</a>'


def page(
    daemon: State,
    *,
    title: str,
    main: str,
    here: str = "",
    session: str = "",
    modules: Sequence[str] = (),
    styles: Sequence[str] = (),
    screen: str = "",
) -> HTMLResponse:
    """Render a whole page. `title` is plain text, `main` HTML; `here` is the link of the column
    that leads to it."""
    about = _Page(here, session, screen or here)
    body = (
        f'{SKIP}<div class="frame">{_column(daemon, about)}'
        f'{_bar(daemon, about)}<main id="main" tabindex="-1">{main}</main>'
        f'<div id="toasts"></div></div>{TOLD}'
    )
    attributes = f' data-screen="{esc_line(about.screen)}" data-session="{esc_line(session)}"'
    attributes += ' data-read-only="1"' if daemon.read_only else ""
    if daemon.role != ALL:
        attributes += f' data-role="{daemon.role}" data-may="{esc_line(daemon.closed)}"'
    return HTMLResponse(
        document(
            f"{title} · Rookery" if title else "Rookery",
            body,
            attributes=attributes,
            modules=("main.js", "frame.js", "fleet.js", *modules),
            styles=("fleet.css", *styles),
        )
    )


def _bar(daemon: State, about: _Page) -> str:
    """Render the bar with the screens' links for when the column is folded: above, or below on a
    phone. A session has no bar, since it needs the room."""
    if not about.here:
        return ""
    current = ' aria-current="page"' if about.here == HOME else ""
    label = 'aria-label="Rookery: all sessions"'
    mark = f'<a class="brand" href="/" {label}{current}>{MARK}<span>Rookery</span></a>'
    new = "" if daemon.read_only else _new(about)
    links = mark + new + "".join(about.link(*each) for each in LINKS) + _palette()
    return f'<nav class="links folded" aria-label="Rookery">{links}</nav>'


def _palette() -> str:
    text = "Search sessions, actions and settings"
    return icons.button("commands", "palette", text, f' title="{text} (Ctrl+K)"')


def _column(daemon: State, about: _Page) -> str:
    mark = f'<a class="brand" href="/">{MARK}<span>Rookery</span></a>'
    brand = tag("div", mark + ("" if daemon.read_only else _new(about)), "top-line")
    find = (
        '<form class="find" action="/search" role="search" aria-label="Sessions">'
        '<input name="q" id="find" type="search" autocomplete="off" '
        'aria-label="Find a session, or anything ever said" '
        'placeholder="Find a session or anything said"><kbd>/</kbd></form>'
    )
    fleet = f'<nav id="fleet" aria-label="Sessions"{place(daemon)}>{_listed(daemon, about)}</nav>'
    links = "".join(about.link(*each) for each in LINKS) + _palette()
    links = f'<nav class="links" aria-label="Rookery">{links}</nav>'
    return f'<aside id="column" aria-label="Rookery">{brand}{find}{fleet}{links}</aside>'


def place(daemon: State) -> str:
    """Return attributes with the position from which the list's updates are needed. Call it before
    reading the list: a change in between then arrives twice rather than never."""
    return f' data-epoch="{daemon.fleet.epoch}" data-seq="{daemon.fleet.seq}"'


def _listed(daemon: State, about: _Page) -> str:
    if about.here == HOME:  # which is the list itself
        return ""
    return fleet_list.column(daemon.fleet.heads, time.time() * 1000, session=about.session)


def _new(about: _Page) -> str:
    current = ' aria-current="page"' if about.here == "new" else ""
    return f'<a class="button" href="/new"{current}>New</a>'
