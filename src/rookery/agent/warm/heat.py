"""Loads the SDK and takes one real turn in this process (a command and an edit, with the scripted
model in a thread), so that a child has nothing left to load. Before the first fork all threads,
connections and changes of the environment are gone."""

import asyncio
import gc
import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from rookery.agent.mcp import connections
from rookery.agent.process import sdk_import, shutdown
from rookery.agent.process.arguments import Arguments
from rookery.agent.scripted.server import serving
from rookery.agent.storage import behind
from rookery.core.ask import options_in
from rookery.core.asks.asks import ALLOWS, pick, selected
from rookery.core.json import Json
from rookery.home import scratch

STDIO = (0, 1, 2)


def up(place: str, *, mcp: bool) -> None:
    """Load everything and take the turn. `place`: a folder that it makes and removes, also one that
    a killed process left. `mcp`: include MCP's libraries, which only sessions with servers need."""
    with _environment():
        sdk_import.load()
    shutil.rmtree(place, ignore_errors=True)
    os.mkdir(place, 0o700)
    try:
        with serving({"turns": []}) as model, _pipes() as (requests, answers):
            settings = {
                "ROOKERY_HOME": place,
                "ROOKERY_CONVERSATIONS": os.path.join(place, "conversations"),
                "OH_PERSISTENCE_DIR": os.path.join(place, "sdk"),
                "LLM_MODEL": "openai/scripted",
                "LLM_API_KEY": "none",
                "LLM_BASE_URL": model.url,
            }
            with _environment(**settings):
                _take_turn(requests, answers, place)
                if mcp:
                    connections.load()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    _forget()


@contextmanager
def _environment(**more: str) -> Iterator[None]:
    """Set these variables, and restore the environment afterwards."""
    before = dict(os.environ)
    os.environ |= more
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _pipes() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Replace our stdin and stdout by pipes. Yields their other ends."""
    kept = [os.dup(number) for number in STDIO]
    reading, requests = os.pipe()
    answers, writing = os.pipe()
    os.dup2(reading, 0)
    os.dup2(writing, 1)
    os.close(reading)
    os.close(writing)
    with open(requests, "wb", buffering=0) as ours, open(answers, "rb") as theirs:
        try:
            yield ours, theirs
        finally:
            for number, old in zip(STDIO, kept, strict=True):
                os.dup2(old, number)
                os.close(old)


def _take_turn(requests: IO[bytes], answers: IO[bytes], place: str) -> None:
    from rookery.agent.server import serve

    client = threading.Thread(target=_converse, args=(requests, answers, place), name="heat")
    client.start()
    try:
        asyncio.run(serve(Arguments(override=True)))
    finally:
        client.join()
        shutdown.stay()


def _converse(requests: IO[bytes], answers: IO[bytes], place: str) -> None:
    """Play the client's side. The end of its requests ends the agent."""
    file = {"command": "create", "path": os.path.join(place, "note.txt"), "file_text": "warm\n"}
    steps = [
        {"thought": "Warm", "text": "up", "calls": [_call("terminal", command="echo warm")]},
        {"calls": [_call("file_editor", **file)]},
        {"text": "Done."},
    ]
    with requests:
        talk = _Talk(requests, answers)
        if talk.ask("initialize", protocolVersion=1) is None:
            return
        made = talk.ask("session/new", cwd=place, mcpServers=[])
        if made is not None:
            prompt = [{"type": "text", "text": json.dumps({"play": steps})}]
            talk.ask("session/prompt", sessionId=made.get("sessionId"), prompt=prompt)


def _call(name: str, **arguments: str) -> Json:
    return {"name": name, "arguments": {"security_risk": "LOW", **arguments}}


class _Talk:
    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers
        self._last = 0

    def ask(self, method: str, **params: Any) -> Json | None:
        """Return a request's result; None: it failed, and the children are less warm."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        for line in self._answers:
            message = json.loads(line)
            if message.get("method") == "session/request_permission":
                outcome = selected(pick(options_in(message["params"]), ALLOWS))
                self._send({"id": message["id"], "result": {"outcome": outcome}})
            elif message.get("id") == self._last and "method" not in message:
                result = message.get("result")
                return result if isinstance(result, dict) else None
        return None

    def _send(self, message: Json) -> None:
        self._requests.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def _forget() -> None:
    """Close connections that the model's client keeps, which children must not share, and remove
    temporary folders of a home that is gone."""
    import litellm

    behind.settle()
    scratch.leave()

    litellm.in_memory_llm_clients_cache.flush_cache()  # type: ignore[no-untyped-call]
    gc.collect()
