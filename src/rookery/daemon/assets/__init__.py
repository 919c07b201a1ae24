"""The web page's own assets: scripts, styles and icons, served as they are written, and compressed.

Their address contains a digest of all of them, so that browsers can cache them for ever and see a
new build at once."""

import gzip
import os
from functools import cache
from hashlib import sha256

from rookery.export.html.page import style

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
    ".png": "image/png",
}
TRANSCRIPT = "style.css"
DARK = "dark.css"
"""Colours and the looks of blocks: the exported file has the same."""


@cache
def files() -> dict[str, bytes]:
    place = os.path.dirname(__file__)
    contents = {name: style(name).encode() for name in (TRANSCRIPT, DARK)}
    for name in sorted(os.listdir(place)):
        if os.path.splitext(name)[1] in TYPES:
            with open(os.path.join(place, name), "rb") as file:
                contents[name] = file.read()
    return contents


@cache
def compressed(name: str) -> bytes:
    return gzip.compress(files()[name], mtime=0)


@cache
def digest() -> str:
    sum_ = sha256()
    for name, body in files().items():
        sum_.update(f"{name} {len(body)}\n".encode() + body)
    return sum_.hexdigest()[:12]


def address(name: str) -> str:
    assert name in files(), f"there is no asset called {name}"
    return f"/assets/{digest()}/{name}"


def media_type(name: str) -> str:
    return TYPES[os.path.splitext(name)[1]]
