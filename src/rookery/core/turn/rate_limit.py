"""A provider's rate limit: how to recognize it, until when it applies, and when to resend the
prompt automatically.

A reset time is the agent's own or unknown, never invented."""

import re
from datetime import UTC, datetime, timedelta
from math import inf
from typing import Any

from rookery.core.clock_slip import CLOCK_SLIP
from rookery.core.header import Header
from rookery.core.json import Json, lenient
from rookery.core.limits import Policy
from rookery.core.vendors.errors import error_words

ORIGIN = "auto_resume"
BY = "rule:rate_limit_auto_resume"

MILLISECONDS = 100_000_000_000
"""A greater number of an agent's counts milliseconds (as seconds, it is of the year 5138)."""

_STATUS = re.compile(
    r"\b(?:error code|status(?: code)?|http(?:/[\d.]+)?)\W{0,3}429\b|\b429\W{1,3}too many requests"
    r"|\bratelimiterror\b",
    re.IGNORECASE,
)
"""A provider's own words, which many agents hand on in an error of any code."""
_IN_WORDS = re.compile(r'"resetsAt"\s*:\s*(?:"([^"]{1,40})"|(\d{1,15}))')


_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_SPAN = r"(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|in(?:ute)?s?|ec(?:ond)?s?)?\b"
_IN = re.compile(rf"(?:try again|retry|resets?) in ((?:{_SPAN}(?:,|\s|and)*)+)", re.IGNORECASE)
_AT = re.compile(
    r"(?:try again at|resets?(?: at)?) (?:(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})(?:st|nd|rd|th)?"
    r"(?:,? (?P<year>\d{4}))?,? (?:at )?)?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?"
    r" ?(?P<half>[AP]M\b)?(?: \((?P<zone>[\w/+-]+)\))?",
    re.IGNORECASE,
)
"""A reset in words: `in 2 hours 5 minutes`, `at 3:05 PM`, `at Nov 20th, 2026 3:05 PM` (codex);
`resets 3pm (Europe/Berlin)`, `resets Nov 20, 3pm (UTC)` (claude; the zone is the machine's)."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CODEX = ("usageLimitExceeded", "rateLimitExceeded")


def is_limit(error: Json) -> bool:
    data = lenient.mapping(error, "data")
    message = lenient.text(error, "message").replace(" ", "")
    limited = lenient.text(data, "errorKind") == "rate_limit"
    limited = (
        limited or '"errorKind":"rate_limit"' in message or data.get("codexErrorInfo") in _CODEX
    )
    return limited or _STATUS.search(error_words(error)) is not None


def dated(error: Json, now: datetime) -> Json:
    """Return a rate limit error with its reset time as a field, if only its message says it. `now`:
    in the time zone of the agent's clock."""
    data = lenient.mapping(error, "data")
    if "resetsAt" in data or "retryAfter" in data or not is_limit(error):
        return error
    message = error_words(error)
    at = None if _IN_WORDS.search(message) else _reset(message, now)
    if at is None:
        return error
    kept = data or ({"message": error["data"]} if isinstance(error.get("data"), str) else {})
    return {**error, "data": {**kept, "resetsAt": at.isoformat(timespec="seconds")}}


def _reset(message: str, now: datetime) -> datetime | None:
    try:
        if match := _IN.search(message):
            spans = re.findall(_SPAN, match[1], re.IGNORECASE)
            wait = sum((_span(*each) for each in spans), timedelta())
            return now + wait if wait < timedelta(days=366) else None
        match = _AT.search(message)
        return _clock_time(match, now) if match and (match["minute"] or match["half"]) else None
    except (ValueError, OverflowError):  # the 31st of February
        return None


def _clock_time(match: re.Match[str], now: datetime) -> datetime:
    """Return the time that a message names. Raises ValueError if there is no such time."""
    if (match["zone"] or "").upper() in ("UTC", "GMT"):
        now = now.astimezone(UTC)
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "pm" else 0)
    at = now.replace(hour=hour, minute=int(match["minute"] or 0), second=0, microsecond=0)
    if not match["month"]:
        return at if at >= now - timedelta(minutes=1) else at + timedelta(days=1)
    month = _MONTHS.index(match["month"].lower()) + 1
    at = at.replace(year=int(match["year"] or at.year), month=month, day=int(match["day"]))
    over = not match["year"] and at < now - timedelta(days=1)
    return at.replace(year=at.year + 1) if over else at


def _span(number: str, unit: str) -> timedelta:
    return timedelta(**{_UNITS[unit.lower()]: int(number)})


def limit_of(error: Json, prompt: tuple[Json, ...], resumed: int) -> Json:
    """Return the `_rate_limit` update for a prompt that met a limit. `resumed`: how often it was
    resent automatically."""
    data, message = lenient.mapping(error, "data"), error_words(error)
    given: Json = {key: data[key] for key in ("resetsAt", "retryAfter") if key in data}
    if not given and (match := _IN_WORDS.search(message)):
        given["resetsAt"] = match[1] or int(match[2])
    update: Json = {"sessionUpdate": "_rate_limit", "message": message, **given}
    update |= {"prompt": list(prompt)} if prompt else {}
    return update | ({"resumed": resumed} if resumed else {})


def resume_at(header: Header, policy: Policy, now: float = inf) -> float | None:
    """Return when the prompt that met the limit is sent again, in milliseconds since the epoch;
    None if it is not. If the limit was met by a clock ahead of this one, only the reset time
    counts."""
    limit, wanted = header.rate_limit, policy.rate_limit_auto_resume or header.resumes
    if not wanted or limit is None or header.state != "idle":
        return None
    if header.reason != "rate_limited" or not limit.get("prompt"):
        return None
    since = header.since if header.since <= now + CLOCK_SLIP else 0
    reset = reset_of(limit, since)
    if reset is None or (lenient.integer(limit, "resumed") or 0) >= policy.rate_limit_most:
        return None
    soonest = float(since) + policy.rate_limit_least * 1000
    return max(reset + policy.rate_limit_grace * 1000, soonest)


def can_wait(header: Header) -> bool:
    """Return whether a session has a prompt to send again, and a time to do so."""
    limit = header.rate_limit
    if limit is None or header.reason != "rate_limited" or not limit.get("prompt"):
        return False
    return reset_of(limit, header.since) is not None


def reset_of(limit: Json, since: int) -> float | None:
    """Return when the limit is lifted, in milliseconds since the epoch; None if the agent did not
    say."""
    given = epoch_of(limit.get("resetsAt"))
    wait = lenient.number(limit, "retryAfter")
    if given is None and wait is not None and wait >= 0:
        return since + wait * 1000
    return given


def limited_until(header: Header) -> int:
    """Return when the limit is lifted, for lists; 0 if the last turn met none, or the agent did not
    say."""
    if header.state != "idle" or header.reason != "rate_limited":
        return 0
    return int(reset_of(header.rate_limit or {}, header.since) or 0)


def epoch_of(value: Any) -> float | None:
    """Parse seconds, milliseconds or an ISO 8601 time with a zone; return milliseconds since the
    epoch."""
    if isinstance(value, str):
        value = value.strip()[:40]
        if not (value.isascii() and value.isdecimal()):
            return _from_iso(value)
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        return None
    return float(value if value >= MILLISECONDS else value * 1000)


def _from_iso(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return moment.timestamp() * 1000 if moment.tzinfo else None
