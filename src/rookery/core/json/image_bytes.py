"""Detecting an image's type and size from its bytes alone, whatever the sender calls it. Only types
that browsers show safely; never SVG, which is a document of its own."""

from typing import NamedTuple

KINDS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

MOST_PIXELS = 50_000_000
"""A decoded pixel takes four bytes: a small file of a larger picture could use up a browser's
memory. The screen of a film has 33 million."""

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset([0x01, *range(0xD0, 0xDA)])


class Picture(NamedTuple):
    kind: str
    width: int
    height: int

    @property
    def refusal(self) -> str:
        """Why the picture is not shown; "" if it is."""
        large = self.width * self.height > MOST_PIXELS
        return f"too large to show: {self.width:,} × {self.height:,}" if large else ""


def look_at(data: bytes) -> Picture | None:
    """Return the picture's type and size, or None if it cannot be shown or is damaged."""
    kind = type_of(data)
    size = _SIZES[kind](data) if len(data) >= _HEADS.get(kind, len(data) + 1) else None
    return Picture(kind, *size) if size is not None and all(size) else None


def type_of(data: bytes) -> str:
    """Return the MIME type of an image; "" if it is none that can be shown."""
    if data.startswith(PNG):
        return "image/png"
    if data.startswith(JPEG):
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _png(data: bytes) -> tuple[int, int] | None:
    return (_big(data[16:20]), _big(data[20:24])) if data[12:16] == b"IHDR" else None


def _gif(data: bytes) -> tuple[int, int]:
    return _little(data[6:8]), _little(data[8:10])


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Return the size in the first frame. The segments before it have their own lengths."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        if marker == 0xFF:  # padding
            at += 1
        else:
            at += 2 + (0 if marker in _ALONE else max(2, _big(data[at + 2 : at + 4])))
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + _little(data[24:27]), 1 + _little(data[27:30])
        case b"VP8L" if data[20:21] == b"\x2f":
            bits = _little(data[21:25])
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
    return None


def _big(data: bytes) -> int:
    return int.from_bytes(data)


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


_HEADS = {"image/png": 24, "image/jpeg": 11, "image/gif": 10, "image/webp": 30}
"""Bytes that a size is read from."""
_SIZES = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
