"""Sessions as lists show them (their titles, which come first, and which are hidden), and their
processes."""

from typing import TYPE_CHECKING, Annotated

from rookery.operations.catalogue.arguments import Arg
from rookery.operations.catalogue.row import Preset, SessionChange, change, command

if TYPE_CHECKING:
    from rookery.core.json import Json

LONGEST_TITLE = 200
NO_TITLE = f"A title has 1 to {LONGEST_TITLE} characters, and not only blanks."
LAST_TIME = 253_402_300_799_000
"""The end of the year 9999, in milliseconds of the epoch."""
NO_TIME = "`until` is missing: a time in milliseconds since the epoch; 0: no longer."

Title = Annotated[
    str,
    Arg(
        "The new title.",
        max_length=LONGEST_TITLE,
        pattern=r"\S",
        positional=True,
        reason="no_title",
        wrong=NO_TITLE,
    ),
]
Until = Annotated[
    int,
    Arg(
        "Until this local time:",
        minimum=0,
        maximum=LAST_TIME,
        how="moment",
        reason="no_time",
        wrong=NO_TIME,
    ),
]


@change("Rename", on="session", examples=('3f2a "Release notes"',))
def rename(title: Title) -> SessionChange:
    """Give a session a title. You can then use the title as its name."""
    return SessionChange(title=title)


@change("Pin", when={"pinned": False}, undo="unpin", done="Pinned {}.", examples=("3f2a",))
def pin() -> SessionChange:
    """Keep a session at the top of lists. It comes first among those in the same state."""
    return SessionChange(pinned=True)


@change(
    "Unpin",
    takes=True,
    when={"pinned": True},
    undo="pin",
    done="{} is no longer pinned.",
    examples=("3f2a",),
)
def unpin() -> SessionChange:
    """Unpin a session."""
    return SessionChange(pinned=False)


@change(
    "Archive",
    handler="put_away",
    takes=True,
    when={"archived": False},
    needless="is already archived",
    undo="unarchive",
    done="Archived {}.",
    while_running="The session goes to sleep when its turn ends.",
    examples=("3f2a", "3f2a 91bc"),
)
def archive() -> SessionChange:
    """Hide a session from lists. Nothing is lost. It goes to sleep once no turn is running.

    A prompt, or rookery unarchive, brings it back. rookery ps --all still shows it.
    """
    return SessionChange(archived=True)


@change(
    "Unarchive",
    handler="put_away",
    when={"archived": True},
    needless="is not archived",
    undo="archive",
    done="{} is back in the lists.",
    examples=("3f2a",),
)
def unarchive() -> SessionChange:
    """Bring an archived session back into the lists. It stays asleep until the next prompt."""
    return SessionChange(archived=False)


@change(
    "Snooze",
    handler="put_away",
    takes=lambda command: command.get("until") != 0,
    when={"archived": False, "snoozed": False},
    undo="unsnooze",
    done="Snoozed {} until {until}.",
    while_running="The session goes to sleep when its turn ends.",
    presets=(
        Preset("Snooze for an hour", {"until": "1h"}, "hidden from lists until then"),
        Preset("Snooze until tomorrow", {"until": "tomorrow 09:00"}, "9:00"),
    ),
    examples=("3f2a --for 2h", "3f2a --until 09:00"),
)
def snooze(until: Until) -> SessionChange:
    """Hide a session from lists until a given time. It goes to sleep once no turn is running.

    Nothing starts at that time; a prompt brings it back earlier. rookery ps --all still shows it.
    """
    return SessionChange(snoozed=until)


@change(
    "Unsnooze",
    handler="put_away",
    when={"snoozed": True},
    needless="is not snoozed",
    done="{} is back in the lists.",
    examples=("3f2a",),
    sends=lambda _given: {"do": "snooze", "until": 0},
)
def unsnooze() -> SessionChange:
    """Bring a snoozed session back into the lists now."""
    return SessionChange(snoozed=0)


@command(
    "Put to sleep",
    when={"awake": True},
    done="{} is asleep; the next prompt wakes it.",
    examples=("3f2a", "3f2a 91bc", "3f2a --now"),
    more="the next prompt wakes it",
    warns="The running turn ends now. The next prompt wakes the session.",
    warns_when={"running": True},
)
def stop() -> "Json":
    """Put a session to sleep; the next prompt wakes it. Its agent and its worker stop."""
    return {"do": "stop"}


@command(
    "Restart the agent",
    done="The agent of {} was restarted.",
    examples=("3f2a",),
    more="a running turn is interrupted",
    warns="The running turn is interrupted.",
    warns_when={"running": True},
)
def restart() -> "Json":
    """Restart a session's agent. A running turn is interrupted.

    From a terminal, the agent gets its environment; variables that changed are listed.
    """
    return {"do": "restart"}
