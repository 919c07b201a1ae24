"""The frames of our own sockets: newline JSON objects with one key each, which says what the frame
is.

client to worker   hello {protocol, build, client, from, offers}, then command {id, do, …},
                   reply {id, result}, and before it note {id, message}
worker to client   welcome {protocol, build, session, seq, control}, then
                   event {seq, at, cause, by, update},
                   behind {seq}  (an event too large for a frame: read the file),
                   lagged {seq}  (events were left out: read the file up to there),
                   refused {reason, message}, trouble {reason, message},
                   call {id, method, params}  (to one client that offers the method; never logged),
                   uncall {id}  (the answer is not wanted any more)

`control` names an abstract socket with the same frames, the only one that takes the user's answers
where the agent is confined. A client that sees a gap in `seq` reads the log's file.
"""

from collections.abc import Sequence
from typing import Any

from rookery.core.json import Event, Json, dumps

PROTOCOL = 1

NEWS_BYTES = 64 * 1024
"""A larger event is announced by its number only."""

COMMAND_BYTES = 1024 * 1024
"""Ceiling of one line from a client."""

BUFFER_BYTES = 1024 * 1024
"""What waits for one slow client at most; over it, the client is told that it lags."""


def encode(kind: str, body: Any) -> bytes:
    return dumps({kind: body}).encode("ascii") + b"\n"


def encode_event(event: Event) -> bytes:
    # A large one is not even encoded: that would be two more copies of it.
    if _is_large(event.update):
        return encode("behind", event.seq)
    line = encode("event", event._asdict())
    return line if len(line) <= NEWS_BYTES else encode("behind", event.seq)


def _is_large(update: Json) -> bool:
    """Whether its texts alone are too many for a frame; it may be nested to any depth."""
    left, waiting = NEWS_BYTES, [iter(update.values())]
    while waiting and left >= 0:
        value = next(waiting[-1], waiting)
        if value is waiting:
            waiting.pop()
        elif isinstance(value, str):
            left -= len(value)
        elif isinstance(value, dict):
            waiting.append(iter(value.values()))
        elif isinstance(value, list):
            left -= len(value)
            waiting.append(iter(value))
    return left < 0


def hello(build: str, client: str, after: int, offers: Sequence[str] = ()) -> bytes:
    body = {"protocol": PROTOCOL, "build": build, "client": client, "from": after}
    return encode("hello", body | ({"offers": list(offers)} if offers else {}))


def kind_and_body(frame: object) -> tuple[str, Any]:
    """What a frame is; ("", frame) when it is none."""
    if isinstance(frame, dict) and len(frame) == 1:
        kind, body = next(iter(frame.items()))
        return str(kind), body
    return "", frame


def refused(reason: str, message: str) -> bytes:
    return encode("refused", {"reason": reason, "message": message})


def misfit(asked: object, build: str) -> str:
    """Why a worker and a client of another protocol cannot talk, and which of them to replace."""
    remedy = "It is older than this client; to replace it: rookery stop --now, then a prompt."
    if isinstance(asked, int) and asked < PROTOCOL:
        remedy = "This client is older; to update it: rookery update"
    other = str(asked)[:20]
    return f"The session's worker (build {build}) speaks protocol {PROTOCOL}, not {other}. {remedy}"


def trouble(reason: str, message: str) -> bytes:
    return encode("trouble", {"reason": reason, "message": message})


def command_of(body: object) -> Json | None:
    """The command in a frame, when it has an id and says what to do."""
    if (
        isinstance(body, dict)
        and isinstance(body.get("id"), str)
        and isinstance(body.get("do"), str)
    ):
        return body if 0 < len(body["id"]) <= 200 else None
    return None
