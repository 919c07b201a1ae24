"""Reaching the Rookery of a face: only this module knows whether it is this machine's."""

from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rookery.client.daemon.local import Answer
    from rookery.core.json import Json
    from rookery.operations.calling.interface import Rookery

RECONNECT_TIMEOUT = 30.0
"""Seconds that a request waits for a broken connection to come back."""


def rookery_at(home: str, address: str = "", patience: float = RECONNECT_TIMEOUT) -> "Rookery":
    """Return the Rookery at `address`, another machine's daemon with the login that `home` has for
    it; "": this machine's Rookery. Raises BadUrl, Unusable, FromAgent, Denied."""
    if address:
        from rookery.client.daemon.logins import load
        from rookery.client.daemon.remote import Door
        from rookery.operations.calling.remote import RemoteRookery

        return RemoteRookery(Door(load(home, address)), patience)
    from rookery.operations.calling.local import LocalRookery

    return LocalRookery(home)


def answer_of(
    home: str, address: str, method: str, path: str, body: "Json | None" = None
) -> "Answer":
    """Send a request to the daemon and return its answer: over its own socket, or at its address
    with the login that `home` has for it. Raises NoDaemon, RemoteError and its like."""
    if not address:
        from rookery.client.daemon import local

        return local.request(home, method, path, body)
    from rookery.client.daemon.logins import load
    from rookery.client.daemon.remote import Door

    with closing(Door(load(home, address))) as door:
        return door.ask(method, path, body)


def asked_of(home: str, address: str, method: str, path: str, body: "Json | None" = None) -> Any:
    """Return the same answer as JSON. Also raises the refusal that the daemon answers with."""
    from rookery.client.daemon.remote import refusal

    answer = answer_of(home, address, method, path, body)
    if answer.status >= 400:
        raise refusal(address or "this machine's daemon", path, answer)
    return answer.json()
