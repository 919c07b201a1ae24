"""Does what it is told, as the process that it is, and says what came of each.

python probe.py ORDERS OUT [UID]      an agent starts it; with UID it becomes that user first

ORDERS: a line of JSON each: its name, how it is done, and what that needs. OUT gets a line for
each: the name, and `does`, the word of the refusal, or what else came. The last line is `done`.
"""

import asyncio
import encodings.idna  # noqa: F401 - before another user is this, who cannot read it
import gc
import http.client
import json
import os
import shlex
import socket
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn, TextIO, override

type Json = dict[str, Any]

DOES, AGENT, UNREACHABLE = "does", "from_the_agent", "unreachable"
SECONDS = 120.0
SIGNS = ("An agent cannot ", "A session created by an agent asks always")
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Link(http.client.HTTPConnection):
    """To an address, or to a socket: "@NAME" is an abstract one."""

    def __init__(self, place: str) -> None:
        self._place = place.replace("@", "\0", 1) if place[:1] in "/@" else ""
        super().__init__("localhost" if self._place else place, timeout=SECONDS)

    @override
    def connect(self) -> None:
        if not self._place:
            return super().connect()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        return self.sock.connect(self._place)


def ask(order: Json) -> str:
    """A request to the daemon."""
    body, method = order.get("body"), order["method"]
    headers = {"Host": order["host"]} if "host" in order else {}
    if order.get("token"):
        headers["Authorization"] = f"Bearer {order['token']}"
    if isinstance(body, str):
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    elif body is not None:
        headers["Content-Type"], body = "application/json", json.dumps(body)
    if method == "WEBSOCKET":
        method, headers = "GET", headers | UPGRADE
    link = Link(order["place"])
    try:
        with suppress(BrokenPipeError):  # it answered, and closed, before it had heard it all
            link.request(method, order["path"], body, headers)
        answer = link.getresponse()
        if answer.status < 400:
            return DOES
        bare = {"error": "no_token"} if answer.getheader("www-authenticate") == "Bearer" else {}
        error = str((json.loads(answer.read() or "{}") or bare).get("error"))  # HEAD has no body
    except PermissionError:
        return UNREACHABLE
    finally:
        link.close()
    if error == (order.get("says") or "-"):
        return DOES
    return error if answer.status in (401, 403) else f"{answer.status} {error}"


def frame(order: Json) -> str:
    """A command to a worker, without a client of ours; no command: only the welcome."""
    hello: Json = {"protocol": 1, "build": "x", "client": "probe", "from": 0}
    command = order.get("command") and {"id": os.urandom(8).hex(), **order["command"]}
    lines: list[Json] = [{"hello": hello}, *([{"command": command}] if command else [])]
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(SECONDS)
        try:
            link.connect(order["place"].replace("@", "\0", 1))
            link.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        except PermissionError:
            return UNREACHABLE
        except BrokenPipeError:  # refused already: what it said can be read
            pass
        with link.makefile("rb") as answers:
            for line in answers:
                match json.loads(line):
                    case {"event": {"cause": cause, "update": update}} if (
                        command and cause == command["id"]
                    ):
                        return str(update.get("reason")) if _is_no(update) else DOES
                    case {"refused": {"reason": reason}}:
                        return str(reason)
                    case {"welcome": _} if not command:
                        return DOES
    return "closed"


def _is_no(update: Json) -> bool:
    return bool(update["sessionUpdate"] == "_rejected")


def asleep(order: Json) -> str:
    """A command to a session without a worker: by the client, under the lock."""
    from rookery.client.session import Rejected
    from rookery.operations.calling.local_session import LocalSession

    async def send() -> str:
        client = LocalSession(os.environ["ROOKERY_HOME"], order["session"], "cli:1")
        try:
            await client.send(order["command"], wake=False)
        except Rejected as error:
            return str(error.update["reason"])
        finally:
            client.close()
        return DOES

    return in_child(lambda: asyncio.run(send()))


def line(order: Json) -> str:
    """A command line."""
    code, said = 0, f"{order['out']}.said"

    def act() -> str:
        from rookery.cli.app import run

        with open(said, "w", encoding="utf-8") as file, open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        return str(run(shlex.split(order["line"])))

    code = int(in_child(act).partition("\n")[0])
    with open(said, encoding="utf-8") as file:
        text = " ".join(file.read().split())
    if code == 1 and any(sign in text for sign in SIGNS):
        return AGENT
    if code == 0 or (order.get("says") and order["says"] in text):
        return DOES
    return f"exit {code}: {text[-200:]}"


def files(order: Json) -> str:
    try:
        os.listdir(order["place"])
    except PermissionError:
        return UNREACHABLE
    return DOES


def begin(order: Json) -> str:
    """A session of the agent's own: a turn that waits, and two prompts behind it."""
    from rookery.client.create import create_session
    from rookery.home import paths
    from rookery.operations.calling.local_session import LocalSession

    home = os.environ["ROOKERY_HOME"]

    async def act() -> str:
        about = {"agent": "player", "argv": order["argv"], "cwd": order["cwd"]}
        session = create_session(home, environment=os.environ, **about)
        with LocalSession(home, session, "cli:1") as client:
            for words in order["prompts"]:
                await client.send({"do": "prompt", "prompt": [{"type": "text", "text": words}]})
            header = client.log.header()
        place = paths.socket_path(paths.session_dir(home, session))
        return json.dumps({"socket": place, "items": [each["id"] for each in header.queue]})

    return in_child(lambda: asyncio.run(act()))


def in_child(act: Callable[[], str]) -> str:
    """What it said, from a process of its own that has loaded everything."""
    reading, writing = os.pipe()
    if not os.fork():
        _finish(writing, act)
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        said = file.read()
    os.wait()
    return said or "nothing"


def _finish(writing: int, act: Callable[[], str]) -> NoReturn:
    try:
        os.write(writing, act().encode()[:2000])
    except BaseException:  # noqa: BLE001 - whatever came of it is told
        os.write(writing, f"-1\n{traceback.format_exc()[-300:]}".encode())
    finally:
        os._exit(0)


KINDS: dict[str, Callable[[Json], str]] = {
    "ask": ask,
    "frame": frame,
    "asleep": asleep,
    "line": line,
    "files": files,
    "begin": begin,
}


def main(orders: Iterable[str], told: TextIO) -> None:
    made: Json = {}
    for text in orders:
        order = json.loads(text) | {"out": told.name}
        if "made" in order:  # in the session of its own
            order["place"] = made["socket"]
            order["command"] |= {"item": made["items"][order["made"]]}
        came = KINDS[order["do"]](order)
        if order["do"] == "begin":
            made = json.loads(came)
        told.write(json.dumps({"name": order["name"], "came": came}) + "\n")
        told.flush()
    told.write(json.dumps({"name": "done", "came": ""}) + "\n")


def load() -> None:
    """Once, for all that are forked."""
    from rookery.cli.app import MODULES

    for name in (*MODULES.values(), "rookery.client.create", "rookery.client.session"):
        import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as wanted, open(sys.argv[2], "w") as out:
        if len(sys.argv) > 3:
            os.setgroups([])
            os.setgid(int(sys.argv[3]))
            os.setuid(int(sys.argv[3]))
        else:
            load()
        main(wanted, out)
