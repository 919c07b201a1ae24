"""Chunks on their way to the log: fewer events, and nothing lost."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.agent.chunks import MOST_HELD, WORD, Chunks, text_of
from rookery.core.json.events import dumps
from rookery.core.json.secrets import masked
from tests.core.making import Json, call, message, text, update

WINDOW = 0.030


def test_the_first_chunk_goes_at_once() -> None:
    chunks = Chunks(WINDOW)
    assert chunks.deadline is None
    assert chunks.push(message("a"), 5.0) == [message("a")]
    assert chunks.deadline is None, "nothing is held"


def test_those_that_follow_are_one_event_at_the_end_of_the_window() -> None:
    chunks = Chunks(WINDOW)
    chunks.push(message("a"), 5.0)
    assert chunks.push(message("b"), 5.001) == []
    assert chunks.push(message("c"), 5.029) == []
    assert chunks.deadline == 5.0 + WINDOW
    assert chunks.flush(5.03) == [message("bc")]
    assert chunks.flush(5.03) == []
    assert chunks.push(message("d"), 5.04) == [], "what went out opened the next window"
    assert chunks.deadline == 5.03 + WINDOW


def test_a_chunk_at_the_windows_end_takes_the_held_ones_along() -> None:
    chunks = Chunks(WINDOW)
    chunks.push(message("a"), 0.0)
    assert chunks.push(message("b"), 0.01) == []
    assert chunks.push(message("c"), WINDOW) == [message("bc")]


def test_after_a_silence_a_chunk_goes_at_once_again() -> None:
    chunks = Chunks(WINDOW)
    chunks.push(message("a"), 0.0)
    assert chunks.push(message("b"), WINDOW) == [message("b")]


def test_what_is_not_a_chunk_takes_what_is_held_along_first() -> None:
    chunks = Chunks(WINDOW)
    chunks.push(message("a"), 0.0)
    chunks.push(message("b"), 0.001)
    assert chunks.push(call("t"), 0.002) == [message("b"), call("t")]
    assert chunks.deadline is None


def test_a_single_held_chunk_goes_out_as_the_very_object_that_came() -> None:
    chunks, held = Chunks(WINDOW), message("b")
    chunks.push(message("a"), 0.0)
    chunks.push(held, 0.001)
    assert chunks.flush(1.0)[0] is held


def test_a_flood_inside_one_window_is_not_held_without_bound() -> None:
    chunks, large = Chunks(WINDOW), "x" * 100_000
    out = [chunks.push(message(large), 0.0) for _ in range(10)]
    lengths = [len(each["content"]["text"]) for each in itertools.chain(*out)]
    assert max(lengths) <= MOST_HELD + len(large)
    lengths += [len(each["content"]["text"]) for each in chunks.flush(1.0)]
    assert sum(lengths) == 1_000_000


SECRET = "sk-ant-api03-" + "a1b2c3d4" * 6


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 20, 40])
def test_a_chunk_that_may_begin_a_secret_waits_for_its_end(cut: int) -> None:
    chunks = Chunks(WINDOW)
    out = chunks.push(message(f"The key is {SECRET[:cut]}"), 0.0)
    assert out == [message("The key is ")]
    assert chunks.deadline == WORD
    assert chunks.push(message(SECRET[cut : cut + 5]), 0.5) == []
    assert chunks.push(message(f"{SECRET[cut + 5 :]} and "), 0.9) == [message(f"{SECRET} and ")]
    assert chunks.deadline is None


PRIVATE = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\nIBkg\n-----END EC PRIVATE KEY-----"


@pytest.mark.parametrize("size", [1, 3, 7, 20, 60])
def test_a_private_key_in_pieces_is_masked_whole(size: int) -> None:
    chunks, out = Chunks(WINDOW), list[Json]()
    said = f"Here:\n{PRIVATE}\nKeep it."
    for start in range(0, len(said), size):
        out += chunks.push(message(said[start : start + size]), 0.5 * start)
    out += chunks.flush(1000.0)
    assert "".join(str(text_of(each)) for each in out) == said
    shown = "".join(masked(str(text_of(each))) for each in out)
    assert shown == "Here:\n-----BEGIN PRIVATE KEY----- •••\nKeep it."


def test_what_only_looks_like_a_private_key_holds_nothing_back_for_long() -> None:
    chunks = Chunks(WINDOW)
    other = "-----BEGIN CERTIFICATE-----\nMIIB"
    assert chunks.push(message(other), 0.0) == [message(other)]
    chunks.flush(1.0)
    endless = f"{PRIVATE[:31]}{'x' * 20_000}"
    assert chunks.push(message(endless), 2.0) == [message(endless)]


def test_a_word_waits_for_a_while_and_not_for_what_is_no_chunk() -> None:
    chunks = Chunks(WINDOW)
    assert chunks.push(message("sk-abc"), 0.0) == []
    assert chunks.push(message("def"), 0.01) == []
    assert chunks.deadline == WINDOW
    assert chunks.flush_words(WINDOW) == []
    assert chunks.deadline == WINDOW + WORD
    assert chunks.flush_words(WINDOW + WORD) == [message("sk-abcdef")]
    assert chunks.push(message("gh"), 9.0) == []
    assert chunks.push(call("t"), 9.1) == [message("gh"), call("t")]


@pytest.mark.parametrize("said", ["x", "task", "a", " ", "sk- ", "x" * 600 + "sk", "Nothing:"])
def test_other_words_do_not_wait(said: str) -> None:
    assert Chunks(WINDOW).push(message(said), 0.0) == [message(said)]


UNLIKE: list[tuple[Json, Json]] = [
    (message("a"), message("b", "agent_thought_chunk")),
    (message("a", messageId="1"), message("b", messageId="2")),
    (message("a", messageId="1"), message("b")),
    (message("a", _meta={"x": 1}), message("b", _meta={"x": 2})),
    (message("a", _meta={"x": 1}), message("b", _meta={"x": True})),
    (message("a", _meta={"x": 1}), message("b", _meta={"x": 1.0})),
    (message("a", x=None), message("b", y=None)),
    (update("agent_message_chunk", content=text("a") | {"annotations": {}}), message("b")),
]


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_only_chunks_equal_in_all_but_their_text_are_merged(one: Json, other: Json) -> None:
    for first, second in ((one, other), (other, one)):
        chunks = Chunks(WINDOW)
        chunks.push(message("now"), 0.0)
        out = [*chunks.push(first, 0.001), *chunks.push(second, 0.002), *chunks.flush(1.0)]
        assert [dumps(each) for each in out] == [dumps(first), dumps(second)]


@pytest.mark.parametrize(
    "odd",
    [
        update("agent_message_chunk"),
        update("agent_message_chunk", content="x"),
        update("agent_message_chunk", content={"type": "text", "text": 7}),
        update("agent_message_chunk", content={"type": "image", "text": "x"}),
        update("compaction_summary_chunk", content=text("x")),
        {},
    ],
)
def test_what_is_no_text_is_never_held(odd: Json) -> None:
    chunks = Chunks(WINDOW)
    chunks.push(message("a"), 0.0)
    assert chunks.push(odd, 0.001) == [odd]


gaps = st.sampled_from([0.0, 0.001, 0.0299, 0.03, 0.05, 1.0])
pushed = st.one_of(
    st.builds(message, st.text(st.characters(), max_size=3)),
    st.builds(message, st.text(max_size=3), st.just("agent_thought_chunk")),
    st.builds(
        lambda words, meta: message(words, _meta=meta),
        st.text(max_size=2),
        st.sampled_from([{}, {"x": 1}, {"x": True}]),
    ),
    st.just(call("t")),
)


def sent(given: list[tuple[float, Json]]) -> list[tuple[float, Json]]:
    """What goes to the log and when, by a shell that keeps the deadlines."""
    chunks, out, now = Chunks(WINDOW), [], 0.0
    for gap, each in given:
        due = chunks.deadline
        if due is not None and now + gap >= due:
            out += [(due, late) for late in chunks.flush(due)]
        now += gap
        out += [(now, ready) for ready in chunks.push(each, now)]
        assert chunks.deadline is None or now <= chunks.deadline <= now + WINDOW
    return out + [(chunks.deadline or now, last) for last in chunks.flush(now)]


@given(st.lists(st.tuples(gaps, pushed), max_size=40))
def test_nothing_is_lost_and_the_order_is_kept(given: list[tuple[float, Json]]) -> None:
    out = sent(given)
    assert spelled([each for _, each in out]) == spelled([each for _, each in given])


@given(st.lists(gaps, max_size=60))
def test_a_flood_is_at_most_one_event_in_each_window(given: list[float]) -> None:
    out = sent([(gap, message("x")) for gap in given])
    times = [at for at, _ in out[:-1]]
    assert all(later - before >= WINDOW - 1e-9 for before, later in itertools.pairwise(times))
    assert sum(len(each["content"]["text"]) for _, each in out) == len(given)


def spelled(updates: list[Json]) -> list[Any]:
    """The updates letter by letter: what merging must not change."""
    found: list[Any] = []
    for each in updates:
        letters = each.get("content", {}).get("text", " ")
        found += [(unworded(each), letter) for letter in letters]
    return found


def unworded(each: Json) -> str:
    return dumps({**each, "content": {**each.get("content", {}), "text": ""}})
