"""A critic's verdict: read from foreign JSON and from exit codes, weighed, and put into words
(agent.md, Critic and refinement)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.core.critic import verdicts
from rookery.core.critic.verdicts import BEHAVIOURAL, INFRASTRUCTURE, Issue, Verdict
from rookery.core.limits import CriticPolicy
from tests.core.hostile import foreign_json

POLICY = CriticPolicy()


def meta(**critic: Any) -> dict[str, Any]:
    return {"rookery": {"critic": critic}}


def test_the_documented_shape_is_read_whole() -> None:
    issue = {"category": "effort", "name": "Gave up early", "probability": 0.9, "kind": BEHAVIOURAL}
    other = {"category": "network", "name": "No route", "kind": INFRASTRUCTURE, "probability": 1}
    found = verdicts.of_answer(meta(score=0.4, issues=[issue, other], source="api"))
    assert found == Verdict(
        0.4,
        (
            Issue("Gave up early", "effort", 0.9, BEHAVIOURAL),
            Issue("No route", "network", 1.0, INFRASTRUCTURE),
        ),
        "api",
    )


@pytest.mark.parametrize(
    "odd",
    [
        *(None, 7, {}, {"rookery": []}, meta(), meta(score="0.4"), meta(score=True)),
        *(meta(score=score) for score in (1.01, -0.01, 10**400)),
        meta(issues=[{}, 7, {"probability": 1}]),
    ],
)
def test_what_is_no_verdict_is_passed_over(odd: Any) -> None:
    assert verdicts.of_answer(odd) is None


def test_an_issue_is_bounded_and_an_unknown_kind_triggers_nothing() -> None:
    long = {
        "name": "x" * 10_000 + "\nmore",
        "category": "c" * 10_000,
        "probability": 5,
        "kind": "?",
    }
    found = verdicts.of_answer(meta(issues=[long] * 1000))
    assert found is not None
    assert len(found.issues) == verdicts.ISSUES_KEPT
    assert len(found.issues[0].name) <= verdicts.MAX_LABEL_LENGTH
    assert found.issues[0].probability is None
    assert found.issues[0].kind == INFRASTRUCTURE
    assert not verdicts.triggers(found, POLICY)


@given(foreign_json)
def test_any_json_is_read_without_a_fault(value: Any) -> None:
    found = verdicts.of_answer({"rookery": {"critic": value}})
    if found is not None:
        assert verdicts.request([found], 1, POLICY)
        assert found.score is None or 0 <= found.score <= 1


@pytest.mark.parametrize(
    ("score", "poor"), [(0.6, False), (0.5999, True), (0.0, True), (1.0, False), (None, False)]
)
def test_a_score_below_the_threshold_is_poor(score: float | None, poor: bool) -> None:
    assert verdicts.triggers(Verdict(score), POLICY) is poor


@pytest.mark.parametrize(
    ("probability", "kind", "poor"),
    [
        (0.75, BEHAVIOURAL, True),
        (0.7499, BEHAVIOURAL, False),
        (None, BEHAVIOURAL, False),
        (1.0, INFRASTRUCTURE, False),
    ],
)
def test_a_behavioural_issue_at_the_threshold_is_poor(
    probability: float | None, kind: str, poor: bool
) -> None:
    verdict = Verdict(1.0, (Issue("x", "", probability, kind),))
    assert verdicts.triggers(verdict, POLICY) is poor


@pytest.mark.parametrize(
    ("code", "signal", "score"),
    [
        *((0, "", 1.0), (1, "", 0.0), (2, "", 0.0), (127, "", None), (126, "", None)),
        *((None, "SIGSEGV", 0.0), (None, "SIGTERM", None), (None, "SIGKILL", None)),
    ],
)
def test_an_exit_code_is_a_score(code: int | None, signal: str, score: float | None) -> None:
    found = verdicts.of_exit(code, signal, "out")
    assert found.score == score
    assert verdicts.triggers(found, POLICY) is (score == 0.0)
    assert verdicts.is_silent(found) is (score is None)


def test_the_prompt_lists_issues_by_probability_and_says_whose_it_is() -> None:
    issues = tuple(
        Issue(name, "cat", share) for name, share in (("b", 0.2), ("a", 0.9), ("c", None))
    )
    noise = Issue("no disk", "infra", 1.0, INFRASTRUCTURE)
    said = verdicts.request([Verdict(0.3, (*issues, noise), "judge")], 2, POLICY)
    assert said.startswith("This comes from a critic, not from the user (refinement 2 of 3).")
    assert (
        said.index("1. a (cat, 0.90)") < said.index("2. b (cat, 0.20)") < said.index("3. c (cat)")
    )
    assert "no disk" not in said
    assert "score 0.30 (judge); the target is at least 0.60" in said


def test_the_tail_of_an_output_is_plain_and_short() -> None:
    lines = "\n".join(f"\x1b[31mline {n}\x1b[0m\r" for n in range(10_000))
    tail = verdicts.tail_of(lines)
    assert tail.endswith("line 9999")
    assert len(tail) <= verdicts.TAIL_CHARACTERS
    assert len(tail.splitlines()) <= verdicts.TAIL_LINES
    assert "\x1b" not in tail
    fenced = verdicts.request([verdicts.of_exit(1, "", "````\nx")], 1, POLICY._replace(command="t"))
    assert "`````\n````\nx\n`````" in fenced


@given(st.text())
def test_any_output_has_a_tail(output: str) -> None:
    assert len(verdicts.tail_of(output)) <= verdicts.TAIL_CHARACTERS
