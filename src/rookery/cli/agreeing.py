"""Running an operation that needs consent, where the command shows the preview and asks."""

from collections.abc import Callable
from typing import Any

from rookery.cli import target
from rookery.cli.output import standard
from rookery.core.json import Json
from rookery.core.refusals import NotAgreed


def agreed(operation: str, ask: Callable[[], object], session: str = "", **given: Any) -> Json:
    """Run the operation and return its result. `ask` ends the command unless the user agrees to the
    preview shown. Raises NotAgreed if the preview has changed by the time the user agrees."""
    rookery, report = target.rookery(), standard().status
    try:
        return rookery.call(operation, session, report=report, **given)
    except NotAgreed as question:
        ask()
        return rookery.call(
            operation, session, report=report, fingerprint=question.fingerprint, **given
        )
