"""HTML documents: the head that all of them share, and small standalone pages."""

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
    meta: str = "",
) -> str:
    """Render a document. `title` is plain text, `body` HTML, `attributes` those of the body
    element."""
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
        f"{meta}<title>{esc_line(title)}</title>\n"
        '<link rel="icon" href="/favicon.svg" type="image/svg+xml">\n'
        '<link rel="apple-touch-icon" href="/apple-touch-icon.png">\n'
        '<link rel="manifest" href="/manifest.webmanifest">\n'
        f'<link id="dark" rel="stylesheet" href="{assets.address(assets.DARK)}" media="{DARK}">'
        f'<script src="{assets.address("theme.js")}"></script>\n'
        f"{sheets}\n{scripts}\n</head>\n<body{attributes}>\n{body}\n</body>\n</html>\n"
    )


_BRAND = f'<p class="brand">{MARK}<span>Rookery</span></p>'
NEEDS_SCRIPT = (
    "Rookery's page needs JavaScript: with it, this browser proves that it is logged in. "
    "Turn it on, or use Rookery in a terminal."
)


def shell(challenge: str) -> str:
    """Render the page that a browser gets before it has authenticated: it discloses nothing, and
    fetches the real page."""
    inner = f"{_BRAND}<h1>JavaScript is off</h1><p>{NEEDS_SCRIPT}</p>"
    body = f'<noscript><main class="alone">{inner}</main></noscript>'
    meta = f'<meta name="challenge" content="{esc_line(challenge)}">\n'
    return document("Rookery", body, meta=meta, modules=("enter.js",))


def alone(title: str, inner: str, heading: str = "", modules: Sequence[str] = ()) -> str:
    """Render a standalone page with one message or question."""
    body = f'<main class="alone">{_BRAND}<h1>{esc_line(heading or title)}</h1>{inner}</main>'
    whole = f"{title} · Rookery" if title != "Rookery" else title
    return document(whole, body, modules=modules)


def trouble(status: int, message: str, remedy: str) -> str:
    """Render an error page."""
    help_ = tag("p", esc_line(remedy), "soft") if remedy else ""
    back = '<p><a class="button" href="/">All sessions</a></p>'
    title = "Not found" if status == 404 else "That did not work"
    return alone(title, tag("p", esc_line(message)) + help_ + back)
