"""The ask whether an agent may carry out its plan. Only the user says go, each time: no mode does,
no order that answers for them, and no rule but one that was written for just that."""

import re
from collections.abc import Iterable, Sequence

from rookery.core.json import Json, lenient

KIND = "switch_mode"
TOOL = "exit_plan_mode"
"""The call by which our own agent asks it."""
THEIR_TOOL = "ExitPlanMode"
"""The same of Claude's."""
READY = "the plan is ready; only you can approve it"
"""Where nobody is asked."""
HEADING = re.compile(r"(?mi)^\s{0,3}#{1,6}\s+(?:[\w-]+\s+){0,3}plan\b.*$|^\*\*plan\b.*$")
"""By which a plan is recognized, among all that a model says."""
LONGEST = 200
"""Characters of a plan's title."""
ONLY_YOU = "Only you can approve a plan; no rule can do it for you."


def is_one(kind: str, tools: Sequence[str]) -> bool:
    """Whether an agent wants to leave the mode that it is in, such as plan mode."""
    return kind == KIND or is_own(tools) or THEIR_TOOL in tools[:1]


def is_own(tools: Sequence[str]) -> bool:
    """Of our own agent, to whose plans no rule says go."""
    return TOOL in tools[:1]


def speaks_of_it(kinds: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether a rule for these kinds and tools was written for it: not one for everything."""
    return KIND in kinds or any(pattern.strip("*?") for pattern in patterns)


def is_answered(asks: Iterable[Json], prompt: Sequence[Json]) -> bool:
    """Whether a prompt says go to a plan of our own agent's that waits for it: it does not wait
    behind the turn that waits."""
    words = lenient.text(prompt[0], "text").split() if prompt else []
    names = [lenient.text(lenient.mapping(ask, "toolCall"), "name") for ask in asks]
    return words[:1] == ["/go"] and TOOL in names


def title_of(plan: str) -> str:
    """Its heading, or else how it begins, on one line."""
    lines = [line.strip() for line in plan.splitlines() if line.strip()]
    headings = [line for line in lines if HEADING.match(line)]
    return next(iter(headings or lines), "").strip("#* ")[:LONGEST]
