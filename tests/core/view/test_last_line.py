"""The last line of an answer, as lists show it."""

import pytest

from rookery.core.header import EMPTY
from rookery.core.view import last_line
from rookery.core.view.fleet import head_of


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("## Next", "Next"),
        ("- **one** to `two`", "one to `two`"),
        ("1. see [app.py](src/app.py) and ![a](b.png)", "see app.py and a"),
        ("- [x] *it* is __done__", "it is done"),
        ("> | not a table", "| not a table"),
        ("| a | **b** |", "a · b"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("`**kept**` and \\*kept\\*", "`**kept**` and *kept*"),
        ("See <https://example.com/a_b_c>.", "See https://example.com/a_b_c."),
        ("", ""),
    ],
)
def test_the_marks_of_markdown_are_gone(line: str, plain: str) -> None:
    assert last_line.plain(line) == plain
    assert head_of(EMPTY.with_(last=line), 1, 0)["last"] == plain


def test_a_line_without_words_is_none() -> None:
    assert last_line.of("Done.\n\n```\nls\n```\n\n---\n| - | - |\n") == "ls"
    assert last_line.of("\n---\n") == ""
