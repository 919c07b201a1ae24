"""Starts a link to a conversation on an agent server at its end: the copy here has the rest. Its
socket follows no redirect, to which it would send the key, and logs no stack for an event that it
cannot parse.

Made for openhands-sdk 1.58, whose list of events reads the whole conversation twice for each link
and breaks at a kind of event that it does not know. Unnecessary once a link can begin at an event.
"""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, override

from openhands.sdk.conversation.impl import remote_conversation
from openhands.sdk.event import Event

SOCKET = "8"
"""Seconds, as the SDK reads it."""


class NoHistory(remote_conversation.RemoteEventsList):
    """Replaces the SDK's list of events."""

    on_gap: Callable[[], None] | None = None
    """Its socket is back: what was said meanwhile has to be read."""

    @override
    def _do_full_sync(self) -> None: ...
    @override
    def add_event(self, event: Event) -> None: ...
    @override
    def reconcile(self) -> int:
        if self.on_gap is not None:
            self.on_gap()
        return 0


def install() -> None:
    sdk: Any = remote_conversation
    client: Any = sys.modules[sdk.websockets.connect.__module__]
    client.MAX_REDIRECTS = 1  # the first connection counts
    logging.getLogger(remote_conversation.__name__).setLevel(logging.CRITICAL)
    remote_conversation.RemoteEventsList = NoHistory  # type: ignore[misc]


@contextmanager
def soon() -> Iterator[None]:
    """Shorten the wait for a socket that does not connect, as behind some proxies: a run is polled,
    too."""
    wish = {"OPENHANDS_REMOTE_WS_READY_TIMEOUT": SOCKET, "OPENHANDS_REMOTE_WS_READY_REQUIRED": "no"}
    wish = {name: value for name, value in wish.items() if name not in os.environ}
    os.environ.update(wish)
    try:
        yield
    finally:
        for name in wish:
            os.environ.pop(name, None)
