"""The list of sessions."""

from collections.abc import Iterable

from rookery.core.json import Json
from rookery.export.html.text import esc_line, tag


def column(heads: Iterable[Json], now: float, *, session: str = "") -> str:
    """For the column beside a screen."""
    rows = "".join(
        f'<li><a href="/sessions/{head["id"]}"'
        f"{' aria-current="page"' if head['id'] == session else ''}>"
        f"{esc_line(head['title'] or 'Session')}</a></li>"
        for head in heads
        if not head["archived"] and head["at"] <= now + 1e9
    )
    return tag("ul", rows)
