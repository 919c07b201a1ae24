"""Whether a key on an ask is an answer or typing."""

import pytest

from rookery.tui.transcript.answer_guard import FIRST, PAUSE, AnswerGuard

TYPED = "yes please"


def typed(guard: AnswerGuard, text: str, start: float, gap: float) -> str:
    """What of it is written, until the composer has the focus; every answer is a failure."""
    at = start
    for letter in text:
        outcome = guard.press(letter, at, is_answer=letter in "yanrd")
        assert not outcome.act
        if outcome.text:
            return outcome.text
        at += gap
        assert not (outcome.wait and outcome.wait <= gap), "an answer"
    raise AssertionError("nothing was written")


@pytest.mark.parametrize("gap", [0.0, 0.01, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("start", [0.0, 0.3, 0.69, 0.71, 1.0, 5.0])
def test_text_typed_across_an_asks_arrival_is_written_whole(gap: float, start: float) -> None:
    guard = AnswerGuard()
    guard.begin(0.0, by_itself=True)
    assert typed(guard, TYPED, start, gap) == TYPED[:2]
    assert not guard.settle()


@pytest.mark.parametrize("gap", [0.3, 0.5, 0.9, 1.4, 2.0, 2.9])
@pytest.mark.parametrize("start", [0.0, 0.3, 0.69])
def test_slow_typing_that_begins_as_an_ask_comes_approves_nothing(gap: float, start: float) -> None:
    for text in (TYPED, "no thanks", "and then", "rather not", "do it"):
        guard = AnswerGuard()
        guard.begin(0.0, by_itself=True)
        assert typed(guard, text, start, gap) == text[:2]


def test_one_letter_a_minute_approves_nothing() -> None:
    guard = AnswerGuard()
    guard.begin(0.0, by_itself=True)
    assert typed(guard, TYPED, 0.2, 60.0) == "e"


@pytest.mark.parametrize("gap", [0.3, 0.4, 0.5])
@pytest.mark.parametrize("start", [0.71, 0.85, 0.99])
def test_slow_typing_soon_after_an_ask_came_approves_nothing(gap: float, start: float) -> None:
    guard = AnswerGuard()
    guard.begin(0.0, by_itself=True)
    assert typed(guard, TYPED, start, gap) == TYPED[:2]


def test_whoever_types_slowly_gets_a_longer_pause_while_an_ask_is_new() -> None:
    guard = AnswerGuard()
    for place in range(20):
        guard.typed(100 + place * 0.5)
    guard.begin(120.0, by_itself=True)
    assert typed(guard, TYPED, 120.0 + FIRST, 0.7) == TYPED[:2]


@pytest.mark.parametrize("gap", [0.1, 0.5])
@pytest.mark.parametrize("by_itself", [True, False])
def test_an_ask_that_had_the_focus_for_a_second_is_answered_at_once(
    by_itself: bool, gap: float
) -> None:
    guard = AnswerGuard()
    for place in range(20):
        guard.typed(100 + place * gap)
    guard.begin(120.0, by_itself=by_itself)
    assert guard.press("y", 121.0, is_answer=True).wait == PAUSE < 0.25


def test_the_first_moment_begins_when_the_ask_is_painted() -> None:
    guard = AnswerGuard()
    guard.begin(0.0, by_itself=True)
    guard.seen(2.0)
    assert guard.press("y", 2 + FIRST - 0.01, is_answer=True) == (False, 0.0, "")


def test_a_single_key_answers_after_its_pause_and_not_at_once() -> None:
    guard = AnswerGuard()
    guard.begin(0.0, by_itself=True)
    assert guard.press("y", FIRST - 0.2, is_answer=True) == (False, 0.0, "")
    assert not guard.settle(FIRST - 0.2)
    assert guard.press("y", FIRST + 0.2, is_answer=True).wait
    assert guard.settle(FIRST + 0.2)
    assert not guard.settle(FIRST + 0.2)


def test_a_held_down_key_never_answers() -> None:
    guard = AnswerGuard()
    guard.begin(0.0, by_itself=True)
    at = FIRST + 1
    assert guard.press("y", at, is_answer=True).wait
    assert guard.press("y", at + PAUSE / 8, is_answer=True).text == "yy"
    assert not guard.settle(at)
