"""Embedding images in the exported file: only types that browsers display safely, checked by their
first bytes and limited in size."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from rookery.core.json import lenient
from rookery.core.json.image_bytes import look_at

LARGEST = 5 * 1024 * 1024
"""Bytes of one image."""

TOGETHER = 30 * 1024 * 1024
"""Bytes of all images of one file."""


class Images:
    """The images of one file, as data URIs."""

    def __init__(self, blob: Callable[[str], bytes | None], room: int = TOGETHER) -> None:
        self._blob = blob
        self._room = room

    def address(self, part: dict[str, Any]) -> str:
        """Return an image's data URI, or "" if it is missing, too large, or must not be shown."""
        name, size = lenient.text(part, "blob"), lenient.number(part, "bytes") or 0
        if not name or size > min(LARGEST, self._room):
            return ""
        data = self._blob(name) or b""
        picture = look_at(data)
        if picture is None or picture.refusal or len(data) > min(LARGEST, self._room):
            return ""
        self._room -= len(data)
        return f"data:{picture.kind};base64,{b64encode(data).decode()}"
