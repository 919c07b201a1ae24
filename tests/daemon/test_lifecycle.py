"""How a daemon starts, stops and is found."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rookery.client.daemon import local
from rookery.core.refusals import Refused
from rookery.daemon import options
from rookery.daemon.access import addresses
from rookery.daemon.access.hosts import Hosts
from rookery.daemon.options import Options, chosen
from rookery.daemon.process import lifecycle
from rookery.daemon.process.server import Sockets
from rookery.installation.commands import extra_line
from rookery.processes import tree
from tests.daemon.served import Served, awaited

EVERY = "0.0.0.0"  # noqa: S104 - checked, not bound
PROXY = {"behind_proxy": True, "allowed_hosts": ["a.org"]}


def rookery(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rookery", *words],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("given", "secret", "name"),
    [
        ({"auth": "none", "host": EVERY}, "", "exposed"),
        ({"auth": "none", "host": "192.168.1.5"}, "", "exposed"),
        ({"auth": "none", **PROXY, "host": EVERY}, "", "unknown_peers"),
        ({"auth": "none", **PROXY}, "", "no_proxy_user"),
        ({"auth": "none", **PROXY, "proxy_user": "no such"}, "", "unknown_user"),
        ({"proxy_user": "0"}, "", "no_proxy"),
        ({"host": EVERY}, "long enough", "exposed"),
        ({"auth": "passphrase"}, "", "no_passphrase"),
        ({}, "short", "short_passphrase"),
        ({"behind_proxy": True}, "", "no_allowed_host"),
        ({"tls_cert": "/nowhere"}, "", "half_tls"),
        ({"tls_cert": "/nowhere", "tls_key": "/nowhere"}, "", "no_file"),
        ({"allowed_origins": ["example.org"]}, "", "bad_origin"),
        ({"port": 70000}, "", "bad_port"),
        ({"hsts": True}, "", "no_https"),
    ],
)
def test_unsafe_options_are_refused_by_name(given: dict[str, Any], secret: str, name: str) -> None:
    with pytest.raises(Refused) as refused:
        chosen(given, secret)
    assert refused.value.reason == name


@pytest.mark.parametrize(
    ("given", "secret"),
    [
        ({"auth": "none"}, ""),
        ({"auth": "none", "host": "::1"}, ""),
        ({"host": EVERY}, ""),
        ({"auth": "none", "behind_proxy": True, "allowed_hosts": ["a.org"], "proxy_user": "0"}, ""),
        ({}, "long enough"),
    ],
)
def test_safe_options_are_accepted(given: dict[str, Any], secret: str) -> None:
    found = chosen(given, secret)
    assert secret not in found.passphrase or not secret
    assert options.from_json(json.loads(json.dumps(found.json()))) == found


def test_serve_in_the_background_status_and_stop(home: Path) -> None:
    started = rookery("serve", "--background", "--port", "0")
    assert started.returncode == 0, started.stderr
    assert "/login?code=" in started.stdout
    status = rookery("serve", "--status", "--json")
    found = json.loads(status.stdout)
    assert found["address"].startswith("http://127.0.0.1:")
    assert (found["auth"], found["stale"], found["background"]) == ("token", False, True)
    second = rookery("serve", "--background", "--port", "0")
    assert second.returncode == 1
    assert "already serves" in second.stderr
    stopped = rookery("serve", "--stop")
    assert (stopped.returncode, stopped.stdout) == (0, "")
    assert "Sessions keep running" in stopped.stderr
    assert rookery("serve", "--status").returncode == 1
    assert "No daemon is running" in rookery("serve", "--stop").stderr


def test_the_link_for_a_phone_leads_to_this_machine(home: Path) -> None:
    started = rookery("serve", "--background", "--host", EVERY, "--port", "0")
    link = re.search(r"http://(\S+):\d+/login\?code=\S+", started.stdout)
    assert link is not None, started.stderr
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.7", 9))
        assert link[1] == way.getsockname()[0]
    with urllib.request.urlopen(link[0]) as page:  # noqa: S310 - it is our own
        assert page.status == 200
    assert rookery("serve", "--stop").returncode == 0


BOX = ("box.example.org", "other.example.org")


@pytest.mark.parametrize(
    ("options", "address"),
    [
        (Options(EVERY, tls_cert="cert.pem", allowed_hosts=BOX), "https://box.example.org:7433"),
        (Options(behind_proxy=True, allowed_hosts=BOX), "https://box.example.org"),
        (Options(behind_proxy=True, allowed_hosts=("b.org:8443",)), "https://b.org:8443"),
        (Options(allowed_hosts=("localhost", *BOX)), "http://box.example.org:7433"),
        (Options(EVERY, 443, tls_cert="cert.pem", allowed_hosts=BOX), "https://box.example.org"),
        (Options("fd00::7", 80), "http://[fd00::7]"),
        (Options("fd00::7"), "http://[fd00::7]:7433"),
        (Options(EVERY, allowed_hosts=("fd00::7",)), "http://[fd00::7]:7433"),
        (Options(allowed_hosts=("rookery.localhost",)), ""),
        (Options("::1"), ""),
        (Options(), ""),
    ],
)
def test_links_name_an_address_that_others_can_open(options: Options, address: str) -> None:
    assert addresses.for_others(options) == address
    assert addresses.for_links(options) == (address or options.address)
    assert bool(addresses.why_only_here(options)) == (address == "")


def test_a_port_of_an_allowed_host_is_not_part_of_its_name() -> None:
    hosts = Hosts(Options(behind_proxy=True, allowed_hosts=("b.org:8443", "fd00::7")))
    assert [*map(hosts.knows, ("b.org", "b.org:8443", "[fd00::7]:80"))] == [True] * 3
    assert [*map(hosts.knows, ("c.org", "[b.org", "x.b.org:8443", "localhost"))] == [False] * 4


def test_without_an_address_for_a_phone_there_is_no_qr_code(home: Path) -> None:
    started = rookery("serve", "--background", "--port", "0", "--qr")
    assert "█" not in started.stdout
    assert addresses.ONLY_HERE in started.stdout
    assert addresses.ONLY_HERE in rookery("serve", "--link", "--qr").stdout
    page = local.request(str(home), "POST", "/settings/devices/link", {})
    assert rookery("serve", "--stop").returncode == 0
    assert (page.status, b"<svg" in page.body) == (200, False)


def test_behind_a_proxy_links_and_qr_codes_name_the_proxy(home: Path) -> None:
    words = ("--behind-proxy", "--allowed-host", "box.example.org", "--port", "0", "--qr")
    started = rookery("serve", "--background", *words)
    assert "https://box.example.org/login?code=" in started.stdout
    assert "█" in started.stdout
    assert rookery("serve", "--link").stdout.startswith("https://box.example.org/login?code=")
    assert rookery("serve", "--stop").returncode == 0


def test_serve_in_the_foreground_prints_a_link_and_ends_by_ctrl_c(home: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "rookery", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    first = child.stdout.readline()
    assert str(home) in first
    assert "link" in child.stdout.readline()
    assert "/login?code=" in child.stdout.readline()
    record = local.record(str(home))
    assert record is not None
    assert record["pid"] == child.pid
    assert not record["background"]
    with pytest.raises(Refused) as refused:
        lifecycle.restart(str(home))
    assert refused.value.reason == "not_in_background"
    child.send_signal(2)
    _, said = child.communicate(timeout=120)
    assert child.returncode == 0, said
    assert local.record(str(home)) is None


def test_restart_replays_every_option(serving: Callable[..., Served]) -> None:
    from rookery.daemon import passphrase

    secret = passphrase.hashed("correct horse")
    one = serving(auth="passphrase", passphrase=secret, read_only=True, allowed_hosts=("a.org",))
    before = one.record["options"]
    again = lifecycle.restart(one.home)
    assert again["pid"] != one.record["pid"]
    assert again["options"] == before
    other = Served(Path(one.home), again)
    assert other.log_in(passphrase="correct horse").status == 200
    assert other.log_in(passphrase="wrong horse").status == 401


def test_the_passphrase_is_in_no_process_list_and_no_environment(home: Path) -> None:
    started = rookery(
        *("serve", "--background", "--port", "0", "--passphrase", "hunter2hunter2"),
        ROOKERY_PASSPHRASE="hunter3hunter3",
    )
    assert started.returncode == 0, started.stderr
    record = local.record(str(home))
    assert record is not None
    for name in ("cmdline", "environ"):
        assert b"hunter" not in Path(f"/proc/{record['pid']}/{name}").read_bytes()
    assert "hunter" not in (home / local.RECORD).read_text()
    lifecycle.stop(str(home))


def test_a_killed_daemon_leaves_nothing_in_the_way(serving: Callable[..., Served]) -> None:
    one = serving()
    session = one.create(prompt="Hello")
    one.kill()
    assert local.record(one.home) is None
    other = serving()
    answer = other.own("GET", f"/api/sessions/{session}")
    assert answer.status == 200
    assert answer.json()["id"] == session


def test_a_port_that_is_taken_is_said(serving: Callable[..., Served], tmp_path: Path) -> None:
    one = serving()
    port = int(one.netloc.rpartition(":")[2])
    with pytest.raises(Refused) as refused:
        lifecycle.start(str(tmp_path / "other"), Options(port=port))
    assert refused.value.reason == "no_address"
    assert "--port" in str(refused.value)


def test_the_daemon_stops_while_streams_are_open(daemon: Served) -> None:
    import socket

    host, _, port = daemon.netloc.rpartition(":")
    with socket.create_connection((host, int(port))) as link:
        request = f"GET /api/events?topic=fleet HTTP/1.1\r\nHost: {daemon.netloc}\r\n"
        link.sendall(f"{request}Authorization: Bearer {daemon.token}\r\n\r\n".encode())
        assert b"200" in link.recv(100)
        daemon.stop()
        assert not tree.alive(*daemon.process[:2])


def test_a_newer_build_on_disk_offers_a_restart(daemon: Served, home: Path) -> None:
    place = home / local.RECORD
    record = json.loads(place.read_text()) | {"build": "0.0.1"}
    place.write_text(json.dumps(record))
    said = rookery("serve", "--status")
    assert said.returncode == 0
    assert "rookery serve --restart" in said.stderr


@pytest.mark.parametrize("flags", [("--read-only",), ("--allowed-host", "a.org")])
def test_a_restart_with_other_options_is_refused(daemon: Served, flags: tuple[str, ...]) -> None:
    said = rookery("serve", "--restart", *flags)
    assert said.returncode == 2
    assert f"so {flags[0]} has no effect" in said.stderr
    assert tree.alive(*daemon.process[:2])


@pytest.mark.parametrize(
    "flags",
    [
        ("--stop", "--read-only"),
        ("--status", "--port=7500"),
        ("--link", "--auth=none"),
        ("--install", "--background"),
        ("--restart", "--role=look"),
        ("--stop", "--qr"),
    ],
)
def test_an_option_that_an_action_would_ignore_is_refused(
    daemon: Served, flags: tuple[str, str]
) -> None:
    said = rookery("serve", *flags)
    assert said.returncode == 2
    assert f"{flags[1].partition('=')[0]} has no effect with {flags[0]}." in said.stderr
    assert tree.alive(*daemon.process[:2])


def test_without_the_extra_it_says_what_to_install(home: Path, tmp_path: Path) -> None:
    """A stand-in for an installation without it: its modules cannot be found."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "from importlib.machinery import PathFinder\n"
        "class Without(PathFinder):\n"
        "    @classmethod\n"
        "    def find_spec(cls, name, path=None, target=None):\n"
        "        if name not in ('fastapi', 'uvicorn'):\n"
        "            return PathFinder.find_spec(name, path, target)\n"
        "sys.meta_path[sys.meta_path.index(PathFinder)] = Without\n"
    )
    said = rookery("serve", PYTHONPATH=str(tmp_path))
    assert said.returncode == 1
    assert f"To install it: {extra_line('web')}" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.long
def test_two_started_at_once_are_one_daemon(home: Path) -> None:
    words = [sys.executable, "-m", "rookery", "serve", "--background", "--port", "0"]
    both = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [each.communicate(timeout=120) for each in both]
    assert sorted(each.returncode for each in both) == [0, 1], said
    assert awaited(lambda: local.record(str(home)))
    lifecycle.stop(str(home))


def test_small_answers_are_sent_without_delay(home: Path) -> None:
    """A connection over the network sends each piece at once: held back until the client's system
    acknowledges the piece before, every answer with a body took 40 ms longer."""

    async def is_at_once() -> int:
        found = asyncio.get_running_loop().create_future()

        def came(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            sock = writer.get_extra_info("socket")
            found.set_result(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        sockets = Sockets(str(home), Options(port=0))
        try:
            async with await asyncio.start_server(came, sock=sockets.all()[0]):
                _, writer = await asyncio.open_connection("127.0.0.1", sockets.port)
                try:
                    return int(await found)
                finally:
                    writer.close()
        finally:
            sockets.close()

    assert asyncio.run(is_at_once())
