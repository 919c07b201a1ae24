"""Errors of the daemon bring the buttons that help, from the same table as the transcript."""

import pytest

from rookery.client.session import Rejected
from rookery.client.start import StartError
from rookery.core.blocks import failures
from rookery.daemon.errors import KNOWN, problem_of

IN_WORDS = {
    "ambiguous": "its remedy says what to write",
    "from_the_agent": "nothing helps: an agent asked",
    "no_worktree": "its remedy depends on why",
    "not_restored": "its remedy depends on why",
    "key_reused": "a mistake of a program",
    "still_alive": "it passes by itself",
}


@pytest.mark.parametrize("kind", KNOWN)
def test_every_known_error_has_its_buttons_or_a_reason_for_none(kind: type[Exception]) -> None:
    word = KNOWN[kind][1]
    assert (word in failures.ERRORS) != (word in IN_WORDS)


@pytest.mark.parametrize("word", failures.ERRORS)
def test_an_answer_carries_the_actions_of_its_row(word: str) -> None:
    for error in (Rejected({"reason": word, "message": "no"}), StartError(word, "no")):
        problem = problem_of(error)
        assert problem is not None
        labels = [each["label"] for each in problem.body()["actions"]]
        assert labels == [failures.ACTIONS[name]["label"] for name in failures.ERRORS[word]]


def test_an_error_without_a_row_has_none() -> None:
    problem = problem_of(Rejected({"reason": "same_agent", "message": "no"}))
    assert problem is not None
    assert "actions" not in problem.body()
