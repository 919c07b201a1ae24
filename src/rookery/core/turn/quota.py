"""Agents' quota reports, in one shape: a window, the share of it that is used, and when it resets.

Each vendor has its own: claude-agent-acp sends `_meta["_claude/rateLimit"]` with its usage, Codex
has `rateLimits` with a primary and a secondary window, Rookery's own agent sends `limits` in
`_meta.rookery` (its provider's response headers), and any agent may meet a limit (`_rate_limit`). A
report replaces the last one about its window. A value out of bounds counts as missing: a wrong
clock or a wrong unit must not look like a quota."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rookery.core.header import Header, Shown
from rookery.core.json import Event, Json, kind_of, lenient
from rookery.core.json.safe_text import clean_line
from rookery.core.turn.rate_limit import epoch_of, reset_of
from rookery.core.units import duration

WARN = 0.75
"""From this share on, a window is worth a word in a status line."""

MAX_WINDOWS = 12
MAX_NAME = 40

DAY = 86_400_000
EARLIEST = 1_000_000_000_000
"""September 2001, in milliseconds: an earlier time is no reset, but a wrong unit."""
FURTHEST = 366 * DAY
"""No window lasts longer."""
STALE = DAY
"""So old, a report says nothing any more where it does not say when it resets."""

ANY = "rate limit"
"""The window of a limit that was met, where the agent does not name one."""

_NAMED = re.compile(r"\b(?:(\d{1,2})-hour|(daily|weekly|monthly)) (?:usage )?limit", re.IGNORECASE)
_NAMES = {
    "five_hour": "5 h",
    "seven_day": "weekly",
    "seven_day_opus": "weekly (Opus)",
    "seven_day_sonnet": "weekly (Sonnet)",
    "overage": "extra usage",
}
_WEEK, _HOURS = 7 * 24 * 60, 5 * 60
_KINDS = ("usage_update", "session_info_update")
"""Updates that may bring a report."""


class Window(NamedTuple):
    name: str
    used: float | None = None
    """From 0 to 1; None: not told."""
    resets: int | None = None
    """Milliseconds of the epoch; None: not told."""
    limited: bool = False
    """It is used up: requests are refused."""
    at: int = 0
    """When it was reported."""

    @property
    def text(self) -> str:
        """The window's state as text: `5 h 82 %`; `weekly used up`."""
        if self.limited:
            return f"{self.name} reached" if self.name == ANY else f"{self.name} used up"
        return self.name if self.used is None else f"{self.name} {round(self.used * 100)} %"

    def as_json(self) -> Json:
        """Return the window as lists and programs get it."""
        return {"window": self.name, **self._kept()}

    def _kept(self) -> Json:
        return {"used": self.used, "resets": self.resets, "limited": self.limited, "at": self.at}


# --- in the header -----------------------------------------------------------------------------


def after(header: Header, event: Event) -> Json:
    """Return the fields of a header that an event changes: its windows by name, as last
    reported."""
    over = kind_of(event.update) == "_turn" and event.update.get("reason") == "end_turn"
    reported = [] if over else list(_reported(event))[:MAX_WINDOWS]
    if not over and not reported:
        return {}
    known: Json = {**header.limits}
    if over:
        return {"limits": known} if known.pop(ANY, None) else {}  # it is lifted
    for window in reported:
        known.pop(window.name, None)
        known[window.name] = window._kept()
    kept = dict(list(known.items())[-MAX_WINDOWS:])
    return {"limits": kept} if kept != header.limits else {}


def windows(header: Shown) -> list[Window]:
    """Return the windows in a header, or in a head of a list; those of earlier builds have none."""
    parsed = []
    for name, entry in header.limits.items():
        used, limited = (
            _share(entry, "used"),
            isinstance(entry, dict) and entry.get("limited") is True,
        )
        resets, at = lenient.integer(entry, "resets"), lenient.integer(entry, "at") or 0
        parsed.append(Window(clean_line(str(name))[:MAX_NAME], used, resets, limited, at))
    return parsed


def current(header: Shown, now: float) -> list[Window]:
    """Return the windows that still hold: not reset, and not reported long ago."""
    return [each for each in windows(header) if holds(each, now)]


def pressing(header: Header, now: float) -> Window | None:
    """Return the window that is closest to being used up, if it is close; None if there is no need
    to look, or the session's state already says that it is limited."""
    if header.state == "idle" and header.reason == "rate_limited":
        return None
    near = [each for each in windows(header) if is_pressing(each, now)]
    return max(near, key=lambda each: (each.limited, each.used or 0), default=None)


def is_pressing(window: Window, now: float) -> bool:
    return holds(window, now) and (window.limited or (window.used or 0) >= WARN)


def holds(window: Window, now: float) -> bool:
    if window.resets is not None:
        return window.resets > now
    return now - window.at < STALE


# --- as agents say it --------------------------------------------------------------------------


