"""JSON-RPC 2.0, both ways over one connection, one line per message; only this file knows
it.

- Messages are dispatched synchronously in wire order: an answer's callback runs after
  every notification that came before it, and before every one that came after.
- Each request is answered once, with its id as it came. A notification is never
  answered.
- No input can raise out of the loop: what is not a message is reported as noise.
- Everything that could grow is bounded, except what we send: after a large amount,
  await `drain()`."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Self

from rookery.core.json import dumps, loads
from rookery.wire import versions
from rookery.wire.dialect import INITIALIZE, Dialect
from rookery.wire.failures import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    Answer,
    ConnectionClosed,
    RpcError,
    RpcFailure,
    TooLarge,
    error_from_json,
    error_to_json,
)
from rookery.wire.incoming import Id, Incoming
from rookery.wire.lines import (
    Ceilings,
    Line,
    LineSplitter,
    TooLong,
    envelope,
    is_crowded,
    is_id,
    line_of,
)
from rookery.wire.pipes import PipeReader, PipeWriter
from rookery.wire.websocket.resuming import Carrier

__all__ = [
    "HIGH_WATER",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "REQUEST_CANCELLED",
    "Answer",
    "Ceilings",
    "ConnectionClosed",
    "Incoming",
    "Peer",
    "RpcError",
    "RpcFailure",
    "TooLarge",
]

HIGH_WATER = 256 * 1024
CANCEL_REQUEST = "$/cancel_request"

type OnRequest = Callable[[Incoming], None]
type OnNotification = Callable[[str, Any], None]
type OnNoise = Callable[[str, Any], None]
type OnAnswer = Callable[[Answer], None]


class Peer:
    """One connection. All callbacks are synchronous, and called in the order of the wire.

    on_noise(kind, what): "malformed" (the line's bytes), "not a message" (the value), "unknown
    answer" and "odd answer" (the message), "too long" (the line's size), "too many values" (the
    line's bytes), "write failed" (OSError).
    on_batch_end(): every message of what was just read has been dispatched.
    on_closed(): once, when nothing more will come; open requests of ours have been answered with
    ConnectionClosed before. Writing still works until close().
    A bug in a callback goes to the loop's exception handler; the lines after it are not lost.
    """

    def __init__(
        self,
        *,
        on_request: OnRequest | None = None,
        on_notification: OnNotification | None = None,
        on_noise: OnNoise | None = None,
        on_batch_end: Callable[[], None] | None = None,
        on_closed: Callable[[], None] | None = None,
        answer_noise: bool = False,
        ceilings: Ceilings = Ceilings(),  # noqa: B008 (immutable)
        splitter: LineSplitter | None = None,
    ) -> None:
        self.on_request = on_request
        self.on_notification = on_notification
        self.on_noise = on_noise
        self.on_batch_end = on_batch_end
        self.on_closed = on_closed
        self.ended = False
        """Nothing more will come."""
        self._answer_noise = answer_noise
        self._ceilings = ceilings
        self._reader: PipeReader | Carrier | None = None
        self._writer: PipeWriter | Carrier | None = None
        self._splitter = splitter or LineSplitter(ceilings.line)
        self._lines: deque[Line] = deque()
        self._at_end = False
        self._last_id = 0
        self._waiting: dict[Any, OnAnswer] = {}
        self._serving: dict[Id, list[Incoming]] = {}
        self._served = 0
        self._dialect: Dialect | None = None
        self._greeted = False
        """The version is settled: the first request after `initialize` was made."""

    # --- Connections

    def attach(self, read_fd: int, write_fd: int) -> Self:
        """Speak over two descriptors of any kind (not the same number); the peer owns them from now
        on."""
        self._writer = PipeWriter(write_fd, lambda error: self._noise("write failed", error))
        self._reader = PipeReader(
            read_fd, self.data_received, self.eof_received, self._splitter.rest
        )
        return self

    def carried_by(self, carrier: Carrier) -> Self:
        """Speak over a carrier of whole messages; the peer owns it from now on."""
        self._reader = self._writer = carrier
        carrier.on_message, carrier.on_end = self.message_received, self.eof_received
        return self

    def pause(self) -> None:
        """Read no more, so that the other side is held; what was read is still dispatched."""
        if self._reader is not None:
            self._reader.pause()

    def resume(self) -> None:
        if self._reader is not None:
            self._reader.resume()

    def close(self) -> None:
        """Write what the other side takes now, then close. Calls on_closed if it was open."""
        self._lines.clear()
        if self._reader is not None:
            self._reader.close()
        self._end()
        if self._writer is not None:
            self._writer.close()

    def hang_up(self) -> None:
        """End our side: the other sees the end of its input, and what it still sends is read."""
        if self._writer is not None:
            self._writer.close()

    @property
    def buffered(self) -> int:
        """The bytes that the other side has not taken yet."""
        return 0 if self._writer is None else self._writer.buffered

    async def drain(self, below: int = HIGH_WATER) -> None:
        """Wait until less than `below` bytes are buffered; 1 waits for all of them."""
        if self._writer is None or not await self._writer.drain(below):
            raise ConnectionClosed

    def flush(self) -> None:
        """Write what the other side takes now: before exiting, or if somebody waits."""
        if self._writer is not None:
            self._writer.flush()

    def write_raw(self, data: bytes) -> None:
        """Write bytes as they are: to simulate a broken peer."""
        if self._writer is not None:
            self._writer.write(data)

    def speak(self, dialect: Dialect | None) -> None:
        """Use a dialect of the protocol from now on; None: version 1."""
        self._dialect, self._greeted = dialect, True
        if dialect is not None:
            dialect.send, dialect.speak = self._write, self.speak

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def send_request(self, method: str, params: Any, on_answer: OnAnswer) -> int:
        """Send a request; `on_answer` is called exactly once, in wire order. Returns the id."""
        self._last_id += 1
        id = self._last_id
        if method == INITIALIZE and not self._greeted:
            self.speak(versions.Offer())
        self._send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        if self.ended or self._writer is None or self._writer.broken:
            closed = Answer(None, ConnectionClosed())
            asyncio.get_running_loop().call_soon(on_answer, closed)
        else:
            self._waiting[id] = on_answer
        return id

    async def request(self, method: str, params: Any) -> Any:
        """Send a request and wait. Raises RpcError, ConnectionClosed; if the caller is cancelled,
        the request is cancelled too ($/cancel_request)."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def settle(answer: Answer) -> None:
            if not future.done():
                future.set_result(answer)

        id = self.send_request(method, params, settle)
        self.flush()  # not at the end of this round: somebody waits
        try:
            answer = await future
        except asyncio.CancelledError:
            if id in self._waiting:
                self.notify(CANCEL_REQUEST, {"requestId": id})
            raise
        if answer.error is not None:
            raise answer.error
        return answer.result

    def _send(self, message: dict[str, Any]) -> None:
        dialect = self._dialect
        for each in (message,) if dialect is None else dialect.outgoing(message):
            self._write(each)

    def _write(self, message: dict[str, Any]) -> None:
        if self._writer is None or self._writer.broken:
            return
        line = dumps(message)
        if len(line) >= self._ceilings.sent:
            most = self._ceilings.sent
            raise TooLarge(f"message not sent: {len(line)} bytes, the limit is {most}")
        self._writer.write(line_of(line))

    def _settle(self, incoming: Incoming) -> None:
        same = self._serving.get(incoming.id)
        if same is not None and incoming in same:
            self._served -= 1
            same.remove(incoming)
            if not same:
                del self._serving[incoming.id]

    # --- Lines

    def data_received(self, data: bytes) -> None:
        self._lines.extend(self._splitter.feed(data))
        self._dispatch()

    def message_received(self, message: Line) -> None:
        self._lines.append(message)
        self._dispatch()

    def eof_received(self) -> None:
        """Handle the end of the input; a last line without its newline counts."""
        self._lines.extend(self._splitter.end())
        self._at_end = True
        self._dispatch()

    def _dispatch(self) -> None:
        interrupted = True
        try:
            while self._lines:
                self._take_line(self._lines.popleft())
            interrupted = False
        finally:
            if interrupted:  # by a bug in a callback: it is reported, then the next line is taken
                asyncio.get_running_loop().call_soon(self._dispatch)
        if self.on_batch_end is not None:
            self.on_batch_end()
        if self._at_end:
            self._end()

    def _take_line(self, line: Line) -> None:
        if isinstance(line, TooLong):
            self._refuse("too long", line.size, INVALID_REQUEST, "The line is too long")
            return
        if is_crowded(line, self._ceilings.values):
            self._refuse_crowd(line)
            return
        try:
            message = loads(line)
        except (ValueError, RecursionError):
            if line.strip():
                self._refuse("malformed", line, PARSE_ERROR, "Parse error")
            return
        del line  # it may be large, and copies of what it says are made from here on
        if not self._greeted and (asked := versions.asked_for(message)) is not None:
            self.speak(asked)
        if self._dialect is None or not isinstance(message, dict):
            self._take(message)
            return
        for each in self._dialect.incoming(message):
            self._take(each)

    # --- Messages

    def _take(self, message: Any) -> None:
        if not isinstance(message, dict):
            self._refuse("not a message", message, INVALID_REQUEST, "Not a JSON-RPC object")
            return
        method = message.get("method")
        if isinstance(method, str):
            if "id" in message:
                self._take_request(message, method)
            elif method == CANCEL_REQUEST:
                self._take_back(message.get("params"))
            elif self.on_notification is not None:
                self.on_notification(method, message.get("params"))
        elif "method" not in message and "id" in message:
            self._take_answer(message)
        else:
            self._refuse_message(message)

    def _take_request(self, message: dict[str, Any], method: str) -> None:
        id = message["id"]
        if not is_id(id):
            self._refuse_message(message)
            return
        incoming = Incoming(self, id, method, message.get("params"))
        if self._served >= self._ceilings.open:
            incoming.fail(INTERNAL_ERROR, f"{self._served} requests are open already")
        elif self.on_request is None:
            incoming.unknown()
        else:
            self._served += 1
            self._greeted = self._greeted or method != INITIALIZE
            self._serving.setdefault(id, []).append(incoming)
            self.on_request(incoming)

    def _take_back(self, params: Any) -> None:
        id = params.get("requestId") if isinstance(params, dict) else None
        if is_id(id):
            for incoming in list(self._serving.get(id, ())):
                if incoming.cancelled is not None:
                    incoming.cancelled()

    def _take_answer(self, message: dict[str, Any]) -> None:
        id = message["id"]
        on_answer = self._waiting.pop(id, None) if type(id) is int else None
        result, error = message.get("result"), message.get("error")
        if on_answer is None:
            if "result" in message or "error" in message:
                self._noise("unknown answer", message)
            else:
                self._refuse_message(message)
            return
        # Real agents also send neither (JavaScript drops an undefined result) and both (one null).
        if not (isinstance(error, dict) or (error is None and "result" in message)) or (
            error is not None and result is not None
        ):
            self._noise("odd answer", message)
        on_answer(Answer(result, None) if error is None else Answer(None, error_from_json(error)))

    # --- Noise and the end

    def _noise(self, kind: str, what: Any) -> None:
        if self.on_noise is not None:
            self.on_noise(kind, what)

    def _refuse(self, kind: str, what: Any, code: int, message: str, id: Id = None) -> None:
        self._noise(kind, what)
        if self._answer_noise:
            self._send({"jsonrpc": "2.0", "id": id, "error": error_to_json(code, message)})

    def _refuse_crowd(self, line: bytes) -> None:
        """Answer a message with too many values: of its content only the id is read, and whoever
        waits for an answer, on either side, gets an error."""
        self._noise("too many values", line)
        stub, why = envelope(line), f"More than {self._ceilings.values} values in one message"
        if "method" in stub and "id" in stub:
            Incoming(self, stub["id"], "", None).fail(INVALID_REQUEST, why)
        elif "method" not in stub and stub.get("id") in self._waiting:
            self._take_answer({"id": stub["id"], "error": {"code": INTERNAL_ERROR, "message": why}})

    def _refuse_message(self, message: dict[str, Any]) -> None:
        id = message.get("id")
        known = id if is_id(id) else None
        self._refuse("not a message", message, INVALID_REQUEST, "Invalid request", known)

    def _end(self) -> None:
        if self.ended:
            return
        self.ended = True
        waiting, self._waiting = self._waiting, {}
        for on_answer in waiting.values():
            on_answer(Answer(None, ConnectionClosed()))
        if self.on_closed is not None:
            self.on_closed()
