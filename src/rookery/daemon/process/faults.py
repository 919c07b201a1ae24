"""Errors of the HTTP server for requests that never reach a route, in the format of all other
errors; and unexpected exceptions."""

import http
import logging
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import h11

from rookery.daemon.errors import WORDS, Problem, internal
from rookery.daemon.metrics import measures

BUGS = 100
"""How many distinct bugs are logged with a traceback, once each."""

type Message = MutableMapping[str, Any]
type Send = Callable[[Message], Awaitable[None]]

_log = logging.getLogger("rookery.daemon")


def unreadable(error: BaseException | None) -> Problem:
    """Return the problem for a request that h11 could not parse."""
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
    """Return the problem for a WebSocket that could not be opened."""
    if status == 500:
        return internal()
    if status == 403:
        return Problem(403, "forbidden", message.strip() or "This WebSocket is refused.")
    message = message.partition("\n")[0] or http.HTTPStatus(status).phrase
    return Problem(status, "no_websocket", message, "See docs/api.md for how a stream is opened.")


class Bugs:
    """Handles unexpected exceptions: answers like any other error, and logs each once with its
    traceback."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    async def answer(self, error: Exception, send: Send | None) -> None:
        """Log the exception and send a response. `send` is None if the response has begun."""
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
