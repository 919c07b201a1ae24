"""Protocol versions. All of Rookery speaks version 1; a dialect on the wire translates the
version of the other side:

    Peer ── version 1 ──► dialect.outgoing ──► the other side
    Peer ◄── version 1 ── dialect.incoming ◄── the other side

Version 2 is a draft (`wire.draft`), and is loaded only if the other side has nothing
else:

- An agent is offered version 1. One that refuses it, or answers in the draft's form, is
  asked once more, in the draft.
- A client that offers 2 or more in the draft's form, and in that alone, is answered in
  2. Any other is answered in 1.

The form decides, not the number: some agents repeat whatever number they are asked for."""

from collections.abc import Iterable
from typing import Any

from rookery.wire.dialect import DRAFT, INITIALIZE, UNSUPPORTED, Dialect, Json, is_draft
from rookery.wire.failures import INVALID_PARAMS


class Offer(Dialect):
    """Waits for the response to our `initialize`, to choose the dialect."""

    def __init__(self) -> None:
        self._asked: Json = {}

    def outgoing(self, message: Json) -> Iterable[Json]:
        if message.get("method") == INITIALIZE:
            self._asked = message
        return [message]

    def incoming(self, message: Json) -> Iterable[Json]:
        if "method" in message or message.get("id") != self._asked.get("id"):
            return [message]
        if not _has_only_draft(message):
            self.speak(None)
            return [message]
        from rookery.wire.draft.agent import DraftAgent

        draft = DraftAgent(message)
        self.speak(draft)
        for each in draft.outgoing(self._asked):
            self.send(each)
        return []


def _has_only_draft(answer: Json) -> bool:
    error = answer.get("error")
    if not isinstance(error, dict):
        return is_draft(answer.get("result"))
    # The draft's Python SDK does not know the draft's own error.
    return error.get("code") in (UNSUPPORTED, INVALID_PARAMS)


def asked_for(message: Any) -> Dialect | None:
    """Return the dialect for a client that sends this message, if it is an `initialize`; None:
    version 1."""
    if not isinstance(message, dict) or message.get("method") != INITIALIZE or "id" not in message:
        return None
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("info"), dict):
        return None
    version = params.get("protocolVersion")
    if type(version) is not int or version < DRAFT:
        return None
    if "clientInfo" in params or "clientCapabilities" in params:  # it speaks 1, too
        return None
    from rookery.wire.draft.client import DraftClient

    return DraftClient()
