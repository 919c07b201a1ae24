"""Frames of news: small events whole, large ones by their number."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.json.events import Event, loads
from rookery.wire import frames

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def told(update: dict[str, Any]) -> tuple[str, Any]:
    line = frames.encode_event(Event(7, 1, None, None, update))
    assert len(line) <= frames.NEWS_BYTES
    return frames.kind_and_body(loads(line))


@given(st.dictionaries(st.text(), JUNK), st.sampled_from([1, 100, frames.NEWS_BYTES]))
def test_an_event_is_told_whole_exactly_where_it_fits(update: dict[str, Any], more: int) -> None:
    update["more"] = "x" * more
    whole = frames.encode("event", Event(7, 1, None, None, update)._asdict())
    fits = len(whole) <= frames.NEWS_BYTES
    assert told(update) == (("event", loads(whole)["event"]) if fits else ("behind", 7))


def nested(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [1, 5_000])
def test_nesting_of_any_depth_is_told(depth: int) -> None:
    assert told({"x": nested(depth, "x")})[0] == "event"
    assert told({"x": nested(depth, "x" * frames.NEWS_BYTES)}) == ("behind", 7)
