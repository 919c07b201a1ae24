"""Text and links as HTML: the only place that escapes."""

import html

from rookery.render.links import pieces, target
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
    """A link where the address may be followed, with where it leads if the words do not say so;
    else the words and the address as text. `said`: the words without markup."""
    address = address.strip()
    if (found := target(address, said)) is not None:
        tab = "" if found.href.startswith("mailto:") else ' target="_blank"'
        why = f' title="{esc_line(found.warning)}"' if found.warning else ""
        words = f'<a href="{esc(found.href)}"{tab} rel="noopener noreferrer"{why}>{inner}</a>'
        kind = "target needs" if found.warning else "target"
        return (
            f"{words} {tag('span', f'({esc_line(found.shown)})', kind)}" if found.shown else words
        )
    shown = clean_line(address, 300)
    same = not shown or shown == clean_line(said, 300)
    return inner if same else f'{inner} <span class="address">({esc(shown)})</span>'


def linked(text: str) -> str:
    """Plain text, in which addresses are links."""
    return "".join(link(to, esc(piece), piece) if to else esc(piece) for piece, to in pieces(text))
