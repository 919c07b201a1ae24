"""Our own agent's answer to `initialize`, which the door sends while the agent is loaded: a client
that waits for seconds may give up."""

import os
import select
import time

from rookery.agent.process.arguments import SETUP
from rookery.core.json import dumps, loads
from rookery.core.vendors.environment import IMAGE_BUILD
from rookery.wire import greeting
from rookery.wire.failures import RpcError
from rookery.wire.lines import is_id, line_of
from rookery.wire.params import Json, offers
from rookery.wire.versions import asked_for

NAME = "rookery-agent"
CAPABILITIES = greeting.CAPABILITIES | {
    "sessionCapabilities": greeting.SESSIONS | {"fork": {}},
    "auth": {"status": {}},
}
TERMINAL_SETUP = "rookery-setup-terminal"

PIECE = 64 * 1024
MAX_LINE_BYTES = 1024 * 1024
"""Bytes of a first line that the door reads; a longer one is left to the agent."""


def welcome(client: Json) -> Json:
    about = "Run `rookery setup` in a terminal to choose a model and its key."
    methods: list[Json] = [{"id": SETUP, "name": "Set up a model", "description": about}]
    if offers(client, "auth", "terminal"):
        more = {"type": "terminal", "args": ["--setup"]}
        methods.append({"id": TERMINAL_SETUP, "name": "Set up a model here", **more})
    ours = {"continue": True, "forkAt": True, "pause": True}
    meta: Json = {"steering": {"supported": True}, "rookery": ours}
    if build := os.environ.get(IMAGE_BUILD):
        meta["rookery"]["imageBuild"] = build
    return {"authMethods": methods, "_meta": meta}


class Greeter:
    """Reads the client's first line, and answers it if it is `initialize`. All that was read is
    passed to the agent, which answers what was not answered here."""

    def __init__(self) -> None:
        self.read = b""
        self.answered = False
        self._over = False
        self._poll = select.poll()
        self._poll.register(0, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Wait for input from the client, at most this long."""
        if self._over:
            time.sleep(seconds)
        elif self._poll.poll(seconds * 1000):
            self._take()

    def _take(self) -> None:
        try:
            piece = os.read(0, PIECE)
        except OSError:
            piece = b""
        self.read += piece
        line, newline, _ = self.read.partition(b"\n")
        # The end of the input, and anything odd, is the agent's to see.
        self._over = not piece or bool(newline) or len(self.read) > MAX_LINE_BYTES
        if newline:
            self.answered = _greet(line)


def _greet(line: bytes) -> bool:
    """Answer the line if it is `initialize`. Returns whether it was."""
    try:
        message = loads(line)
        if message["method"] != "initialize" or not is_id(message["id"]):
            return False
        client = greeting.client_of(message["params"])
        if asked_for(message) is not None:  # not in version 1
            return False
        result = greeting.answer(NAME, CAPABILITIES, welcome(client))
        answer = line_of(dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        # Less than a pipe holds, and the first that is written: it is taken whole.
        return os.write(1, answer) == len(answer)
    except (RpcError, ValueError, RecursionError, KeyError, TypeError, AttributeError, OSError):
        return False
