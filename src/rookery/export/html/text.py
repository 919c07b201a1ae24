"""Escaping text and links for HTML; nothing is escaped anywhere else."""

import html

from rookery.render.links import pieces, target
from rookery.render.runs import clean, clean_line


def esc(text: str) -> str:
    """Escape text for content and for double-quoted attributes; control characters become visible
    signs."""
    return html.escape(clean(text), quote=True)


def esc_line(text: str, most: int = 2_000) -> str:
    """Escape text like `esc`, on one line."""
    return html.escape(clean_line(text, most), quote=True)


def tag(name: str, inner: str, kind: str = "") -> str:
    return f'<{name} class="{kind}">{inner}</{name}>' if kind else f"<{name}>{inner}</{name}>"


def link(address: str, inner: str, text: str = "") -> str:
    """Render a link if the address is safe to follow, and show where it leads if the text does not
    say so; otherwise render the text and the address. `text` is the link's text without markup."""
    address = address.strip()
    if (destination := target(address, text)) is not None:
        tab = "" if destination.href.startswith("mailto:") else ' target="_blank"'
        why = f' title="{esc_line(destination.warning)}"' if destination.warning else ""
        anchor = (
            f'<a href="{esc(destination.href)}"{tab} rel="noopener noreferrer"{why}>{inner}</a>'
        )
        kind = "target needs" if destination.warning else "target"
        return (
            f"{anchor} {tag('span', f'({esc_line(destination.shown)})', kind)}"
            if destination.shown
            else anchor
        )
    shown = clean_line(address, 300)
    same = not shown or shown == clean_line(text, 300)
    return inner if same else f'{inner} <span class="address">({esc(shown)})</span>'


def linked(text: str) -> str:
    """Render plain text in which addresses become links."""
    return "".join(link(to, esc(piece), piece) if to else esc(piece) for piece, to in pieces(text))
