"""Ways out through sockets. Each says its name to whoever listens: the listener tells the test."""

import os
import socket
import struct
from collections.abc import Callable
from typing import Any

type Plan = dict[str, Any]
type Way = Callable[[Plan, str], object]

WAYS: dict[str, Way] = {}
PATIENCE = 3.0


def way(function: Way) -> Way:
    WAYS[function.__name__.replace("_", "-")] = function
    return function


def say(family: int, address: Any, name: str, kind: int = socket.SOCK_STREAM) -> str:
    with socket.socket(family, kind) as speaker:
        speaker.settimeout(PATIENCE)
        speaker.connect(address)
        speaker.sendall(name.encode() + b"\n")
        return "said"


@way
def tcp(plan: Plan, name: str) -> object:
    return say(socket.AF_INET, ("127.0.0.1", plan["tcp"]), name)


@way
def tcp_any(plan: Plan, name: str) -> object:
    """0.0.0.0 is loopback by another name."""
    return say(socket.AF_INET, ("0.0.0.0", plan["tcp"]), name)  # noqa: S104


@way
def tcp6(plan: Plan, name: str) -> object:
    return say(socket.AF_INET6, ("::1", plan["tcp6"]), name)


@way
def udp(plan: Plan, name: str) -> object:
    return say(socket.AF_INET, ("127.0.0.1", plan["udp"]), name, socket.SOCK_DGRAM)


@way
def dns(plan: Plan, name: str) -> object:
    """A question for a name: what is asked leaves, whatever the answer."""
    labels = b"".join(bytes([len(part)]) + part.encode() for part in (name, "test"))
    question = struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speaker:
        speaker.settimeout(PATIENCE)
        return speaker.sendto(question, ("127.0.0.1", plan["udp"]))


def _sockets(name: str) -> None:
    WAYS[name] = lambda plan, name: say(socket.AF_UNIX, plan["sockets"][name], name)


for _name in (
    *("socket-of-rookery", "socket-in-run", "socket-in-tmp", "socket-of-bus"),
    *("socket-of-ssh-agent", "socket-of-other-rookery"),
):
    _sockets(_name)


@way
def abstract_socket(plan: Plan, name: str) -> object:
    return say(socket.AF_UNIX, "\0" + plan["abstract"], name)


@way
def bus_by_variable(plan: Plan, name: str) -> object:
    """As programs find it."""
    address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    return say(socket.AF_UNIX, address.removeprefix("unix:path="), name)


@way
def ssh_agent_by_variable(plan: Plan, name: str) -> object:
    return say(socket.AF_UNIX, os.environ["SSH_AUTH_SOCK"], name)


@way
def command_by_path(plan: Plan, name: str) -> object:
    """A command to the worker itself, as a client sends it."""
    return _command(plan["control"]["path"], plan, name)


@way
def command_by_name(plan: Plan, name: str) -> object:
    return _command("\0" + plan["control"]["name"], plan, name)


def _command(address: str, plan: Plan, name: str) -> str:
    with socket.socket(socket.AF_UNIX) as speaker:
        speaker.settimeout(PATIENCE)
        speaker.connect(address)
        for frame in plan["control"]["frames"]:
            speaker.sendall(frame.replace("WAY", name).encode())
        return speaker.recv(4096).decode("utf-8", "replace")


# --- through the proxy, where the network is a list of names --------------------------------------


def through(request: str, name: str) -> str:
    """What the proxy answers; where it opens the way, the name is said."""
    address = os.environ.get("HTTPS_PROXY") or os.environ["https_proxy"]
    host, _, port = address.rpartition("/")[2].rpartition("@")[2].rpartition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as speaker:
        speaker.sendall(request.encode())
        said = speaker.recv(4096).decode("utf-8", "replace")
        speaker.sendall(f"{name}\n".encode())
        return said + speaker.recv(4096).decode("utf-8", "replace")


def _through(name: str, request: str) -> None:
    def attempt(plan: Plan, name: str) -> object:
        words = {"port": plan["tcp"], "name": name, "allowed": plan["allowed"]}
        words["listed"] = plan["listed"]
        return through(request.format(**words), name)

    WAYS[name] = attempt


_through("proxy-forbidden-host", "CONNECT localhost:{port} HTTP/1.1\r\nHost: x\r\n\r\n")
_through("proxy-address", "CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\n")
_through("proxy-address-6", "CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1\r\nHost: x\r\n\r\n")
_through("proxy-odd-number", "CONNECT 2130706433:{port} HTTP/1.1\r\nHost: x\r\n\r\n")
_through("proxy-odd-port", "CONNECT {allowed}:{port} HTTP/1.1\r\nHost: {allowed}\r\n\r\n")
_through("proxy-rebinding", "CONNECT {allowed}:{listed} HTTP/1.1\r\nHost: {allowed}\r\n\r\n")
_through("proxy-host-header", "CONNECT localhost:{port} HTTP/1.1\r\nHost: {allowed}\r\n\r\n")
_through("proxy-user-part", "CONNECT {allowed}@localhost:{port} HTTP/1.1\r\nHost: x\r\n\r\n")
_through("proxy-suffix", "CONNECT {allowed}.localhost:{port} HTTP/1.1\r\nHost: x\r\n\r\n")
_through("proxy-plain", "GET http://localhost:{port}/{name} HTTP/1.1\r\nHost: {allowed}\r\n\r\n")
_through(
    "proxy-smuggled",
    "CONNECT {allowed}:443 HTTP/1.1\r\nHost: x\r\n\r\n"
    "CONNECT localhost:{port} HTTP/1.1\r\nHost: x\r\n\r\n",
)
