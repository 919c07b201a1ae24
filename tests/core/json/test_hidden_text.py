"""What an agent hides in a text is taken out or shown, and nothing else is changed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.json import safe_text
from rookery.core.json.safe_text import shown, visible


@pytest.mark.parametrize(
    ("text", "seen", "removed"),
    [
        ("git status", "git status", 0),
        ("a\n\tb\n", "a\n\tb\n", 0),
        ("g\u200bi\u200dt \ufeffpush", "git push", 3),
        ("\u202egit\u202c \u2066push\u2069", "git push", 4),
        ("git" + "".join(chr(0xE0000 + n) for n in range(0x20, 0x7F)), "git", 95),
        ("a\u00adb\u3164c\ufe0fd\U000e0100", "abcd", 4),
        ("a\u0301\u0301\u0301\u0301\u0301", "a\u0301\u0301\u0301", 2),
        ("a\x1b[2Kb\x7f\x9b", "a␛[2Kb␡<9B>", 0),
        ("rm\u00a0-rf\u2028x\u3000y", "rm<A0>-rf<2028>x<3000>y", 0),
        ("a\r\nb\rc", "a\nb␍c", 0),
        ("ls" + " " * 520 + "rm", "ls⟨520 blanks⟩rm", 0),
        ("a\n" + " " * 41 + "b\n" + " " * 40 + "c", f"a\n⟨41 blanks⟩b\n{' ' * 40}c", 0),
        ("\t" * 20 + "x", "⟨160 blanks⟩x", 0),
        ("a" + "\n" * 9 + "b", "a\n⟨8 empty lines⟩\nb", 0),
        ("a\n\n\nb", "a\n\n\nb", 0),
        ("\ud800", "\ufffd", 0),
    ],
)
def test_everything_can_be_seen(text: str, seen: str, removed: int) -> None:
    assert shown(text) == (seen, removed)


@given(st.text())
def test_nothing_is_left_to_hide_behind(text: str) -> None:
    once = shown(text)
    assert shown(once.text).removed == 0
    assert not re.search(safe_text._UNSEEN, once.text)
    assert not re.search(safe_text._ODD, once.text)


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E)))
def test_plain_text_stays(text: str) -> None:
    assert shown(text) == (text, 0)


def test_in_a_change_an_unseen_letter_is_shown() -> None:
    assert visible("if a\u200b == b:\r\n") == "if a<200B> == b:\n"
    assert visible("\U0001f469\u200d\U0001f4bb\ufe0f") == "\U0001f469\u200d\U0001f4bb\ufe0f"


def test_what_was_removed_is_said() -> None:
    assert safe_text.removed_note(0) == ""
    assert safe_text.removed_note(1) == "1 invisible character removed"
    assert safe_text.removed_note(1234) == "1,234 invisible characters removed"
