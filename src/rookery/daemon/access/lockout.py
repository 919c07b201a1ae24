"""Too many wrong guesses from one address: it has to wait. Time is an argument.

Behind a proxy all come from its address, so the one that the proxy says counts; since a careless
proxy passes on what the client claims, more guesses than a few people make close the door to all.
"""

from collections import deque

MOST = 5
MOST_THROUGH_PROXY = 100
"""Of all clients behind it."""
WINDOW = 15 * 60.0
"""Seconds in which so many failures close the door, and for which it stays closed."""
ADDRESSES = 10_000
"""Remembered at most: a flood of addresses does not fill the memory."""


class Lockout:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._failures: dict[str, deque[float]] = {}

    def seconds_left(self, address: str, now: float) -> float:
        """0: it may try."""
        failures = self._recent(address, now)
        return max(0.0, failures[0] + WINDOW - now) if len(failures) >= self._most else 0.0

    def failed(self, address: str, now: float) -> None:
        if address not in self._failures and len(self._failures) >= ADDRESSES:
            oldest = min(self._failures, key=lambda each: self._failures[each][-1])
            del self._failures[oldest]
        failures = self._recent(address, now)
        failures.append(now)
        self._failures[address] = failures

    def succeeded(self, address: str) -> None:
        self._failures.pop(address, None)

    def _recent(self, address: str, now: float) -> deque[float]:
        failures = self._failures.get(address) or deque[float](maxlen=self._most)
        while failures and failures[0] + WINDOW <= now:
            failures.popleft()
        if not failures:
            self._failures.pop(address, None)
        return failures
