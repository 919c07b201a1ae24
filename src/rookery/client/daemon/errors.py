"""Errors of talking to the Rookery of another machine.

RemoteError ├── NotLoggedIn no login is saved, or it was revoked ├── Unreachable nobody answers; may
be temporary ├── Untrusted its certificate is not trusted ├── OtherVersion it does not know what we
ask for ├── ReadOnly it takes no changes ├── Denied any other refusal, in its own words └──
OnlyThere can be done on that machine only"""

from rookery.core.refusals import Fixed, Refused


class RemoteError(Refused):
    """The base class of these errors."""


class NotLoggedIn(Fixed, RemoteError):
    kind = "denied"
    reason = "no_token"

    def __init__(self, url: str, why: str = "") -> None:
        why = why or f"You are not logged in to {url}."
        super().__init__(why, f"To log in: rookery login {url}")


class Unreachable(Fixed, RemoteError):
    kind = "failed"
    reason = "unreachable"

    def __init__(self, url: str, why: str, *, sent: bool = False) -> None:
        super().__init__(f"{url} cannot be reached: {why}. Is the daemon running there?")
        self.sent = sent
        """The request may have arrived all the same."""


class Untrusted(Fixed, RemoteError):
    kind = "failed"
    reason = "untrusted"

    def __init__(self, message: str, fingerprint: str = "") -> None:
        super().__init__(message)
        self.fingerprint = fingerprint
        """Of the certificate that was shown, if it is known."""


class OtherVersion(Fixed, RemoteError):
    kind = "version"
    reason = "other_version"

    def __init__(self, url: str, what: str) -> None:
        super().__init__(
            f"The Rookery at {url} does not know {what}: it is of another version, or this is not "
            "the address of a daemon.",
            "Update the older one. Where the daemon is the older one, restart it then: "
            "rookery serve --restart",
        )


class ReadOnly(Fixed, RemoteError):
    kind = "denied"
    reason = "read_only"

    def __init__(self, url: str) -> None:
        super().__init__(f"{url} is read-only (--read-only): nothing was changed.")


class Denied(RemoteError):
    """The other Rookery refused; the message is its own."""


class OnlyThere(Fixed, RemoteError):
    """It would have to happen on the other machine, and cannot be requested from here."""

    reason = "only_there"
