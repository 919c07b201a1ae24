"""Exit codes: what a script learns from us."""

DONE = 0
FAILED = 1
USAGE = 2
REFUSED = 3
RATE_LIMITED = 4
DISK_FULL = 5
"""The session's worker has the command and cannot write: it waits for room on the disk."""
CANCELLED = 130
PIPE_CLOSED = 141
"""As any program that SIGPIPE ends."""


def of_turn(reason: str, *, rejected: bool = False, poor: bool = False) -> int:
    """The code of a turn's end; `rejected`: our policy said no to what the agent asked; `poor`: so
    the critic found what came of it."""
    if rejected and reason in ("end_turn", "cancelled", "refusal"):
        return REFUSED
    if poor and reason == "end_turn":
        return FAILED
    return {"end_turn": DONE, "cancelled": CANCELLED, "rate_limited": RATE_LIMITED}.get(
        reason, FAILED
    )
