"""Errors of the daemon bring the buttons that help, from the same table as the transcript."""

import pytest

from rookery.client.session import Rejected
from rookery.client.start import StartError
from rookery.core.blocks import failures
from rookery.core.refusals import Refused
from rookery.daemon.errors import REMEDIES, problem_of

IN_WORDS = {"ambiguous", "changed", "key_reused", "not_in_trash", "still_alive"}
"""Of these the remedy says it all, or they pass by themselves."""


@pytest.mark.parametrize("word", REMEDIES)
def test_every_known_error_has_its_buttons_or_a_reason_for_none(word: str) -> None:
    assert (word in failures.ERRORS) != (word in IN_WORDS)


@pytest.mark.parametrize("word", failures.ERRORS)
def test_an_answer_carries_the_actions_of_its_row(word: str) -> None:
    for error in (Rejected({"reason": word, "message": "no"}), StartError(word, "no")):
        labels = [each["label"] for each in problem_of(error).body()["actions"]]
        assert labels == [failures.ACTIONS[name]["label"] for name in failures.ERRORS[word]]


def test_an_error_without_a_row_has_none() -> None:
    assert "actions" not in problem_of(Rejected({"reason": "same_agent", "message": "no"})).body()


def test_an_answer_has_the_kind_of_what_was_refused() -> None:
    problem = problem_of(Refused("no_branch", "There is no branch.", "Name one.", "missing"))
    assert (problem.status, problem.body()["kind"]) == (404, "missing")
    assert problem.body()["remedy"] == "Name one."


def test_an_answer_has_what_can_be_agreed_to_without_secrets() -> None:
    error = Refused("new_hooks", "Hooks would run.", kind="preview")
    secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"
    error.question = {"fingerprint": "f00d", "shown": f"TOKEN={secret}"}
    body = problem_of(error).body()
    assert body["fingerprint"] == "f00d"
    assert secret not in body["shown"]
