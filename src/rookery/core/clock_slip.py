"""Guarding against times from a clock that ran ahead: they neither snooze nor keep a session."""

from rookery.core.json import Json, lenient

CLOCK_SLIP = 300_000
"""Milliseconds by which clocks may differ. A time that is further ahead is a wrong clock's."""


def is_snoozed(about: Json, now: float) -> bool:
    """Whether a header or head is snoozed until a later time (in milliseconds of the epoch,
    compared by the reader). A snooze set by a clock that is ahead of this one does not count."""
    begun = lenient.integer(about, "snoozedAt") or 0  # the head of an earlier build has none
    return bool(about.get("snoozed", 0) > now and begun <= now + CLOCK_SLIP)
