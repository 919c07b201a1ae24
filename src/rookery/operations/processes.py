"""The processes of sessions, and how they are ended."""

from typing import Annotated, TypedDict

from rookery.operations.catalogue.row import At, work


class Killed(TypedDict):
    summary: str
    left: Annotated[list[str], "What could not be ended: another user's processes."]


@work(
    "End its processes",
    on="session",
    person="stop sessions",
    listed=False,
    typed=False,
    once="harmless",
)
def kill(at: At) -> Killed:
    """End a session's processes, whatever state they are in. Its history is kept."""
    from rookery.client import fleet

    left = fleet.kill(at.home, at.session)
    ended = "Ended. Your next prompt wakes the session."
    return {"summary": f"Not ended: {', '.join(left)}." if left else ended, "left": left}
