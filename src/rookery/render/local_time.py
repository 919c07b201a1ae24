"""Times in the user's time zone, and ages, formatted the same way in every face."""

import time
from datetime import UTC, datetime

from rookery.core.blocks import Block
from rookery.core.json import lenient


def clock_time(at: float, now: float) -> str:
    """Format `17:40`; on another day than `now`, `Tue 17 Nov, 17:40`; in another year, `1 Jan 2030,
    00:00`. Both are in milliseconds."""
    try:
        then, today = (_local(each) for each in (at, now))
    except (ValueError, OverflowError, OSError):
        return ""
    if then.date() == today.date():
        return f"{then:%H:%M}"
    if then.year != today.year:
        return f"{then.day} {then:%b %Y, %H:%M}"
    return f"{then:%a} {then.day} {then:%b, %H:%M}"


UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
WEEK, LONG_AGO = 7 * 86_400, 300 * 86_400


def age(at: float, now: float) -> str:
    """Format `12 s`, `4 min`, `3 h`, `2 d`; after a week `12 Mar`, after most of a year `Mar 2024`.
    Both are in milliseconds."""
    seconds = max(0, int(now - at)) // 1000
    if seconds < WEEK:
        texts = (f"{seconds // size} {unit}" for size, unit in UNITS if seconds >= size)
        return next(texts, "0 s")
    return day_of(at) if seconds < LONG_AGO else time.strftime("%b %Y", time.localtime(at / 1000))


def ago(at: float, now: float) -> str:
    """Format `4 min ago`; after a week, the day."""
    return f"{age(at, now)} ago" if now - at < 1000 * WEEK else age(at, now)


def day_of(at: float) -> str:
    """Format a day as `2 Dec`."""
    day = time.localtime(at / 1000)
    return f"{day.tm_mday} {time.strftime('%b', day)}"


def day_and_time(at: float) -> str:
    """Format a time as `2 Dec 17:40`."""
    return f"{day_of(at)} {time.strftime('%H:%M', time.localtime(at / 1000))}"


def _local(milliseconds: float) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone()


def localized(block: Block, now: float) -> str:
    """Return a block's text, with the reset of a rate limit in the user's local time."""
    text, at = str(block["text"]), lenient.number(block, "resets")
    sentence = lenient.text(block, "resetsSaid")
    if at is None or not sentence or not (local := clock_time(at, now)):
        return text
    when = "at" if len(local) == len("17:40") else "on"
    return text.replace(sentence, f"The limit resets {when} {local}", 1)
