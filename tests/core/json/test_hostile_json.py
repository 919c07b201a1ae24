"""JSON at the edge: strict on the way in, total on the way out."""

import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.json.events import (
    Event,
    dumps,
    dumps_short,
    event_from_json,
    kind_of,
    loads,
)
from tests.core.hostile import foreign_json, nested

DEEP = "[" * 100_000 + "]" * 100_000
LONG = "9" * 5_000


@given(foreign_json)
def test_json_survives_the_trip_and_is_ascii(value: Any) -> None:
    assert dumps(value).isascii()
    assert "\n" not in dumps(value)
    assert loads(dumps(value)) == value
    assert loads(dumps(value).encode()) == value
    assert json.loads(dumps(value)) == value


@given(foreign_json)
def test_short_json_says_the_same_and_can_be_stored(value: Any) -> None:
    short = dumps_short(value)
    assert loads(short) == value
    assert len(short.encode()) <= len(dumps(value))
    assert "\n" not in short


def test_short_json_keeps_characters_and_escapes_what_is_none() -> None:
    assert dumps_short(["\U0001f426é"]) == '["\U0001f426é"]'
    assert dumps_short(["\U0001f426\ud800"]) == dumps(["\U0001f426\ud800"])
    assert dumps_short([math.nan, b"x"]) == dumps([math.nan, b"x"])


odd = st.recursive(
    st.floats() | st.integers() | st.binary(max_size=3) | st.just(object()) | st.complex_numbers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers() | st.none() | st.booleans(), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(odd)
def test_what_json_cannot_say_is_made_sayable(value: Any) -> None:
    assert dumps(value).isascii()
    loads(dumps(value))


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("around", ["{}", "[1, {}]", '{{"a": {}}}', f"[{LONG}, {{}}]"])
def test_nan_is_refused_on_the_way_in(constant: str, around: str) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        loads(around.format(constant))


def test_nan_is_null_on_the_way_out() -> None:
    assert dumps([math.nan, math.inf, -math.inf, 1.5]) == "[null,null,null,1.5]"


HOSTILE = [DEEP, '{"a":' * 100_000, f"[{LONG}, {DEEP}]", f"[NaN, {DEEP}]"]


@pytest.mark.parametrize("text", HOSTILE, ids=["lists", "objects", "after a long one", "after NaN"])
def test_nesting_of_100_000_levels_is_an_error_like_any_other(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested too deeply|not JSON|Expecting"):
        loads(text)


@pytest.mark.parametrize("of", [list, dict])
@pytest.mark.parametrize("levels", [100_000, 50_000])
def test_nesting_is_cut_on_the_way_out_and_says_so(levels: int, of: type) -> None:
    text = dumps({"value": nested(levels, of=of)})
    assert "nested too deeply" in text
    loads(text)


@pytest.mark.parametrize("levels", [100, 1_000])
def test_nesting_that_is_read_is_written_whole(levels: int) -> None:
    text = "[" * levels + "]" * levels
    assert dumps(loads(text)) == text


def test_an_integer_of_5000_digits_is_kept_as_text() -> None:
    assert loads(f'{{"n": {LONG}, "m": -{LONG}, "k": 7}}') == {"n": LONG, "m": f"-{LONG}", "k": 7}
    assert loads("9" * 4300) == int("9" * 4300)


@pytest.mark.parametrize("digits", [3_000, 4_000, 4_299, 5_000, 100_000])
def test_any_integer_can_be_written(digits: int) -> None:
    assert loads(dumps([10**digits])) in ([10**digits], [hex(10**digits)])


def test_lone_surrogates_survive_as_escapes() -> None:
    text = dumps({"\ud800": "a\udfffb"})
    assert text == '{"\\ud800":"a\\udfffb"}'
    assert loads(text) == {"\ud800": "a\udfffb"}


@pytest.mark.parametrize(
    "junk", ["", " ", "{", "nul", "'a'", "[1,]", "\ufeff{}", b"\xff", b"\xed\xa0\x80"]
)
def test_what_is_no_json_is_a_value_error(junk: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        loads(junk)


@given(st.text() | st.binary())
def test_loads_raises_nothing_but_value_errors(junk: Any) -> None:
    with contextlib.suppress(ValueError):
        loads(junk)


@pytest.mark.parametrize("value", [None, [], "x", {}, {"sessionUpdate": 1}])
def test_the_kind_of_what_has_none_is_empty(value: Any) -> None:
    assert kind_of(value) == ""


def test_an_event_survives_as_json() -> None:
    event = Event(1, 2, "c", None, {"sessionUpdate": "plan"})
    assert event_from_json(loads(dumps(event._asdict()))) == event


@pytest.mark.parametrize("junk", [{}, {"seq": 1, "at": 1}, {"seq": "1", "at": 1, "update": {}}])
def test_what_is_no_event_is_a_value_error(junk: Any) -> None:
    with pytest.raises(ValueError, match="not an event"):
        event_from_json(junk)
