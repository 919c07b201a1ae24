"""Rendering a session as one self-contained HTML file: no script, no font, nothing loaded."""

import os
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256

from rookery.core import units
from rookery.core.agent.names import agent_name
from rookery.core.header import EMPTY, Header
from rookery.core.json import lenient
from rookery.core.json.safe_text import count
from rookery.export.html import markdown, transcript
from rookery.export.html.images import Images
from rookery.export.html.text import esc_line, tag
from rookery.export.html.view import View
from rookery.export.turns import Turn, about, turns
from rookery.home.paths import with_tilde
from rookery.log.reader import Reader

MARK = (
    '<svg class="rook" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">'
    '<path d="M2 20c3-.4 5.4-2 6.6-4.4L12 8.5C13 6 14.6 4.5 17 4.5c1.6 0 2.9.9 3.3 2.3L23 8'
    'l-2.6 1.2c-.2 5-3.4 8.3-8.4 8.3H9"/><path d="M11.5 12c.6 1.7 2 2.6 4 2.6"/>'
    '<path d="M13 17.5V21M10.5 21H15"/></svg>'
)


DARK = "screen and (prefers-color-scheme: dark)"


@lru_cache
def style(name: str = "style.css") -> str:
    path = os.path.join(os.path.dirname(__file__), name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def colours() -> str:
    """Return the CSS colours of both themes, for a page with a style of its own."""
    light = style().partition("}\n")[0]
    return f"{light}}}\n@media {DARK} {{\n{style('dark.css')}}}\n"


def pieces(log: Reader, first: int, last: int | None, now: float) -> Iterator[str]:
    header = about(log)
    view = View(agent_name(header), header.cwd, now, Images(log.blob).address)
    yield _head(header)
    yield _top(header, log.turns())
    for turn in turns(log, first, last):
        yield from _turn(turn, view)
    yield _foot(now)


def of_text(title: str, text: str) -> str:
    """Render a page with a single message."""
    prose = tag("div", markdown.rendered(text), "prose")
    body = f'<body>\n<main>\n<section class="turn">{prose}</section></main>\n</body>\n</html>\n'
    return f"{_head(EMPTY.with_(title=title))}{body}"


def _head(header: Header) -> str:
    """Render the head. Its policy allows only the one style sheet and images inside the file."""
    sheet = f"{style()}{style('frame.css')}@media {DARK} {{\n{style('dark.css')}}}\n"
    digest = b64encode(sha256(sheet.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
    policy += "base-uri 'none'; form-action 'none'"
    title = esc_line(header.title) or "Session"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{title}</title>\n<style>{sheet}</style>\n</head>\n"
    )


def _top(header: Header, turns: int) -> str:
    title = tag("h1", esc_line(header.title) or "Session")
    place = tag("p", esc_line(with_tilde(header.cwd)), "place")
    agent, model = esc_line(agent_name(header)), esc_line(header.model)
    who = f"<strong>{agent}</strong>" + (f" · {model}" if model else "") if agent else ""
    chips = [who, esc_line(header.mode), count(turns, "turn"), _cost(header)]
    chips += [_state(header)]
    listed = "".join(tag("li", each) for each in chips if each)
    return (
        f'<body>\n<header class="top"><div>{MARK}<div>{title}{place}</div></div>'
        f'<ul class="chips">{listed}</ul></header>\n<main>\n'
    )


def _cost(header: Header) -> str:
    cost = lenient.mapping(header.usage, "cost")
    amount, currency = lenient.number(cost, "amount"), lenient.text(cost, "currency")
    if not amount:
        return ""
    return units.money(amount) if currency in ("", "USD") else f"{amount:.2f} {esc_line(currency)}"


def _state(header: Header) -> str:
    if header.asks:
        return tag("span", "waiting for an answer", "needs")
    return "" if header.state == "idle" else tag("span", "still running", "running")


def _turn(turn: Turn, view: View) -> Iterator[str]:
    body = list(filter(None, transcript.Painter(turn.blocks, view).units()))
    if not body:
        return
    title = f"Turn {turn.number}" if turn.number else "Before the first prompt"
    when = f" · {_date(turn.at)}" if turn.at else ""
    yield f'<section class="turn" id="turn-{turn.number}">\n'
    yield f'<h2><a href="#turn-{turn.number}">{title}</a>{when}</h2>\n'
    yield from body
    yield "</section>\n"


def _foot(now: float) -> str:
    when = f" on {_date(now)}" if now else ""
    note = f"Exported from Rookery{when}. Secrets with known shapes are masked."
    return f'</main>\n<footer class="foot">{note}</footer>\n</body>\n</html>\n'


def _date(at: float) -> str:
    """Format a time in the exporter's time zone, naming the zone."""
    try:
        local = datetime.fromtimestamp(at / 1000, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return "an unknown date"
    return f"{local.day} {local:%b %Y, %H:%M} {esc_line(local.tzname() or '')}".strip()
