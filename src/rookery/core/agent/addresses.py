"""Agents that are reached at an address instead of being started by a command. The address takes
the place of the command's argv."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rookery.core.json import Json, lenient

SCHEMES = ("ws://", "wss://", "http://", "https://", "unix:/")
OFFERS = ("files", "terminals")


class Source(NamedTuple):
    """Where a header's value comes from: a variable or a file, never the configuration."""

    env: str = ""
    """A variable of the session's environment."""
    file: str = ""
    """A file that only its user can read."""


class Remote(NamedTuple):
    """How to connect to a remote agent, apart from its address."""

    headers: Mapping[str, Source] = MappingProxyType({})
    ca: str = ""
    """A file of certificates to trust instead of the system's."""
    fingerprint: str = ""
    """The SHA-256 of the server's certificate."""
    cwd: str = ""
    """Its working directory over there; "": the session's."""
    offers: tuple[str, ...] = ()
    """What of this machine it may use."""

    def plain(self) -> Json:
        """Return the settings as JSON, without those that are not set."""
        headers = {
            name: {key: value for key, value in source._asdict().items() if value}
            for name, source in self.headers.items()
        }
        fields = self._asdict() | {"headers": headers, "offers": list(self.offers)}
        return {key: value for key, value in fields.items() if value}


def address_of(argv: Sequence[str]) -> str:
    """Return the address that stands in place of a command, or "" if `argv` is a command."""
    return argv[0] if len(argv) == 1 and argv[0].startswith(SCHEMES) else ""


def remote_of(table: Json) -> Remote:
    """Build a Remote from a valid configuration table, or from the output of `plain`."""
    headers = {
        name: Source(lenient.text(source, "env"), lenient.text(source, "file"))
        for name, source in lenient.mapping(table, "headers").items()
    }
    ca, fingerprint, cwd = (lenient.text(table, key) for key in ("ca", "fingerprint", "cwd"))
    return Remote(headers, ca, fingerprint, cwd, tuple(lenient.texts(table, "offers")))
