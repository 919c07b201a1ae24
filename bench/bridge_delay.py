"""bridge_delay_ms: what the bridge for editors adds to each update.

A session is made by an editor (here: this process) through `rookery acp`; a client of the same
worker follows it in a process of its own. Of each text event the delay is from that client's
receipt to the editor's. The player's chunks are further apart than the window in which the worker
gathers them, so that each is an event. The figure is the median.
"""

import asyncio
import json
import os
import shlex
import sys
from statistics import median
from time import monotonic_ns
from typing import Any

from bench.bytecode import HERE
from bench.figures import Aim, Benchmark, run_alone
from bench.flood import Received
from bench.roost import PLAYER, play, roost
from rookery.core.limits import Policy

CHUNKS = 250
EVERY = Policy().chunk_window * 1.3
PATIENCE = 60.0

type Json = dict[str, Any]


class Editor:
    """As little of one as is needed to read updates."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._last = 0
        self.received: list[Received] = []

    async def ask(self, method: str, **params: Any) -> Json:
        """The result; what is told meanwhile is noted."""
        self._last += 1
        call = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self._stdin.write(json.dumps(call).encode() + b"\n")
        while True:
            line = await self._stdout.readline()
            now = monotonic_ns()
            message = json.loads(line)
            if message.get("id") == self._last and "method" not in message:
                return dict(message["result"])
            update = message.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == "agent_message_chunk":
                self.received.append(Received(now, update["content"]["text"]))


async def observe() -> tuple[list[Received], list[Received]]:
    """What the client and what the editor received."""
    with roost() as place:
        bridge = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "rookery", "acp", "--cmd", shlex.join(PLAYER)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(PATIENCE):
                return await _watch(place.home, Editor(bridge))
        finally:
            bridge.kill()
            await bridge.wait()


async def _watch(home: str, editor: Editor) -> tuple[list[Received], list[Received]]:
    await editor.ask("initialize", protocolVersion=1)
    made = await editor.ask("session/new", cwd=home, mcpServers=[])
    session = made["sessionId"]
    await editor.ask("session/prompt", sessionId=session, prompt=play({"text": "Good morning."}))
    editor.received.clear()
    follower = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.follower", home, session),
        stdout=asyncio.subprocess.PIPE,
        cwd=os.path.dirname(HERE),
        limit=1 << 24,
    )
    assert follower.stdout is not None
    try:
        if await follower.stdout.readline() != b"ready\n":
            raise RuntimeError("the follower did not come up")
        step = {"flood": CHUNKS, "every": EVERY}
        await editor.ask("session/prompt", sessionId=session, prompt=play(step))
        _, *events = json.loads(await follower.stdout.readline())
    finally:
        if follower.returncode is None:
            follower.kill()
        await follower.wait()
    return [Received(*event) for event in events], editor.received


def measure() -> dict[str, float]:
    followed, told = asyncio.run(observe())
    if [event.text for event in followed] != [event.text for event in told]:
        raise ValueError("the editor was not told what the session's client was")
    if len(told) < 200:
        raise ValueError(f"only {len(told)} updates: the chunks were gathered")
    delays = [there.at - here.at for here, there in zip(followed, told, strict=True)]
    return {"bridge_delay_ms": median(delays) / 1e6}


BENCHMARK = Benchmark((Aim("bridge_delay_ms", "ms", below=3),), measure)

if __name__ == "__main__":
    sys.exit(run_alone(BENCHMARK))
