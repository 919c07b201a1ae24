"""Times in the user's own zone: logs and agents write them in any."""

from datetime import UTC, datetime

from rookery.core.blocks import Block
from rookery.core.json import lenient


def clock_time(at: float, now: float) -> str:
    """`17:40`; on another day than `now`, `Tue 17 Nov, 17:40`; in another year, `1 Jan 2030,
    00:00`. Both in milliseconds."""
    try:
        then, today = (_local(each) for each in (at, now))
    except (ValueError, OverflowError, OSError):
        return ""
    if then.date() == today.date():
        return f"{then:%H:%M}"
    if then.year != today.year:
        return f"{then.day} {then:%b %Y, %H:%M}"
    return f"{then:%a} {then.day} {then:%b, %H:%M}"


def _local(milliseconds: float) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone()


def localized(block: Block, now: float) -> str:
    """A block's text, with the reset of a rate limit as the user's clock shows it."""
    text, at = str(block["text"]), lenient.number(block, "resets")
    said = lenient.text(block, "resetsSaid")
    if at is None or not said or not (local := clock_time(at, now)):
        return text
    return text.replace(said, f"Resets {'at ' if len(local) == len('17:40') else ''}{local}", 1)
