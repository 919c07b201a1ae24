"""Without a login (--auth none), the daemon takes its own user and the proxy's, and nobody else."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from rookery.core.refusals import Refused
from rookery.daemon.options import Options
from rookery.daemon.process import lifecycle, units
from tests.daemon.served import Served

PROXY, STRANGER = 4711, 4712
NAME = "box.example.org"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be other users")


@contextmanager
def being(user: int) -> Iterator[None]:
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)


def status(served: Served, user: int, host: str) -> bytes:
    """Of a request over a socket that the user opened."""
    name, port = served.netloc.rsplit(":", 1)
    with being(user):
        link = socket.create_connection((name, int(port)), 60)
    with link:
        link.sendall(f"GET /api/about HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        return link.recv(65536).split()[1]


def test_without_a_login_another_user_is_refused(serving: Callable[..., Served]) -> None:
    served = serving(auth="none")
    assert status(served, 0, "localhost") == b"200"
    assert status(served, STRANGER, "localhost") == b"403"


def test_behind_a_proxy_its_user_alone_comes_in_too(serving: Callable[..., Served]) -> None:
    served = serving(auth="none", behind_proxy=True, allowed_hosts=(NAME,), proxy_user=str(PROXY))
    assert status(served, PROXY, NAME) == b"200"
    assert status(served, STRANGER, NAME) == b"403"


def test_with_a_login_the_user_does_not_matter(serving: Callable[..., Served]) -> None:
    assert status(serving(), STRANGER, "localhost") == b"401"


def test_saved_options_without_the_proxys_user_name_the_line_to_add(
    serving: Callable[..., Served],
) -> None:
    options = Options(auth="none", behind_proxy=True, allowed_hosts=(NAME,), proxy_user="caddy")
    assert "--proxy-user caddy" in " ".join(units.command(options))
    served = serving(behind_proxy=True, allowed_hosts=(NAME,))
    path = os.path.join(served.home, "run", "daemon.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace('"token"', '"none"'))
    with pytest.raises(Refused, match="--proxy-user USER"):
        lifecycle.restart(served.home)
    assert served.own("GET", "/api/about").status == 200
