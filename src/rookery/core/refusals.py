"""Refusals: why something cannot be done and what would help, the same for every face.

    kind      how faces tell refusals apart; KINDS gives its exit code and HTTP status
    reason    an identifier for programs; part of the API, so it never changes
    message   one or more sentences for people
    remedy    a sentence on what to do about it; may be empty

Every error a user may meet is a `Refused`. Give it a class of its own only if callers
catch it, or if it carries more than these four."""

TYPE_CHECKING = False  # the warden imports this file, and `typing` would cost it 1 MB
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

type Kind = Literal[
    "usage",
    "missing",
    "gone",
    "conflict",
    "unclear",
    "preview",
    "large",
    "denied",
    "limited",
    "busy",
    "failed",
    "full",
    "pending",
    "version",
]


KINDS: dict[Kind, tuple[int, int]] = {
    "usage": (2, 422),  # the arguments are wrong
    "missing": (2, 404),  # nothing has that name
    "gone": (1, 404),  # it no longer exists
    "conflict": (1, 409),  # not possible in the current state
    "unclear": (2, 409),  # it could mean several things, or none that is known
    "preview": (2, 409),  # something would be lost: it has to be confirmed first
    "large": (2, 413),  # more than it takes
    "denied": (1, 403),  # whoever asks may not
    "limited": (4, 429),  # too often
    "busy": (1, 503),  # it may work in a moment
    "failed": (1, 502),  # something that is needed did not start or respond
    "full": (1, 507),  # the disk has no room; nothing was done
    "pending": (5, 507),  # it was taken, and is done once the disk can be written to
    "version": (1, 404),  # another version of Rookery does not know it
}
"""Exit code and HTTP status. Of kinds that share a status, the first is what an answer without a
kind means."""

PREVIEW, CHANGED = "preview", "changed"
"""The reasons of `NotAgreed`, unless a preview has one of its own."""
AGREE = "To go ahead, send it again with this fingerprint."

_BY_STATUS: dict[int, Kind] = {status: kind for kind, (_, status) in reversed(KINDS.items())}


def kind_of(status: int) -> Kind:
    """Return the kind of an HTTP response that does not name one."""
    rest: Kind = "failed" if status >= 500 else "denied" if status == 401 else "usage"
    return _BY_STATUS.get(status, rest)


class Refused(Exception):
    """The base class of all refusals."""

    kind: Kind = "conflict"
    reason: str = "failed"

    def __init__(
        self, reason: str, message: str, remedy: str = "", kind: Kind | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.remedy = remedy
        self.question: Mapping[str, str] = {}
        """What can be agreed to: its `fingerprint`, and as `shown`."""
        if kind is not None:
            self.kind = kind

    @property
    def exit_code(self) -> int:
        return KINDS[self.kind][0]

    @property
    def status(self) -> int:
        return KINDS[self.kind][1]

    @property
    def sentences(self) -> str:
        """The message and the remedy, as one paragraph."""
        return f"{self.message} {self.remedy}".rstrip()


def sentences(error: Exception) -> str:
    """Return an error's message for people, with its remedy if it has one."""
    return error.sentences if isinstance(error, Refused) else str(error)


class Fixed(Refused):
    """A refusal whose class fixes its kind and reason; it is raised with the message alone."""

    def __init__(self, message: str = "", remedy: str = "") -> None:
        super().__init__(self.reason, message, remedy)


class NotAgreed(Refused):
    """An operation's effects have not been agreed to yet, or differ from what was agreed to."""

    kind = "preview"

    def __init__(
        self, shown: str, fingerprint: str, reason: str = PREVIEW, remedy: str = AGREE
    ) -> None:
        message = f"It is no longer as it was shown.\n{shown}" if reason == CHANGED else shown
        super().__init__(reason, message, remedy)
        self.shown = shown
        self.fingerprint = fingerprint
        self.question = {"fingerprint": fingerprint, "shown": shown}