def _reported(event: Event) -> Iterator[Window]:
    update = event.update
    if kind_of(update) == "_rate_limit":
        reset = _reset(reset_of(update, event.at), event.at)
        named = _NAMED.search(lenient.text(update, "message")) if reset is not None else None
        name = ANY if named is None else f"{named[1]} h" if named[1] else named[2].lower()
        yield Window(name, None, reset, limited=True, at=event.at)
        return
    meta = update.get("_meta")
    if kind_of(update) not in _KINDS or not isinstance(meta, dict):
        return
    if claude := lenient.mapping(meta, "_claude/rateLimit"):
        yield from _claude(claude, event.at)
    for report in meta.values():
        if isinstance(report, dict):
            yield from _codex(lenient.mapping(report, "rateLimits") or report, event.at)
    for report in lenient.mappings(meta.get("rookery"), "limits"):
        yield from _own(report, event.at)


def _claude(report: Json, at: int) -> Iterator[Window]:
    """Yield all windows that a report lists, then the one that the report is about."""
    for kind, each in lenient.mapping(report, "unifiedWindows").items():
        if isinstance(each, dict):
            yield from _claudes_window(str(kind), each, at)
    yield from _claudes_window(lenient.text(report, "rateLimitType"), report, at)


def _claudes_window(kind: str, report: Json, at: int) -> Iterator[Window]:
    name = _NAMES.get(kind) or _clean(kind.replace("_", " ")) or "plan"
    used = _share(report, "utilization")
    reset = _reset(epoch_of(report.get("resetsAt")), at)
    status = lenient.text(report, "status")
    if status or used is not None:
        yield Window(name, used, reset, status == "rejected", at)


def _codex(report: Json, at: int) -> Iterator[Window]:
    for key in ("primary", "secondary"):
        window = lenient.mapping(report, key)
        used = _percent(_first(window, "usedPercent", "used_percent"))
        if used is None:
            continue
        minutes = lenient.number(window, "windowDurationMins")
        minutes = lenient.number(window, "window_minutes") if minutes is None else minutes
        reset = _reset(epoch_of(_first(window, "resetsAt", "resets_at")), at)
        yield Window(_lasting(minutes) or key, used, reset, used >= 1, at)


def _own(report: Json, at: int) -> Iterator[Window]:
    name, used = _clean(lenient.text(report, "window")), _share(report, "used")
    if name and used is not None:
        reset = _reset(epoch_of(report.get("resetsAt")), at)
        yield Window(name, used, reset, used >= 1, at)


def _lasting(minutes: float | None) -> str:
    if minutes is None or not 0 < minutes < 60 * 24 * 366:
        return ""
    if abs(minutes - _WEEK) <= 1:
        return _NAMES["seven_day"]
    return _NAMES["five_hour"] if abs(minutes - _HOURS) <= 1 else duration(round(minutes) * 60)


def _first(fields: Json, *keys: str) -> object:
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def _share(fields: object, key: str) -> float | None:
    """Return a share from 0 to 1. Some agents count to 100: a number over 2 is one of those; a
    little over 1 is overdrawn."""
    number = lenient.number(fields, key)
    if number is None or not 0 <= number <= 1000:
        return None
    return min(1.0, number if number <= 2 else number / 100)


def _percent(value: object) -> float | None:
    number = lenient.number({"value": value}, "value")
    return min(1.0, number / 100) if number is not None and 0 <= number <= 1000 else None


def _reset(at: float | None, reported: int) -> int | None:
    """Return the reset time; None also if it is impossible: before such limits existed, or further
    ahead than any window lasts. A time in the past is kept: its window has reset."""
    if at is None or at < EARLIEST or at > reported + FURTHEST:
        return None
    return int(at)


def _clean(name: str) -> str:
    return clean_line(name).strip()[:MAX_NAME]


# --- of many sessions --------------------------------------------------------------------------


class Report(NamedTuple):
    """The newest report on a window of one agent's account, as far as accounts can be told
    apart."""

    agent: str
    account: str
    """Of Rookery's own agent, the model; another's account is not known."""
    window: Window
    session: str

    @property
    def who(self) -> str:
        return f"{self.agent} ({self.account})" if self.account else self.agent

    def as_json(self) -> Json:
        fields: Json = {"agent": self.agent, "account": self.account, **self.window.as_json()}
        return fields | {"session": self.session}


def report_of(payload: Json) -> Report:
    """Parse a report from another machine's daemon."""
    name, at = lenient.text(payload, "window"), lenient.integer(payload, "at") or 0
    used, resets = _share(payload, "used"), _reset(lenient.number(payload, "resets"), at)
    window = Window(_clean(name), used, resets, payload.get("limited") is True, at)
    agent, account = lenient.text(payload, "agent"), lenient.text(payload, "account")
    return Report(agent, account, window, lenient.text(payload, "session"))


def newest(heads: Iterable[Shown], own: str) -> list[Report]:
    """Return the newest report on each window, by agent. `own`: the name of Rookery's own agent."""
    reports: dict[tuple[str, str, str], Report] = {}
    for head in heads:
        agent = head.agent
        account = head.model if agent == own else ""
        for window in windows(head):
            key = (agent, account, window.name)
            before = reports.get(key)
            if before is None or before.window.at < window.at:
                reports[key] = Report(agent, account, window, head.id)
    return [reports[key] for key in sorted(reports)]
