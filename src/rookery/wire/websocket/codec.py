"""Encoding and parsing WebSocket frames, client side.

Nothing that a server sends takes more memory than the ceiling: a longer message is skipped and
reported by its size."""

import os
from typing import NamedTuple

from rookery.wire.lines import TooLong

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
CONTROL = 0x8
"""The bit of an opcode that marks a control frame."""
MOST_CONTROL = 125
SHORT, LONG = 126, 127
"""Say that 2, or 8, bytes of length follow."""
HIGHEST = 2**63

NORMAL, GOING_AWAY, PROTOCOL_ERROR, NO_CODE, BROKEN = 1000, 1001, 1002, 1005, 1006
BAD_TEXT = 1007
REGISTERED = frozenset({1000, 1001, 1002, 1003, *range(1007, 1015)})
"""Codes below 3000 that a close frame may have."""


class ProtocolError(Exception):
    """The server broke the protocol; `code` is the close code we send."""

    def __init__(self, why: str, code: int = PROTOCOL_ERROR) -> None:
        super().__init__(why)
        self.code = code


class Text(NamedTuple):
    data: bytes | TooLong


class Ping(NamedTuple):
    payload: bytes


class Pong(NamedTuple):
    payload: bytes


class Close(NamedTuple):
    code: int
    reason: str


type Item = Text | Ping | Pong | Close


def frame(opcode: int, payload: bytes) -> bytes:
    """Return one masked frame."""
    size = len(payload)
    if size < SHORT:
        head = bytes([0x80 | opcode, 0x80 | size])
    elif size < 1 << 16:
        head = bytes([0x80 | opcode, 0x80 | SHORT]) + size.to_bytes(2)
    else:
        head = bytes([0x80 | opcode, 0x80 | LONG]) + size.to_bytes(8)
    mask = os.urandom(4)
    return head + mask + masked(payload, mask)


def masked(payload: bytes, mask: bytes) -> bytes:
    """Mask a payload as one large number: a loop over bytes takes a hundred times as long."""
    size = len(payload)
    repeated = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload) ^ int.from_bytes(repeated)).to_bytes(size)


def close_payload(code: int, reason: str = "") -> bytes:
    return code.to_bytes(2) + reason.encode()[: MOST_CONTROL - 2]


class Parser:
    """Parses frames; however the bytes are cut into pieces, the items are the same."""

    def __init__(self, longest: int) -> None:
        self.fault: ProtocolError | None = None
        self._longest = longest
        self._head = bytearray()
        self._left: int | None = None
        """Bytes of the payload that are still to come; None: its header is."""
        self._opcode, self._final = 0, True
        self._kind: int | None = None
        """Of the message that is under way."""
        self._message, self._skipped = bytearray(), 0
        self._control = bytearray()

    def feed(self, data: bytes) -> list[Item]:
        """Return the items that `data` completes; none after a fault."""
        items: list[Item] = []
        try:
            if self.fault is None:
                self._feed(data, items)
        except ProtocolError as error:
            self.fault = error
        return items

    def _feed(self, data: bytes, items: list[Item]) -> None:
        view, at = memoryview(data), 0
        while at < len(data) or self._left == 0:
            if self._left is None:
                at = self._take_head(view, at)
                continue
            part = view[at : at + self._left]
            at += len(part)
            self._left -= len(part)
            self._keep(part)
            if self._left == 0:
                self._left = None
                item = self._finish()
                if item is not None:
                    items.append(item)

    def _take_head(self, view: memoryview, at: int) -> int:
        """Take one byte at a time: a header has at most ten."""
        self._head.append(view[at])
        if len(self._head) < 2:
            return at + 1
        size = self._head[1] & 0x7F
        if len(self._head) == 2:
            self._check(self._head[0], self._head[1])
        more = {SHORT: 2, LONG: 8}.get(size, 0)
        if len(self._head) == 2 + more:
            self._left = int.from_bytes(self._head[2:]) if more else size
            if self._left >= HIGHEST:
                raise ProtocolError("a frame with an impossible length")
            self._head.clear()
        return at + 1

    def _check(self, first: int, second: int) -> None:
        self._final, self._opcode = bool(first & 0x80), first & 0x0F
        if first & 0x70:
            raise ProtocolError("a frame uses an extension that was not agreed on")
        if second & 0x80:
            raise ProtocolError("a masked frame from a server")
        if self._opcode not in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG):
            raise ProtocolError(f"a frame of an unknown kind ({self._opcode})")
        if self._opcode & CONTROL:
            if not self._final or second & 0x7F > MOST_CONTROL:
                raise ProtocolError("a control frame that is too long or in parts")
        elif (self._opcode == CONTINUATION) != (self._kind is not None):
            raise ProtocolError("a message begins within another")
        else:
            self._kind = self._opcode or self._kind

    def _keep(self, part: memoryview) -> None:
        if self._opcode & CONTROL:
            self._control += part
        elif self._kind == BINARY:
            return
        elif self._skipped or len(self._message) + len(part) > self._longest:
            self._skipped += len(self._message) + len(part)
            self._message = bytearray()
        else:
            self._message += part

    def _finish(self) -> Item | None:
        if self._opcode & CONTROL:
            payload, self._control = bytes(self._control), bytearray()
            return self._take_control(payload)
        if not self._final:
            return None
        kind, self._kind = self._kind, None
        if kind == BINARY:
            return None  # ACP: binary frames are ignored
        skipped, self._skipped = self._skipped, 0
        message, self._message = self._message, bytearray()
        if skipped:
            return Text(TooLong(skipped))
        try:
            message.decode()
        except UnicodeDecodeError:
            raise ProtocolError("text that is not UTF-8", BAD_TEXT) from None
        return Text(bytes(message))

    def _take_control(self, payload: bytes) -> Item:
        if self._opcode == PING:
            return Ping(payload)
        if self._opcode == PONG:
            return Pong(payload)
        if not payload:
            return Close(NO_CODE, "")
        code = int.from_bytes(payload[:2])
        if len(payload) == 1 or not (code in REGISTERED or 3000 <= code < 5000):
            raise ProtocolError("a close frame with an invalid code")
        try:
            return Close(code, payload[2:].decode())
        except UnicodeDecodeError:
            raise ProtocolError("text that is not UTF-8", BAD_TEXT) from None
