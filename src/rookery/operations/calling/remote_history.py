"""A session's log read through a daemon: each call is a request."""

from collections.abc import Iterable, Iterator
from typing import Any, Self

from rookery.client.daemon.errors import OtherVersion
from rookery.client.daemon.remote import Door, of_session, refusal
from rookery.core.header import Header
from rookery.core.json import Event, Json
from rookery.core.json.events import event_from_json
from rookery.log.ending import ROOM, Part

PAGE = 1000
SOME = 100
"""Events that are asked for by number at once."""


class RemoteHistory:
    """The history of a session on another machine. Its calls block. Raises LogError, and
    RemoteError if the daemon cannot be asked."""

    def __init__(self, door: Door, session: str) -> None:
        self._door = door
        self._session = session

    def last_seq(self) -> int:
        return int(self._get("/turns")["last"])

    def read(self, after: int, limit: int = PAGE, upto: int | None = None) -> list[Event]:
        before = None if upto is None else upto + 1
        return self._events(after=after, limit=limit, before=before)

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[Event]:
        while page := self.read(after, upto=upto):
            yield from page
            after = page[-1].seq

    def turns(self) -> int:
        return int(self._get("/turns")["turns"])

    def page(self, n: int) -> list[Event]:
        return self._events(turn=n)

    def header(self) -> Header:
        return Header(dict(self._get("/header")["header"]))

    def header_before(self, n: int) -> Header:
        return Header(dict(self._get("/header", turn=n)["header"]))

    def part(self, upto: int | None = None, room: int = ROOM) -> Part:
        reply = self._get("/part", upto=upto, room=room)
        return Part(Header(reply["header"]), _events(reply), reply["above"])

    def some(self, numbers: Iterable[int]) -> list[Event]:
        wanted, events = list(numbers), list[Event]()
        for place in range(0, len(wanted), SOME):
            events += self._events(seqs=",".join(map(str, wanted[place : place + SOME])))
        return events

    def spans(self, n: int) -> tuple[int, int]:
        reply = self._get("/turns", turn=n)
        return reply["begins"], reply["ends"]

    def first_seq(self, n: int) -> int:
        return int(self._get("/turns", turn=n)["first"])

    def turn_of(self, seq: int) -> int:
        return int(self._get("/turns", seq=seq)["turn"])

    def find(self, cause: str) -> Event | None:
        events = self._events(cause=cause)
        return events[0] if events else None

    def blob(self, name: str) -> bytes | None:
        path = of_session(self._session, f"/blobs/{name}")
        answer = self._door.ask("GET", path)
        if answer.status < 400:
            return answer.body
        if answer.status == 404:
            return None
        raise refusal(self._door.url, path, answer)

    def close(self) -> None:
        """Do nothing: the door's owner closes it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _events(self, **query: Any) -> list[Event]:
        return _events(self._get("/events", **query))

    def _get(self, rest: str, **query: Any) -> Json:
        reply = self._door.json("GET", of_session(self._session, rest), query=query)
        if not isinstance(reply, dict):
            raise OtherVersion(self._door.url, rest)
        return reply


def _events(reply: Json) -> list[Event]:
    return [event_from_json(each) for each in reply["events"]]
