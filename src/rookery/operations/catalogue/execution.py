"""How a command is carried out: as its operation says, or the core's own table of those that are
not in the catalogue."""

from rookery.core import commands
from rookery.core.json import Json
from rookery.operations.catalogue.finding import find


def execution_of(command: Json) -> commands.Command | None:
    """None: there is no command of its name."""
    own = commands.row_of(command)
    if own is not None:
        return own
    row = find(command.get("do"))
    return row.execution if row is not None and row.is_sent else None
