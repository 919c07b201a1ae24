"""The client of OpenHands Cloud: its token, and the sandboxes that it runs agent servers in.

Tested against a mock of this API, never against the service itself (docs/agent.md)."""

import time
from collections.abc import Callable
from typing import NamedTuple

from rookery.agent.elsewhere.requests import Requests, how_to_log_in
from rookery.agent.process.place import Place
from rookery.agent.provider.told import ActionableError
from rookery.core.json import Json, lenient
from rookery.models.secrets import KNOWN, Secret
from rookery.wire.params import AUTH_REQUIRED

HEADER = ("Authorization", "Bearer ")
SERVER = "AGENT_SERVER"
"""The name of the address that the cloud gives a sandbox's agent server."""
BEGINNING = 300.0
"""Seconds that a sandbox may take to start."""
LOOK = 2.0
DEAD = ("ERROR", "MISSING")


class Sandbox(NamedTuple):
    id: str
    url: str
    key: Secret
    """Of its agent server."""


class Cloud(Requests):
    def __init__(self, place: Place, key: Secret) -> None:
        super().__init__(place, place.url, key, HEADER)
        self._has_key = bool(key)

    def check(self) -> str:
        """Check the token and return whose it is. Raises ActionableError."""
        if not self._has_key:
            message = f"OpenHands Cloud needs a token. {how_to_log_in(self.place)}"
            raise ActionableError(message, "auth", AUTH_REQUIRED)
        user = self.get("/api/v1/users/me", missing=True)
        if not isinstance(user, dict):
            raise self.foreign()
        names = (lenient.text(user, name) for name in ("email", "login", "name", "id"))
        return next(filter(None, names), "you")

    def sandbox(self, wanted: str, on_wait: Callable[[str], None]) -> Sandbox:
        """Return the sandbox with this id, woken if it sleeps; a new one if there is none or it is
        dead. `on_wait` is called with a notice if this takes time. Blocks, for minutes perhaps.
        Raises ActionableError."""
        reported = self._sandbox(wanted) if wanted else None
        if reported is None or lenient.text(reported, "status") in DEAD:
            on_wait("A sandbox is being started.\n")
            made = self.post("/api/v1/sandboxes")
            reported = made if isinstance(made, dict) else {}
        id = lenient.text(reported, "id")
        until = time.monotonic() + BEGINNING
        woken = False
        while (sandbox := _ready(reported)) is None:
            status = lenient.text(reported, "status")
            if not id or status in DEAD or time.monotonic() > until:
                raise ActionableError(
                    f"{self.place.name()} could not start a sandbox ({status or 'no id'})."
                )
            if status == "PAUSED" and not woken:
                on_wait("The sandbox is being woken.\n")
                self.post(f"/api/v1/sandboxes/{id}/resume")
                woken = True
            time.sleep(LOOK if woken or status == "STARTING" else LOOK / 2)
            reported = self._sandbox(id) or {"id": id, "status": "MISSING"}
        KNOWN.learn([sandbox.key.reveal()])
        return sandbox

    def release(self, id: str) -> None:
        """Delete a sandbox that no conversation needs."""
        self.ask("DELETE", f"/api/v1/sandboxes/{id}", missing=True, params={"sandbox_id": id})

    def _sandbox(self, id: str) -> Json | None:
        listed = self.get("/api/v1/sandboxes", params={"id": id})
        one = listed[0] if isinstance(listed, list) and listed else None
        return one if isinstance(one, dict) else None


def _ready(reported: Json) -> Sandbox | None:
    if lenient.text(reported, "status") != "RUNNING":
        return None
    addresses = lenient.mappings(reported, "exposed_urls")
    named = (each for each in addresses if lenient.text(each, "name") == SERVER)
    url = next((lenient.text(each, "url") for each in named), "")
    key = Secret(lenient.text(reported, "session_api_key"))
    return Sandbox(lenient.text(reported, "id"), url.rstrip("/"), key) if url else None
