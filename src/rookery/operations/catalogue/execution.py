"""How a command is carried out: as its operation says, or by the core's own table for commands that
are not in the catalogue."""

from rookery.core import commands
from rookery.core.json import Json
from rookery.operations.catalogue.finding import find


def execution_of(command: Json) -> commands.Command | None:
    """Return how to carry out a command, or None if there is none of its name."""
    own = commands.row_of(command)
    if own is not None:
        return own
    row = find(command.get("do"))
    return row.execution if row is not None and row.is_sent else None
