"""Repeating a request until an answer comes; by its key, it changes things only once."""

import os
import time

from rookery.client.daemon.errors import Unreachable
from rookery.client.daemon.remote import Door
from rookery.core.json import Json
from rookery.operations.catalogue.row import Report

DELAY = 0.5
"""Seconds until a request is sent again whose fate is unknown."""
TIMEOUT = 60.0
"""Seconds for a link that broke under a request to come back."""


class Attempts:
    """The attempts at one request: whether it may be sent again. A daemon that never answered is
    not waited for."""

    def __init__(self, door: Door, timeout: float = TIMEOUT) -> None:
        self._door = door
        self._until = time.monotonic() + timeout
        self.arrived = False
        """The request may have arrived, though no answer came."""

    def may_repeat(self, error: Unreachable) -> bool:
        self.arrived = self.arrived or error.sent
        return (self.arrived or self._door.stood) and time.monotonic() <= self._until


def send_once(
    door: Door, path: str, body: Json, *, timeout: float = TIMEOUT, report: Report | None = None
) -> Json:
    """POST until an answer comes, and return it; the daemon carries the request out once. `report`
    gets progress messages. Raises what `Door.json` does."""
    key, attempts = os.urandom(16).hex(), Attempts(door, timeout)
    while True:
        try:
            return dict(door.json("POST", path, body, report=report, Idempotency_Key=key))
        except Unreachable as error:
            if not attempts.may_repeat(error):
                raise
        time.sleep(DELAY)
