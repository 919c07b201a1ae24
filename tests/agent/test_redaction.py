"""What redaction can do, and where it ends: secrets as they are written, also in JSON and with
colour codes between their letters."""

import json

import pytest

from rookery.agent.settings.secrets import HIDDEN, Redactor

KEY = "sk-live-0123456789abcdef"
CODES = ["\x1b[31m", "\x1b[0m", "\x1b[1;38;5;196m", "\x1b[K", "\x1b[38:2:1:2:3m"]


def coloured(every: int) -> str:
    """As grep, a test runner or a pretty printer shows it."""
    parts = [KEY[at : at + every] for at in range(0, len(KEY), every)]
    return "".join(part + CODES[place % len(CODES)] for place, part in enumerate(parts))


@pytest.mark.parametrize("every", [1, 3, 7, 20])
def test_I10_12_a_secret_with_colour_codes_inside_is_taken_out(every: int) -> None:
    known = Redactor([KEY])
    shown = known.text(f"before {coloured(every)} after")
    assert shown.startswith(f"before {HIDDEN}")
    assert shown.endswith(" after")
    assert KEY[-3:] not in shown
    stored = known.text(json.dumps({"text": f"before {coloured(every)} after"}))
    assert KEY[-3:] not in stored
    assert HIDDEN in json.loads(stored)["text"]


@pytest.mark.parametrize("every", [1, 3, 7, 20])
@pytest.mark.parametrize("size", [1, 2, 5, 17, 100])
def test_I10_12_also_when_it_comes_bit_by_bit(every: int, size: int) -> None:
    pieces = Redactor([KEY]).in_pieces()
    text = f"before {coloured(every)} after {KEY} end"
    told = "".join(pieces.feed(text[at : at + size]) for at in range(0, len(text), size))
    told += pieces.flush()
    assert told.count(HIDDEN) == 2
    assert KEY[-3:] not in told
    assert told.startswith(f"before {HIDDEN}")
    assert told.endswith(f" after {HIDDEN} end")


def test_I10_12_what_holds_no_secret_passes_as_it_is() -> None:
    known, pieces = Redactor([KEY]), Redactor([KEY]).in_pieces()
    text = "a \x1b[31mred\x1b[0m word, C:\\users\\x1, and sk-live as a beginning only\n"
    assert known.text(text) == text
    assert pieces.feed(text) + pieces.flush() == text


def test_I10_12_what_the_page_says_it_cannot_do() -> None:
    """docs/agent.md: in another encoding, or over several lines, it is not known."""
    import base64

    known = Redactor([KEY])
    for otherwise in (base64.b64encode(KEY.encode()).decode(), KEY[:9] + "\n" + KEY[9:], KEY[::-1]):
        assert known.text(otherwise) == otherwise
