"""What is particular about one agent or another: one table, so that no other file names a vendor.

Conservative: what was not seen is left generic.
"""

from collections.abc import Sequence
from typing import NamedTuple

from rookery.core.events import Json


class Profile(NamedTuple):
    files: bool = False
    """It profits from our `fs/*`: offer them."""
    terminals: bool = False
    takes_reasons: bool = False
    """A reason given with a rejection reaches its model."""
    async_agents: bool = False
    """It may launch agents that work on without a word (row T8)."""
    background: bool = False
    """It may start commands in the background (row T8)."""
    wake_ups: bool = False
    """It may go to sleep and wake by itself (row T9)."""
    cost_ends: bool = False
    """Usage with cost comes once, when the model is done, and not after each of its steps (T7)."""
    modes: tuple[tuple[str, str], ...] = ()
    """Known modes (id, name), where the agent itself reports none (row M1)."""


OURS = Profile(files=True, terminals=True)

_CLAUDE_MODES = (
    ("default", "Default"),
    ("plan", "Plan"),
    ("acceptEdits", "Accept edits"),
    ("bypassPermissions", "Yolo"),
)

_TABLE = {
    "demo": OURS,
    "rookery": Profile(takes_reasons=True),  # it has files and a terminal of its own
    "claude": Profile(
        async_agents=True, background=True, wake_ups=True, cost_ends=True, modes=_CLAUDE_MODES
    ),
}


def profile_of(name: str, argv: Sequence[str]) -> Profile:
    """By name; the player is known by its command, whatever the session calls it."""
    if name in _TABLE:
        return _TABLE[name]
    if "rookery.acp.player" in argv or ("play" in argv and "rookery" in " ".join(argv)):
        return OURS
    return Profile()


def offers_of(profile: Profile) -> Json:
    """The capabilities that we tell an agent of in `initialize` (row A2)."""
    return {
        "fs": {"readTextFile": profile.files, "writeTextFile": profile.files},
        "terminal": profile.terminals,
        "elicitation": {"form": {}},
        "session": {"configOptions": {"boolean": {}}},
    }


def known_modes(profile: Profile) -> Json | None:
    """As an agent would report them; the first is the one that it starts in."""
    if not profile.modes:
        return None
    listed = [{"id": key, "name": name} for key, name in profile.modes]
    return {"currentModeId": profile.modes[0][0], "availableModes": listed}
