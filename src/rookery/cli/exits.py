"""Exit codes: what a script learns from us (row U13)."""

DONE = 0
FAILED = 1
USAGE = 2
REFUSED = 3
RATE_LIMITED = 4
CANCELLED = 130
PIPE_CLOSED = 141
"""As any program that SIGPIPE ends."""


def of_turn(reason: str, *, rejected: bool = False) -> int:
    """The code of a turn's end; `rejected`: our policy said no to what the agent asked."""
    if rejected and reason in ("end_turn", "cancelled", "refusal"):
        return REFUSED
    return {"end_turn": DONE, "cancelled": CANCELLED, "rate_limited": RATE_LIMITED}.get(
        reason, FAILED
    )
