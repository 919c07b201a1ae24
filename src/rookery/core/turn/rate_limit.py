"""A provider's rate limit: how it is known, until when it holds, and when to try again by itself.

A reset time is the agent's own or unknown, never invented.
"""

import re
from datetime import datetime
from math import inf
from typing import Any

from rookery.core.clock_slip import CLOCK_SLIP
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


def is_limit(error: Json) -> bool:
    kind = lenient.text(lenient.mapping(error, "data"), "errorKind")
    words = lenient.text(error, "message").replace(" ", "")
    told = kind == "rate_limit" or '"errorKind":"rate_limit"' in words
    return told or _STATUS.search(error_words(error)) is not None


def limit_of(error: Json, prompt: tuple[Json, ...], resumed: int) -> Json:
    """The `_rate_limit` of a prompt that met it; `resumed`: how often it was resent by itself."""
    data, message = lenient.mapping(error, "data"), error_words(error)
    given: Json = {key: data[key] for key in ("resetsAt", "retryAfter") if key in data}
    if not given and (found := _IN_WORDS.search(message)):
        given["resetsAt"] = found[1] or int(found[2])
    update: Json = {"sessionUpdate": "_rate_limit", "message": message, **given}
    update |= {"prompt": list(prompt)} if prompt else {}
    return update | ({"resumed": resumed} if resumed else {})


def resume_at(header: Json, policy: Policy, now: float = inf) -> float | None:
    """When the prompt that met the limit is sent once more, in milliseconds of the epoch; of one
    that was met by a clock that is ahead of this one, nothing else is known."""
    limit = header["rateLimit"]
    if not policy.rate_limit_auto_resume or limit is None or header["state"] != "idle":
        return None
    if header["reason"] != "rate_limited" or not limit.get("prompt"):
        return None
    since = header["since"] if header["since"] <= now + CLOCK_SLIP else 0
    reset = reset_of(limit, since)
    if reset is None or (lenient.integer(limit, "resumed") or 0) >= policy.rate_limit_most:
        return None
    soonest = float(since) + policy.rate_limit_least * 1000
    return max(reset + policy.rate_limit_grace * 1000, soonest)


def reset_of(limit: Json, since: int) -> float | None:
    """When the limit is lifted, in milliseconds of the epoch; None where the agent did not say."""
    given = epoch_of(limit.get("resetsAt"))
    wait = lenient.number(limit, "retryAfter")
    if given is None and wait is not None and wait >= 0:
        return since + wait * 1000
    return given


def limited_until(header: Json) -> int:
    """For lists: 0 where the last turn met no limit, or the agent did not say."""
    if header["state"] != "idle" or header["reason"] != "rate_limited":
        return 0
    return int(reset_of(header["rateLimit"] or {}, header["since"]) or 0)


def epoch_of(value: Any) -> float | None:
    """Milliseconds of the epoch: from seconds, milliseconds, or a time of ISO 8601 with a zone."""
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
        found = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return found.timestamp() * 1000 if found.tzinfo else None
