"""The interface of a protocol dialect; `versions` decides when one is used."""

from collections.abc import Callable, Iterable
from typing import Any

type Json = dict[str, Any]

INITIALIZE = "initialize"
DRAFT = 2
UNSUPPORTED = -32022
"""The draft's error for a version that an agent does not speak."""


class Dialect:
    """The translator of one connection. Both methods may be given any JSON object."""

    send: Callable[[Json], None]
    """Writes a message of the dialect's own. A peer sets this, and the next."""
    speak: Callable[["Dialect | None"], None]
    """Replaces this dialect."""

    def outgoing(self, message: Json) -> Iterable[Json]:
        """Return the messages to write for a message of version 1."""
        raise NotImplementedError

    def incoming(self, message: Json) -> Iterable[Json]:
        """Return the messages of version 1 that a received message stands for."""
        raise NotImplementedError


def is_draft(result: object) -> bool:
    """Return whether an agent answers `initialize` in the draft's form."""
    return isinstance(result, dict) and all(
        isinstance(result.get(key), dict) for key in ("info", "capabilities")
    )
