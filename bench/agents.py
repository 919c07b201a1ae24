"""Our own agent and its peers, driven over stdio by the same few lines, against one scripted model.

The model answers without delay; prompts are scripts themselves
(`docs/contributing/scripted-model.md`). Each permission that is asked for is granted at once.
"""

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from time import monotonic
from typing import Any, NamedTuple

from bench import crow, peer

type Json = dict[str, Any]

PATIENCE = 120.0
ALLOW = ("allow_once", "allow_always")


class Told(NamedTuple):
    at: float
    message: Json


class Agent:
    """One agent process. Used from one thread; another reads its lines."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], cwd: str) -> None:
        self.began = monotonic()
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd=cwd,
            start_new_session=True,
        )
        self.cwd = cwd
        self.told: list[Told] = []
        self._last = 0
        self._lines: queue.Queue[Told | None] = queue.Queue()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            at = monotonic()
            if line.startswith(b"{"):
                self._lines.put(Told(at, json.loads(line)))
        self._lines.put(None)

    def _write(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def send(self, method: str, **params: Any) -> int:
        self._last += 1
        self._write({"id": self._last, "method": method, "params": params})
        return self._last

    def notify(self, method: str, **params: Any) -> None:
        self._write({"method": method, "params": params})

    def next(self) -> Told:
        """The next message; a permission that it asks for is granted on the way."""
        told = self._lines.get(timeout=PATIENCE)
        if told is None:
            raise RuntimeError(f"the agent ended with {self._process.wait()}")
        self.told.append(told)
        if told.message.get("method") == "session/request_permission":
            options = told.message["params"]["options"]
            chosen = next(each for each in options if each["kind"] in ALLOW)
            outcome = {"outcome": "selected", "optionId": chosen["optionId"]}
            self._write({"id": told.message["id"], "result": {"outcome": outcome}})
        return told

    def answer(self, request: int) -> Told:
        """The answer to a request. Raises where it is an error."""
        deadline = monotonic() + PATIENCE
        while monotonic() < deadline:
            told = self.next()
            if told.message.get("id") == request and "method" not in told.message:
                if "error" in told.message:
                    raise RuntimeError(f"the agent answered {told.message['error']}")
                return told
        raise TimeoutError

    def ask(self, method: str, **params: Any) -> Told:
        return self.answer(self.send(method, **params))

    def open(self, servers: Sequence[Json] = ()) -> str:
        """Initialize, and a new session."""
        self.ask("initialize", protocolVersion=1, clientCapabilities={})
        made = self.ask("session/new", cwd=self.cwd, mcpServers=list(servers))
        return str(made.message["result"]["sessionId"])

    def prompt(self, session: str, *turns: Json) -> Told:
        return self.answer(self.begin(session, *turns))

    def begin(self, session: str, *turns: Json) -> int:
        text = json.dumps({"play": turns})
        blocks = [{"type": "text", "text": text}]
        return self.send("session/prompt", sessionId=session, prompt=blocks)

    def until(self, kind: str, has: str = "") -> Told:
        """The next update of a kind, and with a text in it."""
        while True:
            told = self.next()
            update = told.message.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == kind and has in json.dumps(update):
                return told

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reading.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def command(text: str) -> Json:
    """A turn of the model that runs a command."""
    arguments = {"command": text, "security_risk": "LOW"}
    return {"calls": [{"name": "terminal", "arguments": arguments}]}


class Stage:
    """Homes for all, and the model they talk to."""

    def __init__(self, place: str, url: str) -> None:
        self.place = place
        self.url = url
        self._homes = {name: os.path.join(place, name) for name in ("ours", "peer", "crow", "work")}
        for home in self._homes.values():
            os.mkdir(home)

    def set_up_ours(self, *, warm: bool) -> None:
        home = self._homes["ours"]
        with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
            file.write(f"[agent]\nwarm = {'true' if warm else 'false'}\n")
        setup = (*ROOKERY, "setup", "--name", "bench", "--model", "openai/scripted")
        rest = ("--key", "none", "--base-url", self.url, "--no-test")
        subprocess.run((*setup, *rest), check=True, env=self.environment(), capture_output=True)

    def set_up_peer(self) -> None:
        peer.set_up(self._homes["peer"], self.url)

    def set_up_crow(self) -> None:
        crow.set_up(self._homes["crow"], self.url)

    def environment(self) -> dict[str, str]:
        return {**os.environ, "ROOKERY_HOME": self._homes["ours"]}

    def ours(self, *options: str, **more: str) -> AbstractContextManager[Agent]:
        """`more`: of its environment."""
        return self._opened((*ROOKERY, "agent", *options), self.environment() | more)

    def peer(self) -> AbstractContextManager[Agent]:
        return self._opened((peer.program(), "acp"), peer.environment(self._homes["peer"]))

    def crow(self) -> AbstractContextManager[Agent]:
        return self._opened((crow.program(), "acp"), crow.environment(self._homes["crow"]))

    @contextmanager
    def _opened(self, argv: Sequence[str], environment: Mapping[str, str]) -> Iterator[Agent]:
        agent = Agent(argv, environment, self._homes["work"])
        try:
            yield agent
        finally:
            agent.end()


ROOKERY = (sys.executable, "-P", "-m", "rookery")


@contextmanager
def stage() -> Iterator[Stage]:
    place = tempfile.mkdtemp(prefix="rkb-")
    script = os.path.join(place, "script.json")
    with open(script, "w", encoding="utf-8") as file:
        json.dump({"turns": [], "aside": {"text": "A summary."}}, file)
    argv = (sys.executable, "-P", "-m", "rookery.agent.scripted", script, "--quiet")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as model:
        try:
            assert model.stdout is not None
            yield Stage(place, model.stdout.readline().strip())
        finally:
            model.terminate()
            shutil.rmtree(place, ignore_errors=True)
