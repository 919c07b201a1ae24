"""A visit to an MCP server over the network: streamable HTTP, and the older SSE."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple, override
from urllib.parse import urljoin, urlsplit

from rookery.cli.mcp_probe import talk
from rookery.core.json import lenient
from rookery.core.json.events import Json

MOST = 16 * 1024 * 1024
"""Bytes of one answer."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")
SESSION = "Mcp-Session-Id"


class _Stays(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: keys would go along to wherever it points."""

    @override
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Line:
    """Requests to one server, all within one time."""

    def __init__(self, server: Json, within: float) -> None:
        self.url = server["url"]
        self.headers = {each["name"]: each["value"] for each in server["headers"]}
        self.within = within
        self._until = time.monotonic() + within
        handlers: list[urllib.request.BaseHandler] = [_Stays()]
        if urlsplit(self.url).hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise talk.Failed(f"it did not answer within {self.within:g} s")
        return left

    def open(
        self, url: str, body: Json | None = None, *, accept: str, method: str | None = None
    ) -> HTTPResponse:
        """Raises talk.Failed."""
        data = None if body is None else json.dumps(body).encode("ascii")
        headers = {"Accept": accept, "User-Agent": "rookery", **self.headers}
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310
            found = self._opener.open(request, timeout=self.left())
        except urllib.error.HTTPError as error:
            with error:
                raise talk.Failed(_refusal(error)) from None
        except (OSError, HTTPException, ValueError) as error:
            raise talk.Failed(_unreachable(error, self.within)) from error
        assert isinstance(found, HTTPResponse)
        return found


def _refusal(error: urllib.error.HTTPError) -> str:
    words = f"HTTP {error.code} {error.reason}"
    match error.code:
        case 401 | 403:
            return f'{words}: it needs a key, for example --header "Authorization=Bearer …"'
        case 404 | 405:
            return f"{words}: is the path right, and the transport (--transport http or sse)?"
        case code if 300 <= code < 400:
            return f"{words}: it is at {error.headers.get('Location', 'another address')}"
    return words


def _unreachable(error: Exception, within: float) -> str:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return f"it did not answer within {within:g} s"
    return f"it cannot be reached: {getattr(reason, 'strerror', None) or reason}"


# ---------------------------------------------------------------- events


class Said(NamedTuple):
    event: str
    data: str


def events(response: HTTPResponse, line: Line) -> Iterator[Said]:
    """The events of a stream as they come. Raises talk.Failed."""
    event, data, size = "message", list[str](), 0
    while True:
        line.left()
        try:
            raw = response.readline(MOST)
        except (OSError, HTTPException, ValueError) as error:
            raise talk.Failed(_unreachable(error, line.within)) from error
        if not raw:
            return
        size += len(raw)
        if size > MOST:
            raise talk.Failed(f"it sent more than {MOST // 1024 // 1024} MiB")
        field, _, value = raw.decode("utf-8", "replace").rstrip("\r\n").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            event = value
        elif field == "data":
            data.append(value)
        elif not field and not value and raw.strip() == b"":
            if data:
                yield Said(event, "\n".join(data))
            event, data, size = "message", [], 0


def _message(text: str) -> Json:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise talk.Failed("its answer is not JSON: this is not an MCP server") from None
    return found if isinstance(found, dict) else {}


def _result(message: Json, method: str) -> Any:
    if "error" in message:
        error = message["error"]
        said = lenient.text(error, "message") or "no reason given"
        raise talk.Failed(f"{method} was refused: {said} ({lenient.integer(error, 'code')})")
    return message.get("result")


# ---------------------------------------------------------------- the two transports


def visit(server: Json, within: float) -> talk.Visit:
    """`server` in ACP's shape. Raises talk.Failed."""
    line = Line(server, within)
    return _over_sse(line) if server["type"] == "sse" else _over_http(line)


def _over_http(line: Line) -> talk.Visit:
    accept = "application/json, text/event-stream"
    number = 0

    def asked(method: str, params: Json) -> Any:
        nonlocal number
        number += 1
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        with line.open(line.url, body, accept=accept) as response:
            if session := response.headers.get(SESSION):
                line.headers[SESSION] = session
            return _result(_answer(response, line, number), method)

    greeting = asked("initialize", talk.hello())
    line.headers["MCP-Protocol-Version"] = talk.protocol_of(greeting)
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    line.open(line.url, note, accept=accept).close()
    names = talk.pages(greeting, lambda params: asked("tools/list", params))
    if SESSION in line.headers:
        with suppress(talk.Failed):  # it need not be able to end one
            line.open(line.url, accept="*/*", method="DELETE").close()
    return talk.visited(greeting, names)


def _answer(response: HTTPResponse, line: Line, number: int) -> Json:
    if response.headers.get_content_type() == "text/event-stream":
        for said in events(response, line):
            message = _message(said.data)
            if message.get("id") == number and "method" not in message:
                return message
        raise talk.Failed("it hung up before it answered")
    try:
        data = response.read(MOST)
    except (OSError, HTTPException) as error:
        raise talk.Failed(_unreachable(error, line.within)) from error
    return _message(data.decode("utf-8", "replace"))


def _over_sse(line: Line) -> talk.Visit:
    number = 0
    with line.open(line.url, accept="text/event-stream") as stream:
        if stream.headers.get_content_type() != "text/event-stream":
            raise talk.Failed("it sends no events: is it --transport http?")
        heard = events(stream, line)
        first = next((said for said in heard if said.event == "endpoint"), None)
        if first is None:
            raise talk.Failed("it sent no endpoint: this is not an MCP server over SSE")
        endpoint = urljoin(line.url, first.data)
        if urlsplit(endpoint)[:2] != urlsplit(line.url)[:2]:
            raise talk.Failed("it wants messages sent to another host, which is refused")

        def asked(method: str, params: Json) -> Any:
            nonlocal number
            number += 1
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            line.open(endpoint, body, accept="*/*").close()
            for said in heard:
                message = _message(said.data)
                if message.get("id") == number and "method" not in message:
                    return _result(message, method)
            raise talk.Failed("it hung up before it answered")

        greeting = asked("initialize", talk.hello())
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        line.open(endpoint, note, accept="*/*").close()
        names = talk.pages(greeting, lambda params: asked("tools/list", params))
    return talk.visited(greeting, names)
