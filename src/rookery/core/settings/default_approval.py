"""Parsing how new sessions ask for approval, by any of its names."""

from rookery.core import limits
from rookery.core.policy import approvals, modes


def default_approval(given: str) -> str | None:
    """Return the value of `session.confirm` that is meant; None if there is none. Raises BadValue
    for plan mode, which is chosen for one session, whose agent has such a mode."""
    if approvals.id_of(given) == approvals.PLAN:
        listed = " or ".join(f'"{each}"' for each in modes.VALUES)
        how = "rookery run --plan, rookery set SESSION confirm plan, or F9"
        raise limits.BadValue(f"must be {listed}. To plan in one session: {how}")
    return modes.value_of(given)
