"""An h11 parser that refuses expensive input before it is parsed: h11 needs as much time for each
line of a header as for a kilobyte of text.

The cookies of a host go to all of its ports, so a header can be as long as a browser's cookie jar
is full: its size is limited by what h11 may buffer, its lines here."""

import re
from typing import Any, override

import h11

MAX_LINES = 128
"""The maximum number of lines of a header; the WebSocket library has the same limit."""
MAX_TARGET = 16 * 1024
"""Bytes of the first line: method, path and query."""
CHUNKS = 256
"""The number of a body's chunks that may have any size; more must have SMALL bytes each, on
average."""
SMALL = 256
HEADER_END = re.compile(rb"\n\r?\n")


class Parser(h11.Connection):
    _chunks = 0
    _bytes = 0

    @override
    def next_event(self) -> Any:
        """Return the next event. Raises RemoteProtocolError."""
        if self.their_state is h11.IDLE:
            _check(self.trailing_data[0])
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._chunks += event.chunk_start
            self._bytes += len(event.data)
            if self._chunks > CHUNKS + self._bytes // SMALL:
                raise h11.RemoteProtocolError("the chunks of its body are too small")
        return event


def _check(data: bytes) -> None:
    end = HEADER_END.search(data)
    header = data[: end.start()] if end else data
    first = header.find(b"\n")
    if (len(header) if first < 0 else first) > MAX_TARGET:
        raise h11.RemoteProtocolError("the address is too long", error_status_hint=414)
    if header.count(b"\n") > MAX_LINES:
        raise h11.RemoteProtocolError("too many lines", error_status_hint=431)
