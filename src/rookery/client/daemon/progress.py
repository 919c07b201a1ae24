"""An answer that reports progress: server-sent events, the last of which carries the outcome."""

import http.client
import json
from collections.abc import Callable, Iterator

from rookery.client.daemon.local import Answer

STREAM = "text/event-stream"


def answer(response: http.client.HTTPResponse, report: Callable[[str], object]) -> Answer:
    """Report progress and return the final answer. Raises HTTPException if the stream was
    cut off."""
    for name, data in _events(response):
        match name:
            case "progress":
                report(str(json.loads(data)["message"]))
            case "result":
                return _read_out(response, 200, data)
            case "refusal":
                return _read_out(response, int(json.loads(data)["status"]), data)
    raise http.client.IncompleteRead(b"")


def _read_out(response: http.client.HTTPResponse, status: int, data: bytes) -> Answer:
    response.read()  # the connection can be used again
    return Answer(status, "application/json", data)


def _events(response: http.client.HTTPResponse) -> Iterator[tuple[str, bytes]]:
    name, data = "", b""
    for line in response:
        field, _, value = line.rstrip(b"\r\n").partition(b": ")
        match field:
            case b"event":
                name = value.decode("ascii")
            case b"data":
                data += value
            case b"" if name:
                yield name, data
                name, data = "", b""
