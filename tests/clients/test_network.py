"""The official SDKs over a network: as clients of ours, and as an agent at an address."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.acp.packages import NETWORK_SDK, SDK, WS, node_modules, python_with
from tests.clients.behaviours import SCRIPT, SEEN
from tests.clients.programs import FIXTURES, Perch, ended
from tests.rigs.player import player
from tests.rigs.sockets import Endpoint
from tests.worker.aviary import Aviary, is_ask, is_idle, is_text, kinds, text_of

pytestmark = pytest.mark.long
PYTHON = (NETWORK_SDK, "--pre", "uvicorn", "websockets")


async def seen_by(home: Path, cwd: Path, *program: str) -> object:
    """What a client saw of a bridge behind an endpoint."""
    script = cwd / "script.json"
    script.write_text(json.dumps(SCRIPT))
    words = json.dumps(player(str(script), "--state", str(home / "player")))
    (home / "config.toml").write_text(f'default_agent = "bird"\n[agents.bird]\ncommand = {words}\n')
    async with Endpoint(str(home), "secret") as endpoint:
        command = [endpoint.url if word == "URL" else word for word in program]
        process = await Perch(home, cwd).start(*command, TOKEN="secret")
        found = json.loads(await ended(process))
        await endpoint.left(0)
    return found


async def test_the_python_sdk_over_a_websocket(home: Path, tmp_path: Path) -> None:
    python = await asyncio.to_thread(python_with, *PYTHON)
    program = (str(python), "-P", str(FIXTURES / "python_sdk.py"), "URL")
    assert await seen_by(home, tmp_path, *program) == SEEN


async def test_the_typescript_sdk_over_a_websocket(home: Path, tmp_path: Path) -> None:
    modules = await asyncio.to_thread(node_modules, SDK, WS)
    sdk = modules / "@agentclientprotocol/sdk/dist/v1/stable/acp.js"
    program = ("node", str(FIXTURES / "typescript_sdk.mjs"), str(sdk), "URL", str(modules))
    assert await seen_by(home, tmp_path, *program) == SEEN


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_an_agent_of_the_python_sdk_at_an_address(aviary: Aviary, scheme: str) -> None:
    python = await asyncio.to_thread(python_with, *PYTHON)
    async with served(str(python), "-P", str(FIXTURES / "python_sdk_server.py")) as (server, port):
        await live_and_die(aviary, server, f"{scheme}://127.0.0.1:{port}/acp")


async def test_an_agent_of_the_typescript_sdk_over_streamable_http(aviary: Aviary) -> None:
    modules = await asyncio.to_thread(node_modules, SDK)
    sdk = modules / "@agentclientprotocol/sdk/dist"
    program = ("node", str(FIXTURES / "typescript_sdk_server.mjs"), str(sdk))
    async with served(*program) as (server, port):
        await live_and_die(aviary, server, f"http://127.0.0.1:{port}/acp", asks=True)


@asynccontextmanager
async def served(*program: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    server = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
    try:
        assert server.stdout is not None
        yield server, int(await server.stdout.readline())
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()


async def live_and_die(
    aviary: Aviary, server: asyncio.subprocess.Process, url: str, *, asks: bool = False
) -> None:
    Path(aviary.home, "config.toml").write_text(f'[agents.far]\nurl = "{url}"\n')
    aviary.trust()
    bird = aviary.hatch(argv=[], agent="far")
    assert text_of(await bird.turn("one")) == "0: one"
    await bird.send("stop")
    # A new connection loads the session; what it replays is not logged again.
    assert text_of(await bird.turn("two")) == "1: two"
    assert "_context" not in kinds(bird.events())
    if asks:
        begun = await bird.prompt("dig")
        ask = (await bird.until(is_ask, begun.seq)).update
        await bird.answer(ask, "yes")
        await bird.ended(begun)
        assert text_of(bird.events(begun.seq)) == "2: dig yes"
    begun = await bird.prompt("wait")
    await bird.until(lambda event: is_text(event, ": wait"), begun.seq)
    server.send_signal(signal.SIGKILL)
    ended = await bird.until(is_idle, begun.seq)
    assert ended.update["reason"] == "agent_exited"
    await bird.send("stop")
