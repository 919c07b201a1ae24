"""daemon_request_ratio: what the daemon spends on the worst of a set of requests of 64 KB, as a
multiple of a plain one: the same place (query, cookie, header, path or body) filled with one value
of that size. Every route is tried with every shape, with a log-in and without; the processor time
of 20 requests each is compared. What is refused before its route has a plain one that is, too.

daemon_request_doubling: the same worst ones at 64 KB over 32 KB.
"""

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from bench.daemons import Place, served
from bench.figures import Aim, Benchmark, progress, run_alone
from bench.roost import roost
from tests.daemon.test_routes import WEBSOCKET, addresses

SIZE = 64 * 1024
TIMES, FIRST = 20, 2
"""Requests of a case; and when the worst cases are looked for."""
PATIENCE = 60.0
WORST = 8
"""So many are measured, three times: what else the machine did is none of theirs."""
FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=x"
SLOW = ("POST /login", "GET /api/events")
"""One checks a passphrase, which takes its time; the other's answer has no end."""


class Request(NamedTuple):
    """What is filled in."""

    path: str = ""
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    kind: str = ""
    body: bytes = b""


def _repeated(piece: Callable[[int], str], size: int) -> str:
    width = len(piece(0))
    return "".join(piece(number) for number in range(size // width))


def _header(name: str, value: str) -> Request:
    return Request(headers=((name, value),))


def _json(text: str) -> Request:
    return Request(kind="application/json", body=text.encode())


def _form(text: str) -> Request:
    return Request(kind=FORM, body=text.encode())


def _parts(pieces: Iterable[str]) -> Request:
    head = '--x\r\nContent-Disposition: form-data; name="'
    body = "".join(f"{head}{piece}\r\n" for piece in pieces)
    return Request(kind=PARTS, body=f"{body}--x--\r\n".encode())


type Shape = Callable[[int], Request]

PLAIN: dict[str, Shape] = {
    "query": lambda size: Request(query="a=" + "a" * size),
    "cookie": lambda size: _header("Cookie", "a=" + "a" * size),
    "header": lambda size: _header("X", "a" * size),
    "path": lambda size: Request(path="/" + "a" * size),
    "json": lambda size: _json('"' + "a" * size + '"'),
    "form": lambda size: _form("a=" + "a" * size),
    "parts": lambda size: _parts(['a"\r\n\r\n' + "a" * size]),
}
SHAPES: dict[str, tuple[str, Shape]] = {
    "query names": ("query", lambda size: Request(query=_repeated(lambda n: f"&{n:05x}", size))),
    "query escapes": ("query", lambda size: Request(query="a=" + "%61" * (size // 3))),
    "cookies": ("cookie", lambda size: _header("Cookie", _repeated(lambda n: f"{n:05x}=;", size))),
    "cookie escapes": ("cookie", lambda size: _header("Cookie", 'a="' + "\\101" * (size // 4))),
    "headers": (
        "header",
        lambda size: Request(headers=tuple((f"X{n:05x}", "") for n in range(size // 10))),
    ),
    "path parts": ("path", lambda size: Request(path="/a" * (size // 2))),
    "path escapes": ("path", lambda size: Request(path="/" + "%61" * (size // 3))),
    "JSON depth": ("json", lambda size: _json("[" * size)),
    "JSON objects": ("json", lambda size: _json('{"a":' * (size // 5))),
    "JSON keys": (
        "json",
        lambda size: _json('{"a":0' + _repeated(lambda n: f',"{n:05x}":0', size) + "}"),
    ),
    "form fields": ("form", lambda size: _form(_repeated(lambda n: f"&{n:05x}=", size))),
    "multipart parts": (
        "parts",
        lambda size: _parts(f'{n:05x}"\r\n\r\n' for n in range(size // 60)),
    ),
}


class Case(NamedTuple):
    method: str
    path: str
    shape: str
    logged_in: bool

    def __str__(self) -> str:
        who = "with" if self.logged_in else "without"
        return f"{self.method} {self.path}, {self.shape}, {who} a log-in"


def _written(place: Place, case: Case, filled: Request) -> bytes:
    method = "GET" if case.method == WEBSOCKET else case.method
    target = case.path.rstrip("/") + filled.path if filled.path else case.path
    lines = [f"{method} {target}{'?' if filled.query else ''}{filled.query} HTTP/1.1"]
    lines += [f"Host: {urlsplit(place.address).netloc}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in filled.headers]
    lines += [f"Authorization: Bearer {place.token}"] if case.logged_in else []
    lines += [f"Content-Type: {filled.kind}"] if filled.kind else []
    lines += [f"Content-Length: {len(filled.body)}"] if filled.body else []
    return "\r\n".join([*lines, "", ""]).encode() + filled.body


def _cpu(pid: int) -> float:
    """Seconds of the processor that a process has used, to the microsecond."""
    return time.clock_gettime((~pid << 3) | 2)


def _send(place: Place, request: bytes) -> None:
    split = urlsplit(place.address)
    with socket.create_connection((split.hostname, split.port), PATIENCE) as link:
        with suppress(OSError):  # it has answered already
            link.sendall(request)
        with suppress(OSError):
            while link.recv(65536):
                pass


def spent(place: Place, case: Case, filled: Request, times: int = TIMES) -> float:
    """Seconds of the daemon's, for all times."""
    request = _written(place, case, filled)
    before = _cpu(place.pid)
    for _ in range(times):
        _send(place, request)
    return _cpu(place.pid) - before


def cases() -> Iterator[Case]:
    for method, path in addresses():
        if f"{method} {path}" in SLOW:
            continue
        bodies = method not in ("GET", "HEAD", WEBSOCKET)
        for shape, (plain, _) in SHAPES.items():
            if bodies or plain in ("query", "cookie", "header", "path"):
                yield from (Case(method, path, shape, known) for known in (False, True))


type Plain = dict[tuple[str, str, str, bool], float]
"""What plain requests cost, by method, path, place and log-in."""


def ratio(place: Place, case: Case, plain: Plain, times: int = TIMES) -> float:
    kind, shape = SHAPES[case.shape]
    cost = spent(place, case, shape(SIZE), times)
    key = case.method, case.path, kind, case.logged_in
    if key not in plain:
        plain[key] = spent(place, case, PLAIN[kind](SIZE), times)
    return cost / plain[key]


def doubling(place: Place, case: Case) -> float:
    shape = SHAPES[case.shape][1]
    return spent(place, case, shape(SIZE)) / spent(place, case, shape(SIZE // 2))


def measure() -> dict[str, float]:
    with roost() as home, served(home) as place:
        plain: Plain = {}
        found = {case: ratio(place, case, plain, FIRST) for case in cases()}
        worst = sorted(found, key=lambda case: -found[case])[:WORST]
        ratios = {case: min(ratio(place, case, {}) for _ in range(3)) for case in worst}
        doubled = {case: min(doubling(place, case) for _ in range(3)) for case in worst}
    for case in worst:
        progress(f"{ratios[case]:.2f}, doubled {doubled[case]:.2f}: {case}")
    return {
        "daemon_request_ratio": max(ratios.values()),
        "daemon_request_doubling": max(doubled.values()),
    }


BENCHMARK = Benchmark(
    (
        Aim("daemon_request_ratio", "times", below=5),
        Aim("daemon_request_doubling", "times", below=2.5),
    ),
    measure,
)

if __name__ == "__main__":
    raise SystemExit(run_alone(BENCHMARK))
