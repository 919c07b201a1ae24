"""What a screen says around the transcript and the session list, counted in words."""

import re

from textual.pilot import Pilot

LETTER = re.compile(r"[^\W\d_]")
"""A token without one is a sign or a number."""


def around(pilot: Pilot[str]) -> list[str]:
    """The painted rows, without the transcript and the list."""
    screen = pilot.app.screen
    rows = [list(strip.text) for strip in screen._compositor.render_strips()]
    for name in ("#transcript", "#fleet"):
        region = screen.query_one(name).region
        for y in range(region.y, region.bottom):
            rows[y][region.x : region.right] = " " * region.width
    return ["".join(row) for row in rows]


def words(pilot: Pilot[str]) -> list[str]:
    return [token for row in around(pilot) for token in row.split() if LETTER.search(token)]
