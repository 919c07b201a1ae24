"""`rookery agent`: starts Rookery's own agent, whose SDK takes seconds to import.

A warm process has it loaded, or loads it while this one waits: two imports at once would delay
both. This process hands over its descriptors, environment and directory, and stays as a stand-in:
it waits for the exit status, passes signals on, and its death ends the agent. If there is no warm
process it becomes the agent itself. While one loads, this process answers `initialize`.

Imports only a little of the standard library: every start waits for this."""

import marshal
import os
import signal
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

from rookery.agent.process.arguments import Arguments, parse
from rookery.client import warm_agent
from rookery.client.config import confinement
from rookery.home import paths
from rookery.processes import LINUX, MARK, die_with_parent

if TYPE_CHECKING:
    from rookery.agent.process.greeting import Greeter

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LOOK = 0.05
"""Seconds between two looks at a warm process that loads."""
LOST = 70
"""The exit status of an agent that died without one."""


def main(arguments: list[str]) -> int:
    """Run the agent and return its exit status; if it runs in this process, end that."""
    home = paths.home()
    waiting = Waiting()
    given = parse(arguments)
    known = isinstance(given, Arguments)  # wrong ones start nothing
    if known and warm_agent.is_wanted(home):
        inside = os.environ.pop(warm_agent.DOOR, "")
        try:
            stand_in = (
                _let_in(home, inside, arguments, waiting)
                if inside
                else _taken_in(home, arguments, waiting)
            )
        except (OSError, ValueError, paths.PathError):
            stand_in = None
        if stand_in is not None:
            return _stand_in(stand_in)
    if MARK not in os.environ:  # an editor started us
        status = _alone(home)
        if status is not None:
            return status
    from rookery.agent.server import Begun
    from rookery.agent.server import main as serve

    return serve(arguments, begun=Begun(waiting.read, waiting.greeted))


class Waiting:
    """Answers the client's first request while a warm process is still loading."""

    def __init__(self) -> None:
        self._greeter: Greeter | None = None

    def look(self) -> None:
        if self._greeter is None:
            from rookery.agent.process.greeting import Greeter

            self._greeter = Greeter()
        self._greeter.wait(LOOK)

    @property
    def read(self) -> bytes:
        return self._greeter.read if self._greeter is not None else b""

    @property
    def greeted(self) -> bool:
        return self._greeter is not None and self._greeter.answered


def _alone(home: str) -> int | None:
    """Keep and confine an agent that has no worker. Returns its status in the keeper, once it has
    ended; None in the process that is to become the agent."""
    from rookery.agent.process import keeper

    if LINUX:
        status = keeper.fork(home)
        if status is not None:
            return status
    try:
        confinement.enter(off=confinement.is_off(home))
    except OSError as error:
        sys.stderr.write(f"rookery: cannot confine the agent: {error}\n")
        return LOST
    if LINUX:
        keeper.watch()
    return None


def _taken_in(home: str, arguments: list[str], waiting: Waiting) -> socket.socket | None:
    """Return the connection to the warm process once it is loaded and accepts us; None if there is
    none, or it does not accept us."""
    path = warm_agent.socket_path(home)
    deadline = time.monotonic() + warm_agent.LOADING
    # What a worker's agent started would end with the worker, whose client has started one.
    may_start = MARK not in os.environ
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(warm_agent.HANDOVER_TIMEOUT)
            connection.connect(path)
        except OSError:
            connection.close()
        else:
            return _offer(connection, arguments, waiting)
        if may_start:
            warm_agent.start(home)
            may_start = False
        if not warm_agent.is_held(path) or time.monotonic() > deadline:
            return None
        waiting.look()


def _let_in(home: str, given: str, arguments: list[str], waiting: Waiting) -> socket.socket | None:
    """Do the same in a sandbox, where none of our sockets can be reached: the worker, at the other
    end of this descriptor, connects for us."""
    number, _, own = given.partition(" ")
    name = os.path.basename(warm_agent.socket_path(home, own)).encode()
    deadline = time.monotonic() + warm_agent.LOADING
    with socket.socket(fileno=int(number)) as worker:
        worker.settimeout(warm_agent.HANDOVER_TIMEOUT)
        while time.monotonic() < deadline:
            worker.send(name)
            reply, descriptors, _, _ = socket.recv_fds(worker, 1, 1)
            if reply == warm_agent.TAKEN and descriptors:
                connection = socket.socket(fileno=descriptors[0])
                connection.settimeout(warm_agent.HANDOVER_TIMEOUT)
                return _offer(connection, arguments, waiting, own)
            if reply != warm_agent.LOADS:
                break
            waiting.look()
    return None


def _as_text(wish: dict[str, Any]) -> bytes:
    """Encode the request as JSON for a process that does not trust us: see `warm.child`."""
    import json

    wish["environment"] = {
        os.fsdecode(name): os.fsdecode(value) for name, value in wish["environment"].items()
    }
    wish["read"] = wish["read"].decode("latin-1")
    return json.dumps(wish).encode()


def _offer(
    connection: socket.socket, arguments: list[str], waiting: Waiting, inside: str = ""
) -> socket.socket | None:
    """Return the connection if the warm process accepts us. `inside`: the build, in a sandbox."""
    try:
        umask = os.umask(0o077)
        os.umask(umask)
        wish: dict[str, Any] = {
            "key": warm_agent.items(inside),
            "arguments": arguments,
            "directory": os.getcwd(),
            "environment": dict(os.environb),
            "umask": umask,
            "read": waiting.read,
            "greeted": waiting.greeted,
        }
        message = _as_text(wish) if inside else marshal.dumps(wish)
        own = [os.pidfd_open(os.getpid())] if inside else []
        mark = os.fsencode(os.environ.get(MARK, "")).ljust(warm_agent.MARK_SIZE, b"\0")
        head = len(message).to_bytes(4) + mark[: warm_agent.MARK_SIZE]
        socket.send_fds(connection, [head], [0, 1, 2, *own])
        for number in own:
            os.close(number)
        connection.sendall(message)
        taken = connection.recv(1) == warm_agent.TAKEN
    except OSError:
        taken = False
    if not taken:
        connection.close()
        return None
    connection.settimeout(None)
    return connection


def _stand_in(connection: socket.socket) -> int:
    """Wait for the exit status, and pass signals on."""
    if MARK in os.environ:
        # If the worker and its warden are killed, a stopped agent does not see its stdin's end, but
        # the warm process misses us.
        die_with_parent(os.getppid())
    for number in PASSED_ON:
        signal.signal(
            number, lambda number, _: connection.send(warm_agent.SIGNAL + bytes([number]))
        )
    # Our copies of the pipes would keep them open after the agent closed its ends.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    reply = b""
    while len(reply) < 2:
        more = connection.recv(2 - len(reply))
        if not more:
            sys.stderr.write("rookery: the agent's process died\n")
            return LOST
        reply += more
    return reply[1]
