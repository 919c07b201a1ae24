"""Agents that are reached by an address instead of started by a command. The address stands where
the words of a command would."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rookery.core.json import Json, lenient

SCHEMES = ("ws://", "wss://", "http://", "https://", "unix:/")
OFFERS = ("files", "terminals")


class Source(NamedTuple):
    """Where the value of a header comes from: never from the configuration itself."""

    env: str = ""
    """A variable of the session's environment."""
    file: str = ""
    """A file that only its user can read."""


class Remote(NamedTuple):
    """How an agent is reached, besides its address."""

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
        """As JSON, without what is not set."""
        headers = {
            name: {key: value for key, value in source._asdict().items() if value}
            for name, source in self.headers.items()
        }
        found = self._asdict() | {"headers": headers, "offers": list(self.offers)}
        return {key: value for key, value in found.items() if value}


def address_of(argv: Sequence[str]) -> str:
    """The address in the place of a command; "": it is a command."""
    return argv[0] if len(argv) == 1 and argv[0].startswith(SCHEMES) else ""


def remote_of(table: Json) -> Remote:
    """Of a table that has no fault, or of what `plain` gave."""
    headers = {
        name: Source(lenient.text(source, "env"), lenient.text(source, "file"))
        for name, source in lenient.mapping(table, "headers").items()
    }
    ca, fingerprint, cwd = (lenient.text(table, key) for key in ("ca", "fingerprint", "cwd"))
    return Remote(headers, ca, fingerprint, cwd, tuple(lenient.texts(table, "offers")))
