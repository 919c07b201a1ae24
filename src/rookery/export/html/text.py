"""Text and links as HTML: the only place that escapes."""

import html

from rookery.render.links import can_follow
from rookery.render.plain import clean, clean_line


def esc(text: str) -> str:
    """For content and for attributes between double quotes; controls become visible signs."""
    return html.escape(clean(text), quote=True)


def esc_line(text: str, most: int = 2_000) -> str:
    """The same on one line."""
    return html.escape(clean_line(text, most), quote=True)


def tag(name: str, inner: str, kind: str = "") -> str:
    return f'<{name} class="{kind}">{inner}</{name}>' if kind else f"<{name}>{inner}</{name}>"


def link(address: str, inner: str, said: str = "") -> str:
    """A link where the address may be followed, else the words and the address as text. `said`:
    the words without markup."""
    address = address.strip()
    if can_follow(address):
        return f'<a href="{esc(address)}" rel="noopener noreferrer">{inner}</a>'
    shown = clean_line(address, 300)
    same = not shown or shown == clean_line(said, 300)
    return inner if same else f'{inner} <span class="address">({esc(shown)})</span>'
