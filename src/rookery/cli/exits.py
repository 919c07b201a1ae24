"""Exit codes, by which scripts learn how a command ended."""

DONE = 0
FAILED = 1
USAGE = 2
REFUSED = 3
RATE_LIMITED = 4
DISK_FULL = 5
"""The session's worker has the command and cannot write: it waits for room on the disk."""
WAITING = 6
"""The session waits for the user: for an answer, or for a word on how to go on."""
CANCELLED = 130
PIPE_CLOSED = 141
"""The exit code of any program that SIGPIPE ends."""


def of_turn(reason: str, *, rejected: bool = False, poor: bool = False) -> int:
    """Return the exit code for the end of a turn. `rejected`: our policy rejected something that
    the agent asked; `poor`: the critic found the work poor."""
    if rejected and reason in ("end_turn", "cancelled", "refusal"):
        return REFUSED
    if poor and reason == "end_turn":
        return FAILED
    known = {"end_turn": DONE, "cancelled": CANCELLED, "rate_limited": RATE_LIMITED}
    return (known | {"waiting": WAITING}).get(reason, FAILED)
