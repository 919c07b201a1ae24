"""Rate limits for wrong guesses: whoever makes too many has to wait. Time is an argument.

A guess counts before it is checked, since a check takes a tenth of a second: of many simultaneous
guesses no more are checked than may fail. A correct guess is uncounted."""

import ipaddress
from collections import deque

MAX_GUESSES = 5
WINDOW = 15 * 60.0
"""Seconds in which so many failures close the door, and for which it stays closed."""
ADDRESSES = 10_000
"""Remembered at most: a flood of addresses does not fill the memory."""
BURST, EVERY = 100, 5.0
"""Guesses through a proxy: so many at once, then one in so many seconds."""


def network(address: str) -> str:
    """Return the network that an address is counted under: for IPv6 the first 64 bits, since one
    subscriber has the whole /64."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


class Lockout:
    """Counts failed guesses by network."""

    def __init__(self) -> None:
        self._guesses: dict[str, deque[float]] = {}

    def guess(self, address: str, now: float) -> float:
        """Count a guess. Return for how many seconds no guess may be made; 0 means that it may be
        checked."""
        place = network(address)
        guesses = self._recent(place, now)
        if len(guesses) >= MAX_GUESSES:
            return max(0.0, guesses[0] + WINDOW - now)
        if place not in self._guesses and len(self._guesses) >= ADDRESSES:
            oldest = min(self._guesses, key=lambda each: self._guesses[each][-1])
            del self._guesses[oldest]
        guesses.append(now)
        self._guesses[place] = guesses
        return 0.0

    def succeeded(self, address: str) -> None:
        self._guesses.pop(network(address), None)

    def _recent(self, place: str, now: float) -> deque[float]:
        guesses = self._guesses.get(place, deque())
        while guesses and guesses[0] + WINDOW <= now:
            guesses.popleft()
        return guesses


class Drip:
    """A common limit for all clients of a proxy: a careless proxy passes on whatever address a
    client claims, so a guesser can have any number. It slows all of them down and locks nobody out.
    """

    def __init__(self) -> None:
        self._left = float(BURST)
        self._at = float("-inf")

    def guess(self, now: float) -> float:
        """Count a guess and return the seconds to wait, as `Lockout.guess` does."""
        self._left = min(BURST, self._left + (now - self._at) / EVERY)
        self._at = now
        if self._left < 1:
            return (1 - self._left) * EVERY
        self._left -= 1
        return 0.0

    def succeeded(self) -> None:
        self._left = min(BURST, self._left + 1)
