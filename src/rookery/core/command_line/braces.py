"""Brace expansion: `{git,push}` is two words."""

from itertools import pairwise

MOST = 64
"""Words that one word becomes."""


def expanded(text: str) -> list[str]:
    """The words that a word without quotes stands for."""
    if "{" not in text or ("," not in text and ".." not in text):
        return [text]
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) < MOST:
        word = waiting.pop()
        span = _alternatives(word)
        if span is None:
            done.append(word)
            continue
        start, end, choices = span
        waiting += [word[:start] + choice + word[end:] for choice in reversed(choices)]
    return done + waiting[::-1]


def _alternatives(text: str) -> tuple[int, int, list[str]] | None:
    """The first group that is one: where it stands, and what it offers."""
    start = text.find("{")
    tries = 0
    while start >= 0 and tries < MOST:
        tries += 1
        if start and text[start - 1] == "$":
            start = text.find("{", start + 1)
            continue
        depth, cuts, place = 0, [start], start
        while place < len(text):
            sign = text[place]
            if sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
                if not depth:
                    break
            elif sign == "," and depth == 1:
                cuts.append(place)
            place += 1
        else:
            return None  # no group is closed behind here
        cuts.append(place)
        if len(cuts) > 2:
            return start, place + 1, [text[a + 1 : b] for a, b in pairwise(cuts)][:MOST]
        ends = text[start + 1 : place].split("..")
        if len(ends) in (2, 3):
            return start, place + 1, _range(ends)
        start = text.find("{", start + 1)
    return None


def _range(ends: list[str]) -> list[str]:
    first, last = ends[0], ends[1]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha() and first <= last:
        return [chr(code) for code in range(ord(first), ord(last) + 1)][:MOST]
    return [first, last]
