"""One HTTP/1.1 request on a connection of its own: the head of the response, then the body as it
arrives. A body is framed by its length, in chunks, or by the end of the connection."""

import asyncio
from collections.abc import Callable

from rookery.wire.websocket.client import HEAD_BYTES, fields_of
from rookery.wire.websocket.streams import Stream

LINE_BYTES = 1024
"""The longest line that gives a chunk's size, with its extensions."""


class BadAnswer(Exception):
    """The server does not speak HTTP/1.1."""


class Exchange:
    """`send` returns once the head has arrived. Callers that want the body set `on_body`; `ended`
    is called once, and tells whether the body is whole."""

    def __init__(self, stream: Stream) -> None:
        self.status = 0
        self.fields: dict[str, str] = {}
        self.cookies: list[str] = []
        self.on_body: Callable[[bytes], None] = lambda _: None
        self.ended: Callable[[bool], None] = lambda _: None
        self._stream = stream
        self._head = bytearray()
        self._early = b""
        self._answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._body: Body | None = None
        self._is_over = False
        stream.on_data, stream.on_end = self._take, self._lost

    async def send(self, head: bytes, body: bytes = b"") -> None:
        """Send the request and wait for the head. Raises OSError, BadAnswer."""
        self._stream.write(head + body)
        await self._answer

    def read(self) -> None:
        """Begin to hand out the body."""
        early, self._early = self._early, b""
        self._stream.on_data = self._take_body
        self._take_body(early)
        if self._stream.ended:
            self._lost()

    async def text(self, most: int) -> bytes:
        """Return the whole body, or its first `most` bytes. Raises OSError, BadAnswer."""
        kept, over = bytearray(), asyncio.get_running_loop().create_future()

        def take(data: bytes) -> None:
            kept.extend(data)
            if len(kept) > most and not over.done():
                over.set_result(None)

        def end(_whole: bool) -> None:
            if not over.done():
                over.set_result(None)

        self.on_body, self.ended = take, end
        self.read()
        await over
        self.abort()
        return bytes(kept[:most])

    def pause(self) -> None:
        self._stream.pause()

    def resume(self) -> None:
        self._stream.resume()

    def abort(self) -> None:
        self._is_over = True
        self._stream.abort()

    def _take(self, data: bytes) -> None:
        self._head += data
        end = self._head.find(b"\r\n\r\n")
        if end < 0 and len(self._head) <= HEAD_BYTES:
            return
        status, self.fields, self.cookies = fields_of(bytes(self._head[: max(end, 0)]))
        if not status:
            self._fail(BadAnswer("it does not speak HTTP"))
            return
        rest = bytes(self._head[end + 4 :])
        if 100 <= status < 200:  # the answer comes after it
            self._head = bytearray()
            self._take(rest)
            return
        self.status, self._early = status, rest
        self._body = Body(status, self.fields)
        self._stream.on_data = self._keep
        self._stream.pause()
        if not self._answer.done():
            self._answer.set_result(None)

    def _keep(self, data: bytes) -> None:
        self._early += data

    def _take_body(self, data: bytes) -> None:
        if self._is_over or self._body is None:
            return
        self._stream.resume()
        try:
            for piece in self._body.feed(data):
                self.on_body(piece)
        except BadAnswer:
            self._finish(whole=False)
            return
        if self._body.is_whole:
            self._finish(whole=True)

    def _lost(self) -> None:
        if not self._answer.done():
            self._fail(ConnectionResetError("the server hung up"))
        elif self._stream.on_data == self._take_body:
            self._finish(whole=self._body is not None and self._body.may_end)

    def _fail(self, error: Exception) -> None:
        if not self._answer.done():
            self._answer.set_exception(error)
        self.abort()

    def _finish(self, *, whole: bool) -> None:
        if not self._is_over:
            self.abort()
            self.ended(whole)


class Body:
    """Strips the framing from a body."""

    def __init__(self, status: int, fields: dict[str, str]) -> None:
        self._chunked = "chunked" in fields.get("transfer-encoding", "").lower()
        length = fields.get("content-length", "")
        self._left = 0
        if not self._chunked:
            self._left = int(length) if length.isdecimal() else -1
        self.may_end = self._left < 0
        """Its end is the connection's."""
        self.is_whole = status in (204, 304) or (not self._chunked and self._left == 0)
        self._line = bytearray()
        self._closes = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the pieces of the body in `data`. Raises BadAnswer."""
        pieces: list[bytes] = []
        while data and not self.is_whole:
            if self._chunked and not self._left:
                data = self._size(data)
                continue
            piece = data if self._left < 0 else data[: self._left]
            pieces.append(piece)
            data = data[len(piece) :]
            if self._left > 0:
                self._left -= len(piece)
                self._closes = self.is_whole = not self._left
                self.is_whole = self.is_whole and not self._chunked
        return pieces

    def _size(self, data: bytes) -> bytes:
        """Read the line before a chunk; return what follows it."""
        line, newline, rest = data.partition(b"\n")
        self._line += line
        if len(self._line) > LINE_BYTES:
            raise BadAnswer("the line of a chunk is too long")
        if not newline:
            return b""
        text, self._line = bytes(self._line).strip(), bytearray()
        if self._closes and not text:  # the line that ends a chunk's data
            self._closes = False
            return rest
        try:
            self._left = int(text.partition(b";")[0], 16)
        except ValueError:
            raise BadAnswer("a chunk has no size") from None
        if self._left < 0:
            raise BadAnswer("a chunk has no size")
        self.is_whole = not self._left  # no trailer is of use
        return rest
