"""Verdicts of a critic on a turn: a score, and issues that each have a probability and a
kind.

An agent that has a critic of its own attaches its verdict to the response to
`session/prompt`:

    "_meta": {"rookery": {"critic": {
        "score": 0.4,                        0 to 1; may be left out if there are issues
        "source": "api",                     who judged
        "issues": [{
            "category": "…", "name": "…",
            "probability": 0.9,              0 to 1
            "kind": "behavioural"            or "infrastructure": shown, triggers nothing
        }]
    }}}

All of it is foreign input: anything that does not have this shape is ignored."""

import re
from itertools import islice
from typing import NamedTuple

from rookery.core.json import Json, lenient, safe_text
from rookery.core.limits import CriticPolicy

BEHAVIOURAL = "behavioural"
INFRASTRUCTURE = "infrastructure"
COMMAND = "command"
"""The source, and the category, of what a command says."""

ISSUES_KEPT = 50
MAX_LABEL_LENGTH = 200
TAIL_LINES = 60
TAIL_CHARACTERS = 6000

ENDED_FROM_OUTSIDE = frozenset({"SIGTERM", "SIGKILL", "SIGINT", "SIGHUP"})
NOT_RUN = frozenset({126, 127})
"""How a shell says that there is no such program, or that it cannot be run."""

_ESCAPES = re.compile(r"\x1b(\[[0-?]{0,64}[ -/]{0,8}[@-~]|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f]")


class Issue(NamedTuple):
    name: str
    category: str = ""
    probability: float | None = None
    kind: str = BEHAVIOURAL


class Verdict(NamedTuple):
    score: float | None
    issues: tuple[Issue, ...] = ()
    source: str = "agent"
    tail: str = ""
    """The end of a command's output."""


def of_answer(meta: object) -> Verdict | None:
    """Return the usable verdict that an agent attached to a prompt's response, or None."""
    given = lenient.mapping(lenient.mapping(meta, "rookery"), "critic")
    score = share_of(given, "score")
    parsed = (_issue(item) for item in islice(lenient.mappings(given, "issues"), ISSUES_KEPT))
    issues = tuple(issue for issue in parsed if issue is not None)
    if score is None and not issues:
        return None
    source = lenient.first_line(lenient.text(given, "source"), MAX_LABEL_LENGTH) or "agent"
    return Verdict(score, issues, source)


def of_exit(exit_code: int | None, signal: str, output: str) -> Verdict:
    """Return the verdict for a command's exit: passed or failed. A command that could not run, or
    was killed, judged nothing."""
    tail = tail_of(output)
    if exit_code == 0:
        return Verdict(1.0, (), COMMAND)
    if exit_code in NOT_RUN:
        return unheard(f"The command could not be run (exit code {exit_code}).", tail)
    if exit_code is None and (not signal or signal in ENDED_FROM_OUTSIDE):
        return unheard(f"The command was ended ({signal or 'unknown'}).", tail)
    how = f"exit code {exit_code}" if exit_code is not None else signal
    issue = Issue(f"The command failed: {how}", COMMAND, 1.0)
    return Verdict(0.0, (issue,), COMMAND, tail)


def unheard(why: str, tail: str = "") -> Verdict:
    """Return the verdict for a command that was cut short: it says nothing about the work."""
    return Verdict(None, (Issue(why, COMMAND, None, INFRASTRUCTURE),), COMMAND, tail)


def triggers(verdict: Verdict, policy: CriticPolicy) -> bool:
    if verdict.score is not None and verdict.score < policy.score_below:
        return True
    return any(
        issue.kind == BEHAVIOURAL
        and issue.probability is not None
        and issue.probability >= policy.issue_at
        for issue in verdict.issues
    )


def is_silent(verdict: Verdict) -> bool:
    """Whether this is no verdict: there is neither a score nor an issue of the agent's own."""
    return verdict.score is None and all(each.kind != BEHAVIOURAL for each in verdict.issues)


def in_order(issues: tuple[Issue, ...]) -> list[Issue]:
    """Return the issues, most probable first; those without a probability come last."""
    return sorted(issues, key=lambda each: 1.0 if each.probability is None else -each.probability)


def request(verdicts: list[Verdict], iteration: int, policy: CriticPolicy) -> str:
    """Return the refinement prompt. It leaves out issues of the infrastructure, which the agent
    cannot fix."""
    of = policy.iterations
    lines = [f"This comes from a critic, not from the user (refinement {iteration} of {of})."]
    scores = [f"{each.score:.2f} ({each.source})" for each in verdicts if each.score is not None]
    if scores:
        target = f"the target is at least {policy.score_below:.2f}"
        lines.append(f"It judged the work so far: score {', '.join(scores)}; {target}.")
    issues = in_order(tuple(issue for each in verdicts for issue in each.issues))
    shown = [issue for issue in issues if issue.kind == BEHAVIOURAL]
    if shown:
        lines += ["", "Issues, most likely first:"]
        lines += [f"{number}. {issue_words(issue)}" for number, issue in enumerate(shown, 1)]
    for tail in (each.tail for each in verdicts if each.tail):
        fence = safe_text.fence(tail)
        lines += ["", f"Last output of `{policy.command}`:", fence, tail, fence]
    lines += ["", "Fix what is wrong and finish the task. Leave what is already right."]
    return "\n".join(lines)


def issue_words(issue: Issue) -> str:
    more = [issue.category] if issue.category and issue.category != COMMAND else []
    if issue.probability is not None and issue.category != COMMAND:
        more.append(f"{issue.probability:.2f}")
    return f"{issue.name} ({', '.join(more)})" if more else issue.name


def to_json(issue: Issue) -> Json:
    fields: Json = {"category": issue.category, "name": issue.name, "kind": issue.kind}
    return fields | ({"probability": issue.probability} if issue.probability is not None else {})


def tail_of(output: str) -> str:
    """Return the end of an output, in plain text."""
    plain = _ESCAPES.sub("", output[-4 * TAIL_CHARACTERS :].replace("\r\n", "\n"))
    lines = plain.strip("\n").split("\n")[-TAIL_LINES:]
    return "\n".join(lines)[-TAIL_CHARACTERS:]


def _issue(item: Json) -> Issue | None:
    name = lenient.first_line(lenient.text(item, "name"), MAX_LABEL_LENGTH)
    category = lenient.first_line(lenient.text(item, "category"), MAX_LABEL_LENGTH)
    if not name and not category:
        return None
    kind = lenient.text(item, "kind", BEHAVIOURAL)
    known = BEHAVIOURAL if kind == BEHAVIOURAL else INFRASTRUCTURE
    return Issue(name or category, category, share_of(item, "probability"), known)


def share_of(value: object, key: str) -> float | None:
    """Return a number from 0 to 1; None for anything else."""
    share = lenient.number(value, key)
    return float(share) if share is not None and 0 <= share <= 1 else None
