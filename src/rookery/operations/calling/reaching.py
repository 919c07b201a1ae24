"""The Rookery that a face works with: the one place that knows whether it is this machine's."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rookery.operations.calling.interface import Rookery

PATIENCE = 30.0
"""Seconds for which what is sent waits for a connection that broke."""


def rookery_at(home: str, address: str = "", patience: float = PATIENCE) -> "Rookery":
    """`address`: of another machine's daemon, with the login that `home` has for it; "": this
    machine's Rookery. Raises BadUrl, Unusable, FromAgent, Denied."""
    if address:
        from rookery.client.daemon.logins import load
        from rookery.client.daemon.remote import Door
        from rookery.operations.calling.remote import RemoteRookery

        return RemoteRookery(Door(load(home, address)), patience)
    from rookery.operations.calling.local import LocalRookery

    return LocalRookery(home)
