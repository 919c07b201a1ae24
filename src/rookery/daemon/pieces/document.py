"""An HTML document of ours: its head, and the small pages that stand alone."""

from collections.abc import Sequence

from rookery.daemon import assets
from rookery.export.html.page import DARK, MARK
from rookery.export.html.text import esc_line, tag

VIEWPORT = (
    "width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"
)


def document(
    title: str,
    body: str,
    *,
    attributes: str = "",
    modules: Sequence[str] = (),
    styles: Sequence[str] = (),
) -> str:
    """`title` is plain text, `body` HTML, `attributes` those of the body element."""
    sheets = "".join(
        f'<link rel="stylesheet" href="{assets.address(name)}">'
        for name in (assets.TRANSCRIPT, "base.css", *styles)
    )
    scripts = "".join(
        f'<script type="module" src="{assets.address(name)}"></script>' for name in modules
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="{VIEWPORT}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{esc_line(title)}</title>\n"
        '<link rel="icon" href="/favicon.svg" type="image/svg+xml">\n'
        '<link rel="apple-touch-icon" href="/apple-touch-icon.png">\n'
        '<link rel="manifest" href="/manifest.webmanifest">\n'
        f'<link id="dark" rel="stylesheet" href="{assets.address(assets.DARK)}" media="{DARK}">'
        f'<script src="{assets.address("theme.js")}"></script>\n'
        f"{sheets}\n{scripts}\n</head>\n<body{attributes}>\n{body}\n</body>\n</html>\n"
    )


def alone(title: str, inner: str, heading: str = "") -> str:
    """A page with one thing to say or to ask."""
    head = tag("p", f"{MARK}<span>Rookery</span>", "brand")
    body = f'<main class="alone">{head}<h1>{esc_line(heading or title)}</h1>{inner}</main>'
    return document(f"{title} · Rookery" if title != "Rookery" else title, body)


def trouble(status: int, message: str, remedy: str) -> str:
    """What went wrong, for a person at a browser."""
    help_ = tag("p", esc_line(remedy), "soft") if remedy else ""
    back = '<p><a class="button" href="/">All sessions</a></p>'
    title = "Not found" if status == 404 else "That did not work"
    return alone(title, tag("p", esc_line(message)) + help_ + back)
