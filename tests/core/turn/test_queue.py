"""The order of what waits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rookery.core.turn.queue import Queued, find, joined, moved, next_batch, replaced, without

texts = some.lists(some.sampled_from(["a", "b", "/c", " /d", ""]), max_size=8)


def queue(*words: str) -> tuple[Queued, ...]:
    return tuple(
        Queued(str(number), [{"type": "text", "text": text}]) for number, text in enumerate(words)
    )


def names(items: tuple[Queued, ...]) -> str:
    return "".join(item.id for item in items)


@pytest.mark.parametrize(
    ("words", "drain", "batch"),
    [
        ([], "combined", ""),
        (["a"], "combined", "0"),
        (["a", "b", "c"], "combined", "012"),
        (["a", "b", "c"], "serial", "0"),
        (["/x", "a"], "combined", "0"),
        (["a", "/x", "b"], "combined", "0"),
        (["a", "b", "/x"], "combined", "01"),
        (["/x", "/y"], "combined", "0"),
    ],
)
def test_what_goes_together(words: list[str], drain: str, batch: str) -> None:
    assert names(next_batch(queue(*words), drain)) == batch


def test_what_is_on_offer_to_the_turn_is_left_out() -> None:
    one, two, three = queue("a", "b", "c")
    assert names(next_batch((one._replace(steering=True), two, three), "combined")) == "12"
    assert next_batch((one._replace(steering=True),), "combined") == ()


@given(texts, some.sampled_from(["combined", "serial"]))
def test_everything_is_sent_once_and_in_order(words: list[str], drain: str) -> None:
    waits, sent = queue(*words), ""
    while batch := next_batch(waits, drain):
        sent += names(batch)
        alone = any(item.prompt[0]["text"].startswith("/") for item in batch)
        assert not alone or len(batch) == 1
        waits = without(waits, *(item.id for item in batch))
    assert (sent, waits) == (names(queue(*words)), ())


@given(texts, some.integers(-3, 12), some.integers(-3, 12))
def test_a_move_keeps_all_others_in_order(words: list[str], which: int, place: int) -> None:
    waits = queue(*words)
    after = moved(waits, str(which), place)
    assert sorted(names(after)) == sorted(names(waits))
    assert without(after, str(which)) == without(waits, str(which))
    if find(waits, str(which)):
        assert names(after).index(str(which)) == max(0, min(place, len(waits) - 1))


def test_an_edit_stays_in_its_place() -> None:
    changed: list[dict[str, Any]] = [{"type": "text", "text": "new"}]
    after = replaced(queue("a", "b", "c"), Queued("1", changed))
    assert names(after) == "012"
    assert after[1].prompt == changed


def test_joined_prompts_have_a_blank_line_between_them_and_keep_their_blocks() -> None:
    image = {"type": "image", "blob": "x"}
    one, two = queue("a", "b")
    prompt = joined((one._replace(prompt=[*one.prompt, image]), two))
    assert [block.get("text") for block in prompt] == ["a", None, "\n\n", "b"]
    assert joined((one,)) == one.prompt
    assert joined(()) == []
