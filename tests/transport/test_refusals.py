"""What a daemon refuses is the same refusal on another machine, by its reason and kind."""

import json

import pytest

from rookery.agents.registry import UnknownAgent
from rookery.client.daemon.errors import OtherVersion
from rookery.client.daemon.local import Answer
from rookery.client.daemon.remote import refusal
from rookery.client.fleet import Ambiguous, StillAlive, UnknownSession
from rookery.client.guard import FromAgent
from rookery.client.session import Rejected, Trouble
from rookery.client.start import PARKED, STARTING, StartError
from rookery.client.trash.store import TrashError
from rookery.client.worktrees.drop import Unmerged, Work
from rookery.client.worktrees.repository import NoWorktree
from rookery.core.refusals import Refused
from rookery.daemon.errors import problem_of
from rookery.log.errors import Full, LogError, NoSession
from rookery.operations.calling.stream import refused
from rookery.wire.frames import WorkerRefused

URL = "https://box.example.org"
REFUSALS = [
    *(NoSession("It is gone."), LogError("It is damaged."), FromAgent("An agent may not.")),
    *(WorkerRefused("It speaks another protocol."), StillAlive("It did not go.")),
    *(Ambiguous("a", []), UnknownAgent("crow", ["demo"]), Trouble.about("no room", "prompt")),
    *(Full("No room."), NoWorktree("no_branch", "It is gone.", "Name another.")),
    *(Unmerged("a", Work(1, 0)), TrashError("not_in_trash", "It is gone.", kind="missing")),
    *(StartError(STARTING, "Too many."), StartError(PARKED, "It died."), StartError("died", "!")),
    Rejected({"reason": "wrong_nonce", "message": "It asks something else now."}),
]


def over_http(error: Refused) -> Answer:
    problem = problem_of(error)
    return Answer(problem.status, "application/json", json.dumps(problem.body()).encode())


@pytest.mark.parametrize("error", REFUSALS, ids=lambda each: f"{type(each).__name__} {each.reason}")
def test_a_refusal_keeps_kind_reason_and_exit_code_over_http(error: Refused) -> None:
    found = refusal(URL, "/api/sessions", over_http(error))
    assert (found.reason, found.kind, found.message) == (error.reason, error.kind, error.message)
    assert found.exit_code == error.exit_code
    assert "/api/" not in found.remedy


@pytest.mark.parametrize("error", REFUSALS[:4], ids=lambda each: type(each).__name__)
def test_what_callers_catch_is_the_class_that_it_is_here(error: Refused) -> None:
    assert type(refusal(URL, "/api/sessions", over_http(error))) is type(error)


def test_a_session_that_is_unknown_there_is_gone_for_who_had_it_open() -> None:
    found = refusal(URL, "/api/sessions/a", over_http(UnknownSession("a")))
    assert isinstance(found, NoSession)
    assert found.message == "There is no session 'a'."


@pytest.mark.parametrize(
    ("status", "kind"), [(404, "missing"), (409, "conflict"), (422, "usage"), (507, "full")]
)
def test_a_daemon_that_tells_no_kind_is_understood_by_its_status(status: int, kind: str) -> None:
    body = {"error": "no_such_word", "message": "It cannot be.", "remedy": "Try another."}
    found = refusal(URL, "/api/x", Answer(status, "application/json", json.dumps(body).encode()))
    assert (found.kind, found.sentences) == (kind, "It cannot be. Try another.")


def test_a_kind_of_a_later_daemon_is_passed_over() -> None:
    found = refused({"error": "x", "message": "No.", "kind": "sideways"}, "failed")
    assert (found.kind, found.message) == ("failed", "No.")


def test_an_answer_that_is_no_refusal_of_ours_is_of_another_version() -> None:
    found = refusal(URL, "/api/x?y=1", Answer(502, "text/html", b"<html>"))
    assert isinstance(found, OtherVersion)
    assert "does not know /api/x (HTTP 502)" in found.message
    assert found.remedy


def test_an_operation_that_the_other_build_lacks_is_named_by_its_word() -> None:
    body = json.dumps({"error": "unknown_operation", "message": "There is none."}).encode()
    found = refusal(URL, "/api/v1/sessions/3f/recap", Answer(404, "application/json", body))
    assert isinstance(found, OtherVersion)
    assert "does not know recap:" in found.message
    assert "rookery serve --restart" in found.remedy
