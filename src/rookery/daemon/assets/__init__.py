"""The page's own files: scripts, styles and icons, written by hand and served as they are.

Their address has a digest of all of them, so that a browser keeps them for ever and a new build is
seen at once.
"""

import os
from functools import cache
from hashlib import sha256

from rookery.export.html.page import style

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
}
TRANSCRIPT = "style.css"
"""The looks of blocks: the exported file has the same."""


@cache
def files() -> dict[str, bytes]:
    place = os.path.dirname(__file__)
    found = {TRANSCRIPT: style().encode()}
    for name in sorted(os.listdir(place)):
        if os.path.splitext(name)[1] in TYPES:
            with open(os.path.join(place, name), "rb") as file:
                found[name] = file.read()
    return found


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
