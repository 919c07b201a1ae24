"""Takes away what a write left that a kill cut off: `paths.write_atomic` names such a file after
its writer, and nobody else ever looks at it."""

import os
import re
from contextlib import suppress

from rookery.processes import tree

NAME = re.compile(r".+\.(\d+)\.[0-9a-f]+\.tmp")


def clear(directory: str) -> None:
    """Files of writers that are dead; one that is alive may be about to put its file in place."""
    with suppress(OSError):
        for name in os.listdir(directory):
            found = NAME.fullmatch(name)
            if found and tree.start_time(int(found[1])) is None:
                with suppress(OSError):
                    os.unlink(os.path.join(directory, name))
