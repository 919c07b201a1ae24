"""Ways out through the client: the worker reads, writes and runs for its agent, out there."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

type Plan = dict[str, Any]
type Way = Callable[["Client", Plan, str], object]

RACE = 40
"""Calls that are made while a link is swapped."""

WAYS: dict[str, Way] = {}


class Client:
    """One thread, one request at a time."""

    def __init__(self) -> None:
        self.session = ""
        self._asked = 0
        self._early: list[Plan] = []

    def messages(self) -> Iterator[Plan]:
        for line in sys.stdin.buffer:
            yield json.loads(line)
            while self._early:
                yield self._early.pop(0)

    def answer(self, message: Plan, result: Plan) -> None:
        self._write({"id": message["id"], "result": result})

    def tell(self, text: str) -> None:
        update = {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": text},
        }
        params = {"sessionId": self.session, "update": update}
        self._write({"method": "session/update", "params": params})

    def ask(self, method: str, **params: Any) -> Plan:
        """The answer, or the error, as it came."""
        self._asked += 1
        name = f"q{self._asked}"
        self._write({"id": name, "method": method, "params": {"sessionId": self.session, **params}})
        for line in iter(sys.stdin.buffer.readline, b""):
            message = json.loads(line)
            if message.get("id") == name and "method" not in message:
                return message
            self._early.append(message)
        return {}

    def run(self, command: str, *words: str, **params: Any) -> str:
        """What a terminal says and how its command ended."""
        made = self.ask("terminal/create", command=command, args=list(words), **params)
        name = made.get("result", {}).get("terminalId")
        if not name:
            return json.dumps(made)
        ended = self.ask("terminal/wait_for_exit", terminalId=name)
        said = self.ask("terminal/output", terminalId=name)
        self.ask("terminal/release", terminalId=name)
        return json.dumps([ended, said])

    def _write(self, message: Plan) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        while data:
            data = data[os.write(1, data) :]


def way(function: Way) -> Way:
    WAYS[function.__name__.replace("_", "-")] = function
    return function


@way
def client_write(client: Client, plan: Plan, name: str) -> object:
    return client.ask("fs/write_text_file", path=f"{plan['outside']}/{name}", content=name)


@way
def client_write_dotdot(client: Client, plan: Plan, name: str) -> object:
    path = f"{plan['work']}/../{os.path.basename(plan['outside'])}/{name}"
    return client.ask("fs/write_text_file", path=path, content=name)


@way
def client_write_link(client: Client, plan: Plan, name: str) -> object:
    link = f"{plan['work']}/{name}"
    os.symlink(plan["outside"], link)
    return client.ask("fs/write_text_file", path=f"{link}/{name}", content=name)


@way
def client_write_race(client: Client, plan: Plan, name: str) -> object:
    """A directory that is a link every other moment."""
    real, link, swapped = (f"{plan['work']}/{name}.{part}" for part in ("real", "link", "seen"))
    os.mkdir(real)
    os.symlink(plan["outside"], link)
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for place in (real, link):
                os.rename(place, swapped)
                time.sleep(0.0005)
                os.rename(swapped, place)

    swapping = threading.Thread(target=swap)
    swapping.start()
    said = [
        client.ask("fs/write_text_file", path=f"{swapped}/{name}", content=name)
        for _ in range(RACE)
    ]
    over.set()
    swapping.join()
    return said[-3:]


@way
def client_plant_hook(client: Client, plan: Plan, name: str) -> object:
    """In the session's own repository, and by a link to it."""
    folder, link = f"{plan['work']}/.git/hooks", f"{plan['work']}/{name}"
    os.symlink(folder, link)
    return [
        client.ask("fs/write_text_file", path=f"{place}/{name}", content="#!/bin/sh")
        for place in (folder, link)
    ]


@way
def terminal_plant_hook(client: Client, plan: Plan, name: str) -> object:
    return client.run("/bin/sh", "-c", f"echo out > '{plan['work']}/.git/hooks/{name}'")


@way
def client_read(client: Client, plan: Plan, name: str) -> object:
    return client.ask("fs/read_text_file", path=plan["secrets"][name])


@way
def client_read_proc(client: Client, plan: Plan, name: str) -> object:
    """/proc is the worker's own there."""
    path = f"/proc/self/root{plan['secrets'][name]}"
    return client.ask("fs/read_text_file", path=path)


@way
def terminal_write(client: Client, plan: Plan, name: str) -> object:
    return client.run("/bin/sh", "-c", f"echo out > '{plan['outside']}/{name}'")


@way
def terminal_read(client: Client, plan: Plan, name: str) -> object:
    return client.run("/bin/sh", "-c", f"read line < '{plan['secrets'][name]}'; echo $line")


@way
def terminal_directory(client: Client, plan: Plan, name: str) -> object:
    return client.run("/bin/sh", "-c", f"echo out > '{name}'", cwd=plan["outside"])


@way
def terminal_option(client: Client, plan: Plan, name: str) -> object:
    """A command that a sandbox's program might take for an option of its own."""
    write = f"echo out > '{plan['outside']}/{name}'"
    return [
        client.run("--bind", "/", "/", "/bin/sh", "-c", write),
        client.run("--privileged", "/bin/sh", "-c", write),
    ]


@way
def terminal_path(client: Client, plan: Plan, name: str) -> object:
    """Programs of the sandbox that are found where the agent says."""
    folder = f"{plan['work']}/{name}"
    os.mkdir(folder)
    for program in ("bwrap", "podman", "docker", "sh", "env", "python3", "true"):
        with open(f"{folder}/{program}", "w") as file:
            file.write(f"#!/bin/sh\necho out > '{plan['outside']}/{name}'\n")
        os.chmod(f"{folder}/{program}", 0o755)  # noqa: S103
    return client.run("true", "now", env=[{"name": "PATH", "value": folder}])


@way
def terminal_loader(client: Client, plan: Plan, name: str) -> object:
    """Variables that the loader of the sandbox's own program would read: it writes a file."""
    added = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": f"{plan['outside']}/{name}"}
    environment = [{"name": key, "value": value} for key, value in added.items()]
    return client.run("/bin/sh", "-c", "echo in", env=environment)


@way
def terminal_python(client: Client, plan: Plan, name: str) -> object:
    """The same for an interpreter."""
    folder = f"{plan['work']}/{name}"
    os.mkdir(folder)
    for module in ("sitecustomize", "usercustomize", "json", "os", "signal"):
        with open(f"{folder}/{module}.py", "w") as file:
            file.write(f"open({plan['outside'] + '/' + name!r}, 'w').write('out')\n")
    added = {"PYTHONPATH": folder, "PYTHONHOME": "", "PYTHONSTARTUP": f"{folder}/os.py"}
    environment = [{"name": key, "value": value} for key, value in added.items()]
    return client.run("/bin/sh", "-c", "echo in", env=environment)
