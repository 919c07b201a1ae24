"""The fields of a session that protect the user, in one list.

A build that does not know such a field would run the agent without it. So:

1. A session that has one gets the field's log format, which earlier builds refuse to open. All
   other sessions keep the first format and open in every build. The log's writer sees to it.
2. A value that this build does not understand is refused, and never replaced by a default: the
   fold keeps it, and no worker starts.

What only loosens (an unattended order, a trusted hook, a granted budget) is not in the list: where
it is ignored, the user is asked more. A new field is a row here, with the next format.
"""

from collections.abc import Callable
from typing import NamedTuple

from rookery.core import budgets
from rookery.core.header import Header
from rookery.core.settings.sandbox import KINDS, NONE

PLAIN = 1
"""The log format of a session without any of the fields."""


class Field(NamedTuple):
    name: str
    """In the header, and in a `_session`."""
    format: int
    """Of the log, from the event that sets the field."""
    protects: Callable[[Header], bool]
    """Whether a header has it."""
    unknown: Callable[[Header], str]
    """The part of its value that is not understood; "": none."""


def _unknown_sandbox(header: Header) -> str:
    kind = str(header.sandbox or NONE)
    return "" if kind in KINDS else kind


def _limits(header: Header) -> bool:
    """Whether the session's budget limits anything: one that is off does not."""
    given = header.budget
    return bool(given) and bool(_unknown_budget(header) or budgets.in_force(given))


def _unknown_budget(header: Header) -> str:
    for scope, value in header.budget.items():
        if scope not in budgets.SCOPES or not budgets.is_budget(value):
            return f"{scope}={value}"
    return ""


FIELDS = (
    Field("sandbox", 2, lambda header: header.sandbox not in ("", NONE), _unknown_sandbox),
    Field("budget", 2, _limits, _unknown_budget),
)

TABLES = ("sandbox",)
"""Tables of config.toml in which an unknown key is refused as well: it may be a protection."""

FORMAT = max(each.format for each in FIELDS)
"""The newest log format that this build reads."""


def format_of(header: Header) -> int:
    """Return the log format that a session needs."""
    return max((each.format for each in FIELDS if each.protects(header)), default=PLAIN)


def fault(header: Header) -> str:
    """Return why no worker may start, as a sentence; "" if one may."""
    for each in FIELDS:
        if value := each.unknown(header):
            return (
                f"This session's {each.name} is {value!r}, which this Rookery does not know, so "
                "its agent was not started. A newer one may have set it. To update: rookery update"
            )
    return ""
