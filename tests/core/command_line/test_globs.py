"""Patterns mean what people expect of them, and cost little whatever they are given."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.command_line import globs

SIGNS = st.text(st.sampled_from("ab/*?[].\n"), max_size=10)


def reference(pattern: str, any_sign: str, one_sign: str) -> str:
    found, place = "", 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "[" and pattern[place + 2 : place + 3] == "]":
            found += re.escape(pattern[place + 1])
            place += 3
            continue
        found += {"*": any_sign, "?": one_sign}.get(sign) or re.escape(sign)
        place += 1
    return found


@given(SIGNS, SIGNS)
def test_a_star_in_a_text_matches_anything(pattern: str, text: str) -> None:
    wanted = reference(pattern, ".*", re.escape("?"))
    assert globs.matches_text(pattern, text) is bool(re.fullmatch(wanted, text, re.DOTALL))


@given(SIGNS, SIGNS)
def test_a_star_in_a_path_stays_inside_a_name(pattern: str, path: str) -> None:
    if "**" in pattern or "[/]" in pattern:
        return
    wanted = [reference(part, ".*", ".") for part in pattern.split("/") if part]
    names = [part for part in path.split("/") if part]
    expected = len(wanted) == len(names) and all(
        re.fullmatch(each, name, re.DOTALL) for each, name in zip(wanted, names, strict=True)
    )
    assert globs.matches_path(pattern, path) is expected


@given(SIGNS)
def test_escaped_characters_match_only_themselves(text: str) -> None:
    assert globs.matches_text(globs.escaped(text), text)
    assert not globs.matches_text(globs.escaped(text), text + "x")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("/a/**", "/a", True),
        ("/a/**", "/a/b/c", True),
        ("/a/**/c", "/a/c", True),
        ("/a/**/c", "/a/b/b/c", True),
        ("/a/**/c", "/a/b/d", False),
        ("/**/**/x", "/x", True),
        ("/a", "/a/b", False),
    ],
)
def test_two_stars_span_folders(pattern: str, path: str, fits: bool) -> None:
    assert globs.matches_path(pattern, path) is fits


def test_no_pattern_is_slow() -> None:
    """By the test's own time-out: as regular expressions these would take ages."""
    stars = "*a" * (globs.MAX_PATTERN_LENGTH // 2)
    assert not globs.matches_text(stars + "b", "a" * 100_000)
    assert not globs.matches_path("/" + "**/a/" * 200 + "b", "/a" * 2000)
    assert not globs.matches_path("/" + "*a" * 500 + "b", "/" + "a" * 4096)
