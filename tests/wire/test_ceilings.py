"""Values are counted before a line is parsed, and only those."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.wire.lines import envelope, is_crowded

MOST = 1000


def values(line: str) -> int:
    """Commas, brackets and braces that are no part of a text: at least as many as the values."""

    def count(value: object) -> int:
        if isinstance(value, dict):
            return 1 + max(0, len(value) - 1) + sum(count(item) for item in value.values())
        if isinstance(value, list):
            return 1 + max(0, len(value) - 1) + sum(count(item) for item in value)
        return 0

    return count(json.loads(line))


def test_one_value_more_is_too_many() -> None:
    pad = " " * 2 * MOST
    most = "[" + ",".join(["1"] * MOST) + pad + "]"
    assert values(most) == MOST
    assert not is_crowded(most.encode(), MOST)
    more = "[" + ",".join(["1"] * (MOST + 1)) + pad + "]"
    assert is_crowded(more.encode(), MOST)


@pytest.mark.parametrize(
    "text", [",{[" * 5000, '\\",' * 5000, "\\\\" * 5000 + ",[" * 5000, "\\n,\n" * 5000]
)
def test_signs_in_a_text_are_no_values(text: str) -> None:
    line = json.dumps({"text": text, "more": [text]}).encode()
    assert not is_crowded(line, MOST)


def test_a_text_that_never_ends_hides_the_rest() -> None:
    assert not is_crowded(b'["' + b"[," * 10_000, MOST)


@given(
    st.recursive(st.text() | st.integers(), lambda v: st.lists(v) | st.dictionaries(st.text(), v))
)
def test_the_count_is_that_of_the_parser(value: object) -> None:
    line = json.dumps([value])
    found = values(line)
    padded = line.encode() + b" " * 10_000
    assert not is_crowded(padded, found)
    assert is_crowded(padded, found - 1)


HUGE = "[" + "1," * 5000 + "1]"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (f'{{"jsonrpc":"2.0","id":7,"method":"m","params":{HUGE}}}', (7, "m")),
        (f' {{ "id" : "a\\"b" , "params":{HUGE}, "method" : "m" }} ', ('a"b', "m")),
        (f'{{"params":{HUGE},"id":null,"method":"m"}}', (None, "m")),
        (f'{{"method":"m","params":{HUGE}}}', ("none", "m")),
        (f'{{"id":3,"result":{HUGE}}}', (3, None)),
        (HUGE, ("none", None)),
        ("{" * 9000, ("none", None)),
    ],
)
def test_the_envelope_is_found_at_either_end(line: str, found: tuple[object, object]) -> None:
    got = envelope(line.encode())
    assert (got.get("id", "none"), got.get("method")) == found


@given(st.binary(max_size=300))
def test_any_bytes_have_an_envelope_or_none(data: bytes) -> None:
    assert isinstance(envelope(data), dict)
