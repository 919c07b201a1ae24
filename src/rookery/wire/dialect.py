"""What a dialect of the protocol is: `versions` says when there is one."""

from collections.abc import Callable, Iterable
from typing import Any

type Json = dict[str, Any]

INITIALIZE = "initialize"
DRAFT = 2
UNSUPPORTED = -32022
"""The draft's error for a version that an agent does not speak."""


class Dialect:
    """One connection's translator. Both methods may be given any JSON object."""

    send: Callable[[Json], None]
    """Writes a message of the dialect's own. A peer sets this, and the next."""
    speak: Callable[["Dialect | None"], None]
    """Replaces this dialect."""

    def outgoing(self, message: Json) -> Iterable[Json]:
        """What is written for a message of version 1."""
        raise NotImplementedError

    def incoming(self, message: Json) -> Iterable[Json]:
        """What is taken, in version 1, for a message that came."""
        raise NotImplementedError


def is_draft(result: object) -> bool:
    """Whether an agent answers `initialize` in the draft's form."""
    return isinstance(result, dict) and all(
        isinstance(result.get(key), dict) for key in ("info", "capabilities")
    )
