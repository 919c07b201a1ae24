"""What the server itself says to requests that no route ever sees, as every error of the daemon is
said; and errors that nothing expected."""

import http
import logging
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import h11

from rookery.daemon.errors import WORDS, Problem, internal
from rookery.daemon.metrics import measures

BUGS = 100
"""Of which the traceback is logged once each."""

type Message = MutableMapping[str, Any]
type Send = Callable[[Message], Awaitable[None]]

_log = logging.getLogger("rookery.daemon")


def unreadable(error: BaseException | None) -> Problem:
    """What h11 could not read."""
    status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
    if status == 414:
        return Problem(414, "too_long", "The address is too long.", "Send less.")
    if status == 431:
        return Problem(431, "too_large", "The header is too large.", "Send less.")
    if status == 501:
        return Problem(501, "unsupported", f"{error}.", "Send a Content-Length.")
    name, message, remedy = WORDS[400]
    return Problem(status, name, f"{message[:-1]}: {error}." if error else message, remedy)


def refused(status: int, message: str) -> Problem:
    """A WebSocket that does not come about."""
    if status == 500:
        return internal()
    if status == 403:
        return Problem(403, "forbidden", message.strip() or "This WebSocket is refused.")
    message = message.partition("\n")[0] or http.HTTPStatus(status).phrase
    return Problem(status, "no_websocket", message, "See docs/api.md for how a stream is opened.")


class Bugs:
    """Errors that nothing expected: answered as all others are, and each logged once."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    async def answer(self, error: Exception, send: Send | None) -> None:
        """`send`: None where the answer has begun."""
        measures.BUGS.add()
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        known = place in self._logged or len(self._logged) >= BUGS
        self._logged.add(place)
        text = f"{type(error).__name__}: {error}"
        _log.error("%s (%s)", text, place, exc_info=None if known else error)
        if send is not None:
            response = internal().response()
            start = {"status": 500, "headers": response.raw_headers}
            await send({"type": "http.response.start", **start})
            await send({"type": "http.response.body", "body": response.body})
