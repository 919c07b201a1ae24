"""Works with a preview that a command asks about in its own words."""

from collections.abc import Callable
from typing import Any

from rookery.cli import target
from rookery.cli.output import standard
from rookery.core.json import Json
from rookery.core.refusals import NotAgreed


def agreed(operation: str, ask: Callable[[], object], session: str = "", **given: Any) -> Json:
    """What came of it. `ask` ends the command unless the user agrees to what has been shown. Raises
    NotAgreed: it has changed by the time that the user agreed."""
    rookery, report = target.rookery(), standard().status
    try:
        return rookery.call(operation, session, report=report, **given)
    except NotAgreed as question:
        ask()
        return rookery.call(
            operation, session, report=report, fingerprint=question.fingerprint, **given
        )
