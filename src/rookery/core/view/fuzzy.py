"""Fuzzy matching of names: all letters in order, the closest match first."""

import re
from collections.abc import Iterable
from functools import lru_cache
from heapq import nsmallest

STARTS = frozenset("/_-. ")
"""A letter after one of these begins a word."""


@lru_cache(maxsize=64)
def _pattern(query: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(letter) for letter in query), re.DOTALL)


def score(query: str, name: str) -> int | None:
    """Return how well a name matches, smaller is better; None if it does not match."""
    low = name if any(letter.isupper() for letter in query) else name.lower()
    if not query:
        return len(name)
    if _pattern(query).search(low) is None:
        return None
    base = low.rfind("/", 0, len(low) - 1) + 1
    whole = low.find(query, base)
    if whole >= 0:  # whole, in the last part of the path
        return len(name) - (300 if whole == base else 200) - 100 * (low[base:] == query)
    if (at := low.find(query)) >= 0:
        return len(name) - (150 if at == 0 or low[at - 1] in STARTS else 100)
    cost, at, before = len(name), base, -2
    if _pattern(query).search(low, base) is None:
        cost, at = cost + 40, 0
    for letter in query:
        hit = low.find(letter, at)
        if hit != before + 1 and not (hit == 0 or low[hit - 1] in STARTS):
            cost += 6
        before, at = hit, hit + 1
    return cost


def ranked(query: str, names: Iterable[str], most: int = 8) -> list[str]:
    matches = ((value, name) for name in names if (value := score(query, name)) is not None)
    return [name for _, name in nsmallest(most, matches)]
