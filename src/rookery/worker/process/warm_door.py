"""The way from an agent in a sandbox, where none of our sockets is, to the warm process: the agent
names the one that fits it, and gets a connection that is good for its sandbox only."""

import asyncio
import re
import socket

from rookery.build import build
from rookery.client import warm_agent
from rookery.home import paths
from rookery.sandbox.plan import Spawn

NAME = re.compile(rb"warm-[0-9a-f]{8}\.s")


class WarmDoor:
    """A door for one connection."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        asyncio.get_running_loop().add_reader(self._ours, self._asked)

    def given_to(self, spawn: Spawn) -> Spawn:
        number = self._theirs.fileno()
        environment = {**spawn.environment, warm_agent.DOOR: f"{number} {build()}"}
        return spawn._replace(pass_fds=(*spawn.pass_fds, number), environment=environment)

    def started(self) -> None:
        """Close the agent's end here: its process has it, or was not started."""
        self._theirs.close()

    def _asked(self) -> None:
        try:
            name = self._ours.recv(64)
        except OSError:
            name = b""
        answer = self._answer(name.decode()) if NAME.fullmatch(name) else b""
        if answer != warm_agent.LOADS:
            asyncio.get_running_loop().remove_reader(self._ours)
            self._ours.close()

    def _answer(self, name: str) -> bytes:
        path = paths.named_socket(self._home, name)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.setblocking(False)
            try:
                connection.connect(path)
                connection.send(warm_agent.INSIDE)
                socket.send_fds(self._ours, [warm_agent.TAKEN], [connection.fileno()])
            except OSError:
                answer = warm_agent.LOADS if warm_agent.is_held(path) else warm_agent.NONE
            else:
                return warm_agent.TAKEN
        try:
            self._ours.send(answer)
        except OSError:
            return b""
        return answer
