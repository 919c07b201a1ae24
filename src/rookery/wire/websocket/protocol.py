"""The client's side of the WebSocket protocol, by the library `websockets`. That is slow to import:
`client.connect` alone imports this module.

Unlike the library's own, a connection goes on after a message over the limit, which is skipped and
reported by its size."""

from collections.abc import Generator, Mapping
from typing import Any

from websockets.client import ClientProtocol
from websockets.exceptions import (
    InvalidHeader,
    InvalidUpgrade,
    NegotiationError,
    PayloadTooBig,
    ProtocolError,
)
from websockets.frames import CTRL_OPCODES, CloseCode, Frame, Opcode
from websockets.protocol import Protocol, State
from websockets.uri import WebSocketURI

from rookery.wire.lines import TooLong
from rookery.wire.websocket.address import Address

MAX_CONTROL_BYTES, MAX_REASON = 125, 120
IMPOSSIBLE_BYTES = 1 << 63
CONTROL_BIT, FINAL_BIT, RESERVED_BITS, OPCODE_BITS = 0x08, 0x80, 0x70, 0x0F
"""Of a frame's first byte."""
CODES = {
    ProtocolError: CloseCode.PROTOCOL_ERROR,
    UnicodeDecodeError: CloseCode.INVALID_DATA,
    EOFError: CloseCode.ABNORMAL_CLOSURE,
}


class _Frames(Protocol):
    """The library's protocol of an open connection, with a parser that skips and collects."""

    max_message_size: int

    def __init__(self, *args: Any, **options: Any) -> None:
        self._messages: list[bytes | TooLong] = []
        self._kind = Opcode.TEXT
        """Of the message that is under way."""
        self._message = bytearray()
        self._skipped = 0
        """Its size so far if it is too large."""
        super().__init__(*args, **options)

    def parse(self) -> Generator[None]:
        try:
            while True:
                frame, size = yield from self._frame()
                self.recv_frame(frame)
                if frame.opcode not in CTRL_OPCODES:
                    self._collect(frame, size)
        except (ProtocolError, UnicodeDecodeError, EOFError) as error:
            self.fail(CODES[type(error)], str(error)[:MAX_REASON])
            self.parser_exc = error
        yield

    def _frame(self) -> Generator[None, None, tuple[Frame, int]]:
        """Parse a frame. Return it with its size; one that is too large has no payload."""
        yield from self._await_data()
        first = self.reader.buffer[0]
        is_control = bool(first & CONTROL_BIT)
        room = MAX_CONTROL_BYTES if is_control else self.max_message_size - (self.current_size or 0)
        try:
            frame = yield from Frame.parse(self.reader.read_exact, mask=False, max_size=room)
            return frame, len(frame.data)
        except PayloadTooBig as error:
            size = error.size or 0
        if is_control or first & RESERVED_BITS or size >= IMPOSSIBLE_BYTES:
            raise ProtocolError("a frame with an impossible header")
        left = size
        while left:
            yield from self._await_data()
            skipped = min(left, len(self.reader.buffer))
            del self.reader.buffer[:skipped]
            left -= skipped
        return Frame(Opcode(first & OPCODE_BITS), b"", bool(first & FINAL_BIT)), size

    def _await_data(self) -> Generator[None]:
        if (yield from self.reader.at_eof()):
            raise EOFError("unexpected end of stream")

    def _collect(self, frame: Frame, size: int) -> None:
        """Add a frame to its message. Binary messages are ignored, as ACP wants it. Raises
        UnicodeDecodeError."""
        if frame.opcode is not Opcode.CONT:
            self._kind = frame.opcode
        if self._kind is not Opcode.TEXT:
            return
        if self._skipped or size > len(frame.data):
            self._skipped += len(self._message) + size
            self._message.clear()
        else:
            self._message += frame.data
        if frame.fin:
            self._message.decode()
            self._messages.append(TooLong(self._skipped) if self._skipped else bytes(self._message))
            self._message, self._skipped = bytearray(), 0

    def messages(self) -> list[bytes | TooLong]:
        """Return the messages that have arrived since the last call."""
        self.events_received()
        messages, self._messages = self._messages, []
        return messages


class Client(ClientProtocol, _Frames):
    """One connection: `receive_data` takes what the server sends, `data_to_send` returns what is
    to be written, `messages` what has arrived."""

    def __init__(self, address: Address, longest: int) -> None:
        host, is_secure = address.host or "localhost", address.scheme == "wss"
        uri = WebSocketURI(is_secure, host, address.port or 80, address.resource, "")
        super().__init__(uri, max_size=longest)  # no extensions: nothing is compressed

    def request(self, headers: Mapping[str, str]) -> None:
        """Begin the handshake."""
        request = self.connect()
        for name, value in headers.items():
            request.headers.set_insecure(name, value)  # the library's check is for Latin-1 alone
        self.send_request(request)

    @property
    def is_answered(self) -> bool:
        return self.state is not State.CONNECTING or self.handshake_exc is not None

    @property
    def objection(self) -> str:
        """Say what is wrong with an answer that accepts our handshake; "" if nothing is."""
        match self.handshake_exc:
            case None:
                return ""
            case NegotiationError():
                return "wants what was not asked for (extension or subprotocol)."
            case InvalidHeader() as error if not isinstance(error, InvalidUpgrade):
                return "is not a WebSocket: its answer is not to our request."
        return "is not a WebSocket: it did not upgrade the connection."

    @property
    def is_open(self) -> bool:
        return self.state is State.OPEN

    @property
    def is_over(self) -> bool:
        """Whether the server said goodbye, or broke the protocol."""
        return self.close_rcvd is not None or self.parser_exc is not None

    @property
    def ending(self) -> tuple[int, str]:
        """The code and reason of whoever closed first."""
        close = self.close_rcvd if self.close_rcvd_then_sent else self.close_sent
        return (int(close.code), close.reason) if close else (CloseCode.ABNORMAL_CLOSURE.value, "")
