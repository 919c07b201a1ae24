"""The counters and histograms that the daemon keeps while it runs, one set per process."""

from bisect import bisect_left
from itertools import accumulate

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: the buckets of every histogram."""


class Counter:
    """A counter by one label, which has few values, all of our own choosing."""

    def __init__(self, name: str, description: str, label: str = "") -> None:
        self.name = name
        self.description = description
        self.label = label
        self.values: dict[str, int] = {} if label else {"": 0}

    def add(self, value: str = "") -> None:
        self.values[value] = self.values.get(value, 0) + 1


class Histogram:
    def __init__(self, name: str, description: str) -> None:
        self.name = name
        self.description = description
        self.sum = 0.0
        self._buckets = [0] * (len(BOUNDS) + 1)

    def observe(self, seconds: float) -> None:
        seconds = max(0.0, seconds)  # a clock may have been set back
        self._buckets[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds

    def cumulative(self) -> list[int]:
        """Return how many observations were at most each of BOUNDS; the last number counts all."""
        return list(accumulate(self._buckets))


RESPONSES = Counter("rookery_http_responses_total", "Answers to requests, by status.", "code")
BUGS = Counter("rookery_bugs_total", "Requests that met an error which nothing expected.")
FAILURES = Counter(
    "rookery_background_failures_total", "Rounds of background work that failed.", "task"
)
UNDELIVERED = Counter("rookery_notifications_failed_total", "Notifications not delivered.", "way")
LAGS = Counter("rookery_stream_lags_total", "Topics dropped because a client did not keep up.")
COUNTERS = (RESPONSES, BUGS, FAILURES, UNDELIVERED, LAGS)

RESPONSE_DELAY = Histogram(
    "rookery_http_response_delay_seconds", "From a request to the first byte of its answer."
)
STREAM_DELAY = Histogram(
    "rookery_stream_delay_seconds", "From an event in a watched session to its sending."
)
LOOK_SECONDS = Histogram("rookery_look_seconds", "One look at all sessions.")
LOOP_DELAY = Histogram("rookery_loop_delay_seconds", "How late the daemon's event loop ran.")
HISTOGRAMS = (RESPONSE_DELAY, STREAM_DELAY, LOOK_SECONDS, LOOP_DELAY)
