"""Hostile JSON by name: nesting, long integers, lone surrogates, NaN. It is stored and read."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.json.events import Draft, dumps, loads
from rookery.log.errors import Repeated
from rookery.log.reader import Reader
from rookery.log.rows import text_from_store, text_to_store
from rookery.log.store import Writer
from tests.log.drafts import chunk, folded, foreign

type Write = Callable[..., Writer]
type Read = Callable[..., Reader]


def nested(levels: int) -> Any:
    value: Any = "core"
    for _ in range(levels):
        value = [value]
    return value


HOSTILE = {
    "lone surrogate in text": {"text": "a\ud800b\udfff"},
    "lone surrogate in a key": {"\udead": 1},
    "NUL": {"text": "a\0b"},
    "NaN": {"value": float("nan"), "more": [float("inf")]},
    "long integer": {"value": 10**5000},
    "largest integer that is read": {"value": 10**3000},
    "negative integer beyond 64 bits": {"value": -(2**200)},
    "nested": {"value": nested(100_000)},
    "nested a little": {"value": nested(500)},
    "not JSON at all": {"value": {1, 2}, "more": b"bytes", 3: 4},
    "looks like a blob": {"value": {"$blob": "0" * 64}},
    "large": {"text": "é" * 3_000_000},
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("kind", ["agent_message_chunk", "_rate_limit", "plan", "unheard_of"])
def test_hostile_values_are_stored_and_read(
    write: Write, read: Read, hostile: dict[Any, Any], kind: str
) -> None:
    writer = write()
    writer.append([Draft({"sessionUpdate": kind, **hostile}), chunk("after")])
    first, second = read().read(0)
    assert first.update == loads(dumps({"sessionUpdate": kind, **hostile}))
    assert second.seq == 2
    header = writer.header
    assert header == folded([first, second])
    writer.close()
    assert write().header == header


def test_a_header_with_hostile_values_is_stored_with_its_turn(write: Write, read: Read) -> None:
    writer = write()
    limit = {"a": "\ud800" * 2000, "b": {"$blob": 1}, "c": float("nan"), "d": 10**3000}
    events = writer.append([Draft({"sessionUpdate": "_rate_limit", **limit})])
    writer.append([Draft({"sessionUpdate": "_prompt", "turn": 1})])
    assert read().header_before(1) == folded(events)
    assert read().header_before(1).rate_limit["a"] == limit["a"]


@pytest.mark.parametrize("kind", ["\ud800", "a\0b", "é", "", 7, None, ["x"], "k" * 100_000])
def test_any_kind_is_stored(directory: str, write: Write, read: Read, kind: object) -> None:
    write().append([Draft({"sessionUpdate": kind})])
    assert read().read(0)[0].update == {"sessionUpdate": kind}
    assert foreign(directory, "SELECT typeof(kind) FROM event") == [("text",)]


TEXTS = [
    "",
    "c",
    "\ud800",
    '"\\ud800"',
    '"',
    '""',
    '"c"',
    "é",
    "a\0b",
    "a\0c",
    "\udcff\ud800",
    "x" * 10**5,
]


def test_any_cause_and_client_are_stored_and_known_exactly(write: Write, read: Read) -> None:
    writer, reader = write(), read()
    for text in TEXTS:
        assert writer.knows(text) is None, text[:9]
        assert reader.find(text) is None
        [event] = writer.append([Draft({"sessionUpdate": "_done"}, cause=text, by=text)])
        assert writer.knows(text) == event.seq
        assert reader.find(text) == event
        with pytest.raises(Repeated):
            writer.append([Draft({"sessionUpdate": "_done"}, cause=text)])
    assert [event.cause for event in reader.read(0)] == TEXTS
    assert [event.by for event in reader.read(0)] == TEXTS


@given(st.text(st.characters()), st.text(st.characters()))
def test_no_two_texts_are_stored_alike(one: str, other: str) -> None:
    for text in (one, dumps(one), f'"{one}'):
        stored = text_to_store(text)
        assert stored is not None
        stored.encode()
        assert text_from_store(stored) == text
    assert (text_to_store(one) == text_to_store(other)) == (one == other)
