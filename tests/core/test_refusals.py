"""A refusal's kind decides its exit code and its HTTP status, in one table."""

import pytest

from rookery.core.refusals import KINDS, Fixed, Kind, Refused, kind_of


def test_the_kind_gives_exit_code_and_status() -> None:
    refused = Refused("no_branch", "There is no branch.", "Name one.", "missing")
    assert (refused.exit_code, refused.status) == (2, 404)
    assert str(refused) == refused.message
    assert refused.sentences == "There is no branch. Name one."


def test_a_class_may_name_kind_and_reason() -> None:
    class Locked(Fixed):
        kind: Kind = "busy"
        reason = "locked"

    refused = Locked("Somebody writes.")
    assert (refused.reason, refused.kind, refused.sentences) == (
        "locked",
        "busy",
        "Somebody writes.",
    )
    assert (Refused.kind, Refused("a", "b").kind) == ("conflict", "conflict")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((401, "denied"), (403, "denied"), (404, "missing"), (409, "conflict"), (413, "large")),
        *((422, "usage"), (429, "limited"), (500, "failed"), (503, "busy"), (507, "full")),
    ],
)
def test_an_answer_without_a_kind_has_one_by_its_status(status: int, kind: str) -> None:
    assert kind_of(status) == kind


def test_every_kind_has_the_status_of_a_refusal() -> None:
    assert all(code > 0 and status >= 400 for code, status in KINDS.values())
    assert all(KINDS[kind_of(status)][1] == status for _, status in KINDS.values())
