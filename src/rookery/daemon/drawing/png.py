"""Rendering the logo as a PNG: phones accept no SVG as the icon of a page."""

import struct
import zlib
from functools import cache
from itertools import pairwise

SIDE = 24
"""The mark's own units."""
GROUND, STROKE = (0x14, 0x17, 0x1A), (0x4F, 0xC3, 0xCB)
WIDTH = 0.85
"""Half of a stroke's."""
STEPS = 10
"""Straight pieces of a curve."""

type Point = tuple[float, float]

STROKES: tuple[tuple[Point, ...], ...] = (
    # Beak to tail: curves of four points each, end to end.
    (
        *((2, 20), (5, 19.6), (7.4, 18), (8.6, 15.6)),
        *((9.7, 13.2), (10.9, 10.9), (12, 8.5)),
        *((13, 6), (14.6, 4.5), (17, 4.5)),
        *((18.6, 4.5), (19.9, 5.4), (20.3, 6.8)),
        *((21.2, 7.2), (22.1, 7.6), (23, 8)),
        *((22.1, 8.4), (21.3, 8.8), (20.4, 9.2)),
        *((20.2, 14.2), (17, 17.5), (12, 17.5)),
        *((11, 17.5), (10, 17.5), (9, 17.5)),
    ),
    ((11.5, 12), (12.1, 13.7), (13.5, 14.6), (15.5, 14.6)),
    ((13, 17.5), (13, 18.7), (13, 19.8), (13, 21)),
    ((10.5, 21), (12, 21), (13.5, 21), (15, 21)),
)


@cache
def touch_icon(size: int = 180) -> bytes:
    """Render the icon on a full square; the phone rounds its corners."""
    scale, margin = size * 0.72 / SIDE, size * 0.14
    lines = [
        tuple((x * scale + margin, y * scale + margin) for x, y in ends)
        for points in STROKES
        for ends in pairwise(_curve(points))
    ]
    reach = WIDTH * scale
    cover = [0.0] * (size * size)
    for (ax, ay), (bx, by) in lines:
        for y in range(
            max(0, int(min(ay, by) - reach - 1)), min(size, int(max(ay, by) + reach + 2))
        ):
            for x in range(
                max(0, int(min(ax, bx) - reach - 1)), min(size, int(max(ax, bx) + reach + 2))
            ):
                near = reach + 0.5 - _distance(x + 0.5, y + 0.5, ax, ay, bx, by)
                at = y * size + x
                cover[at] = max(cover[at], min(1.0, near))
    rows = b"".join(
        b"\0" + b"".join(_mixed(share) for share in cover[y * size : (y + 1) * size])
        for y in range(size)
    )
    head = struct.pack("!IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _curve(points: tuple[Point, ...]) -> list[Point]:
    """Return the points of consecutive Bézier curves of four points, each beginning where the last
    one ended."""
    curve = [points[0]]
    for first in range(0, len(points) - 1, 3):
        a, b, c, d = points[first : first + 4]
        for step in range(1, STEPS + 1):
            t = step / STEPS
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            curve.append(
                (
                    sum(w * p[0] for w, p in zip(weights, (a, b, c, d), strict=True)),
                    sum(w * p[1] for w, p in zip(weights, (a, b, c, d), strict=True)),
                )
            )
    return curve


def _distance(x: float, y: float, ax: float, ay: float, bx: float, by: float) -> float:
    """Return the distance from a point to a line segment."""
    dx, dy = bx - ax, by - ay
    long = dx * dx + dy * dy
    t = 0.0 if not long else max(0.0, min(1.0, ((x - ax) * dx + (y - ay) * dy) / long))
    return float(((x - ax - t * dx) ** 2 + (y - ay - t * dy) ** 2) ** 0.5)


def _mixed(share: float) -> bytes:
    share = max(0.0, share)
    return bytes(round(a + (b - a) * share) for a, b in zip(GROUND, STROKE, strict=True))


def _chunk(name: bytes, data: bytes) -> bytes:
    check = zlib.crc32(name + data)
    return struct.pack("!I", len(data)) + name + data + struct.pack("!I", check)
