"""Times of a clock that was ahead of ours: nothing is put away or kept on account of them."""

from rookery.core.json import Json, lenient

CLOCK_SLIP = 300_000
"""Milliseconds by which clocks may differ. A time that is further ahead is a wrong clock's."""


def is_snoozed(about: Json, now: float) -> bool:
    """Of a header or a head: put away until a time, in milliseconds of the epoch; the reader
    compares. Not by a clock that is ahead of this one."""
    begun = lenient.integer(about, "snoozedAt") or 0  # the head of an earlier build has none
    return bool(about.get("snoozed", 0) > now and begun <= now + CLOCK_SLIP)
