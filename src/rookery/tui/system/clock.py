"""The clock; tests pass their own."""

import time

FRAME = 250
"""Milliseconds of one picture of what turns."""


def now() -> int:
    """Return the milliseconds since 1970."""
    return time.time_ns() // 1_000_000
