"""The web page's own assets: scripts, styles and icons, written by hand and served as they are but
for comments and indentation.

Their address contains a digest of all of them, so that browsers can cache them for ever and see a
new build at once."""

import os
import re
from functools import cache
from hashlib import sha256

from rookery.export.html.page import style

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
}
_COMMENT = re.compile(r"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*$", re.DOTALL | re.MULTILINE)
_REMARK = re.compile(r"(?<=[;{},)]) // [^\"'`\n]*$", re.MULTILINE)
_COLON = re.compile(r"([{;]\s*[\w-]+): ")
_LAST = re.compile(r";\s*}")
_BLANKS = re.compile(r"[ \t]*([{};,>])[ \t]*")
TRANSCRIPT = "style.css"
DARK = "dark.css"
"""Colours and the looks of blocks: the exported file has the same."""


@cache
def files() -> dict[str, bytes]:
    place = os.path.dirname(__file__)
    contents = {name: slim(name, style(name).encode()) for name in (TRANSCRIPT, DARK)}
    for name in sorted(os.listdir(place)):
        if os.path.splitext(name)[1] in TYPES:
            with open(os.path.join(place, name), "rb") as file:
                contents[name] = slim(name, file.read())
    return contents


def slim(name: str, body: bytes) -> bytes:
    """Strip what only developers read: indentation, and comments where they cannot be part of a
    string."""
    if name.endswith(".svg"):
        return body
    text = _COMMENT.sub("", body.decode())
    if name.endswith(".css"):
        text = _LAST.sub("}", _COLON.sub(r"\1:", _BLANKS.sub(r"\1", text)))
    else:
        text = _REMARK.sub("", text)
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//")).encode()


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
