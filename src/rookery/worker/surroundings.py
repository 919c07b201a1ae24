"""What a session was made in, and all that it starts is given: environment and umask (row A1)."""

import os
from typing import NamedTuple

from rookery import paths
from rookery.core import loose
from rookery.core.environment import OVERRIDES, cleaned, completed
from rookery.processes.fence import Fence
from rookery.processes.lineage import MARK

USUAL_UMASK = 0o022


class Surroundings(NamedTuple):
    environment: dict[str, str]
    umask: int
    fence: Fence | None = None
    """What is around all of it."""


def of_session(directory: str) -> Surroundings:
    """As the maker saved them; the worker's own where there is nothing to read. What is never saved
    is taken from whoever starts the worker."""
    saved = paths.read_json(os.path.join(directory, paths.ENVIRONMENT))
    found = loose.mapping(saved, "environment") if saved is not None else dict(os.environ)
    environment = cleaned({key: value for key, value in found.items() if isinstance(value, str)})
    names = [name for name in loose.texts(saved, "withheld") if name in OVERRIDES]
    environment = completed(environment, names, os.environ)
    if mark := os.environ.get(MARK):
        environment[MARK] = mark
    umask = loose.integer(saved, "umask")
    return Surroundings(environment, USUAL_UMASK if umask is None else umask & 0o777)
