"""The ask whether an agent may carry out its plan. Only the user can approve it, each time: no mode
does, no unattended order, and no rule except one written for exactly that."""

import re
from collections.abc import Iterable, Sequence

from rookery.core.ask import Ask
from rookery.core.json import Json, lenient

KIND = "switch_mode"
TOOL = "exit_plan_mode"
"""The call by which our own agent asks it."""
THEIR_TOOL = "ExitPlanMode"
"""The same of Claude's."""
READY = "the plan is ready; only you can approve it"
"""Where nobody is asked."""
HEADING = re.compile(r"(?mi)^\s{0,3}#{1,6}\s+(?:[\w-]+\s+){0,3}plan\b.*$|^\*\*plan\b.*$")
"""Recognizes the heading of a plan in a model's output."""
MAX_TITLE_LENGTH = 200
"""The longest title of a plan, in characters."""
ONLY_YOU = "Only you can approve a plan; no rule can do it for you."


def is_one(kind: str, tools: Sequence[str]) -> bool:
    """Return whether an agent asks to leave its current mode, such as plan mode."""
    return kind == KIND or is_own(tools) or THEIR_TOOL in tools[:1]


def is_own(tools: Sequence[str]) -> bool:
    """Return whether our own agent asks, whose plans no rule can approve."""
    return TOOL in tools[:1]


def speaks_of_it(kinds: Sequence[str], patterns: Sequence[str]) -> bool:
    """Return whether a rule for these kinds and tools was written for plans, not for everything."""
    return KIND in kinds or any(pattern.strip("*?") for pattern in patterns)


def is_answered(asks: Iterable[Ask], prompt: Sequence[Json]) -> bool:
    """Return whether a prompt approves a plan of our own agent that is waiting for it: such a
    prompt does not queue behind the turn that waits."""
    tokens = lenient.text(prompt[0], "text").split() if prompt else []
    names = [lenient.text(ask.call, "name") for ask in asks]
    return tokens[:1] == ["/go"] and TOOL in names


def title_of(plan: str) -> str:
    """Return the plan's heading, or else its beginning, on one line."""
    lines = [line.strip() for line in plan.splitlines() if line.strip()]
    headings = [line for line in lines if HEADING.match(line)]
    return next(iter(headings or lines), "").strip("#* ")[:MAX_TITLE_LENGTH]
