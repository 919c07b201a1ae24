"""A daemon for one measurement: started in a home, asked over HTTP and over its stream."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

from bench.roost import Roost
from rookery.daemon.access.devices import Devices
from rookery.daemon.options import Options
from rookery.daemon.process import lifecycle

PATIENCE = 60.0


class Place(NamedTuple):
    roost: Roost
    address: str
    token: str
    pid: int

    @property
    def stream(self) -> str:
        return self.address.replace("http", "ws", 1) + "/api/stream"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@contextmanager
def served(place: Roost) -> Iterator[Place]:
    _, token = Devices(place.home).add("bench")
    try:
        yield started(place, token)
    finally:
        lifecycle.stop(place.home)


def started(place: Roost, token: str) -> Place:
    record = lifecycle.start(place.home, Options(port=0))
    return Place(place, record["address"], token, record["pid"])


class Api:
    """One connection, used again and again."""

    def __init__(self, place: Place) -> None:
        self._headers = place.headers
        self._link = http.client.HTTPConnection(urlsplit(place.address).netloc, timeout=PATIENCE)

    def get(self, path: str) -> bytes:
        self._link.request("GET", path, headers=self._headers)
        answer = self._link.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
        return body

    def close(self) -> None:
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def streaming(place: Place) -> Iterator[ClientConnection]:
    headers = place.headers
    with connect(place.stream, additional_headers=headers, max_size=None) as link:
        yield link


def snapshot(link: ClientConnection, session: str) -> str:
    """Open a session over a stream, and leave it again: what came, as it came."""
    link.send(json.dumps({"subscribe": {"topic": session}}))
    text = link.recv(PATIENCE, decode=True)
    link.send(json.dumps({"unsubscribe": {"topic": session}}))
    if not text.startswith(f'{{"snapshot":{{"topic":"{session}"'):
        raise RuntimeError(f"instead of a snapshot came {text[:200]}")
    return text
