"""Guarding against times from a clock that ran ahead: they neither snooze nor keep a session."""

from rookery.core.header import Shown

CLOCK_SLIP = 300_000
"""Milliseconds by which clocks may differ. A time that is further ahead is a wrong clock's."""


def is_snoozed(about: Shown, now: float) -> bool:
    """Whether a header or head is snoozed until a later time (in milliseconds of the epoch,
    compared by the reader). A snooze set by a clock that is ahead of this one does not count."""
    return about.snoozed > now and about.snoozed_at <= now + CLOCK_SLIP
