"""Points in time as users write them: 2h, 09:00, tomorrow 09:00, 2030-01-31 or 2030-01-31T09:00."""

import re
from datetime import datetime, timedelta

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DAYS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M")

LIKE = "a time like 2h, 09:00, tomorrow 09:00 or 2030-01-31"
PAST = "a time like 12h, 30d or 2030-01-31"


def read(text: str, now: datetime) -> int:
    """Parse a point in time; return milliseconds since the epoch. A time without a day is the next
    one. Raises ValueError if it cannot be read, or has passed; the message completes a sentence
    that begins with a name."""
    moment = _read(" ".join(text.split()), now)
    if moment is None:
        raise ValueError(f"must be {LIKE}")
    if moment <= now:
        raise ValueError("must be in the future")
    return int(moment.timestamp() * 1000)


def read_past(text: str, now: datetime) -> int:
    """Parse a past point in time; a span is counted back from now. Raises ValueError."""
    text = " ".join(text.split())
    span = _SPAN.fullmatch(text)
    moment = _later(now, -_seconds(span)) if span else _of_day(text, now)
    if moment is None:
        raise ValueError(f"must be {PAST}")
    return max(0, int(moment.timestamp() * 1000))


def _seconds(span: re.Match[str]) -> float:
    return float(span[1]) * _SECONDS[span[2].lower()]


def _read(text: str, now: datetime) -> datetime | None:
    if (span := _SPAN.fullmatch(text)) is not None:
        return _later(now, _seconds(span))
    day, tomorrow, clock = text.partition("tomorrow ")
    if tomorrow and not day:
        parsed = _parsed(clock, "%H:%M")
        return parsed and _at(now, parsed) + timedelta(days=1)
    if (parsed := _parsed(text, "%H:%M")) is not None:
        due = _at(now, parsed)
        return due if due > now else due + timedelta(days=1)
    return _of_day(text, now)


def _of_day(text: str, now: datetime) -> datetime | None:
    known = [parsed for form in _DAYS if (parsed := _parsed(text, form)) is not None]
    return known[0].astimezone(now.tzinfo) if known else None


def _at(day: datetime, clock: datetime) -> datetime:
    return day.replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0)


def _later(now: datetime, seconds: float) -> datetime | None:
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _parsed(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007 - local, as users mean it
    except ValueError:
        return None


def spelled(moment: int, now: datetime) -> str:
    """Format a moment for users."""
    return f"{datetime.fromtimestamp(moment / 1000, now.tzinfo):%Y-%m-%d %H:%M}"
