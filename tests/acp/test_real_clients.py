"""The clients of the field drive our doors: what they cannot work with is wrong, whatever the
checklist says."""

import asyncio
import json
import os
import shlex
from pathlib import Path

import pytest

from tests.acp.doors import Door
from tests.acp.packages import ACPX, PYTHON_SDK, SDK, node_modules, python_with

pytestmark = pytest.mark.long
CLIENTS = Path(__file__).resolve().parents[2] / "fixtures" / "clients"
PATIENCE = 60
SEEN = {
    "version": 1,
    "asked": "end_turn",
    "permissions": 1,
    "together": "end_turn",
    "cancelled": "cancelled",
    "listed": True,
    "loaded": ["allowed", "on"],
    "resumed": "end_turn",
    "afterwards": ["more"],
}


async def started(*argv: str, **environment: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )


async def ended(process: asyncio.subprocess.Process) -> str:
    """All that is left of its output; it must have gone well."""
    try:
        async with asyncio.timeout(PATIENCE):
            said, complained = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, complained.decode()[-3000:]
    return said.decode()


async def output(*argv: str, **environment: str) -> str:
    return await ended(await started(*argv, **environment))


async def until(process: asyncio.subprocess.Process, sign: str) -> None:
    """Read its output until the sign has come."""
    assert process.stdout is not None
    said = b""
    async with asyncio.timeout(PATIENCE):
        while sign.encode() not in said:
            more = await process.stdout.read(4096)
            assert more, said.decode()
            said += more


async def test_python_sdk(door: Door) -> None:
    python = python_with(PYTHON_SDK)
    said = await output(str(python), str(CLIENTS / "python_sdk.py"), *door.argv())
    assert json.loads(said) == SEEN


async def test_typescript_sdk(door: Door) -> None:
    module = node_modules(SDK) / "@agentclientprotocol/sdk/dist/v1/stable/acp.js"
    program = str(CLIENTS / "typescript_sdk.mjs")
    said = await output("node", program, str(module), *door.argv())
    assert json.loads(said) == SEEN


async def test_acpx(door: Door, tmp_path: Path) -> None:
    """A one-shot prompt with a permission that it grants by itself."""
    acpx = node_modules(ACPX) / ".bin" / "acpx"
    steps = [{"ask": "May I?", "allowed": [{"text": "It was allowed."}]}]
    agent = ("--agent", shlex.join(door.argv()), "--cwd", str(tmp_path), "--approve-all")
    prompt = json.dumps({"play": steps})
    said = await output(
        *(str(acpx), *agent, "--format", "text", "exec", prompt), HOME=str(tmp_path)
    )
    assert "It was allowed." in said


async def test_acpx_keeps_sessions(door: Door, tmp_path: Path) -> None:
    """New, prompts one after another (its owner process gone meanwhile: load or resume), list, two
    at once, and a cancel from a second process."""
    acpx = str(node_modules(ACPX) / ".bin" / "acpx")
    base = ("--agent", shlex.join(door.argv()), "--cwd", str(tmp_path), "--approve-all")
    base = (acpx, *base, "--ttl", "1", "--format", "text")

    async def run(*words: str) -> str:
        return await output(*base, *words, HOME=str(tmp_path))

    def play(*steps: dict[str, object]) -> str:
        return json.dumps({"play": steps})

    await run("sessions", "new", "--name", "one")
    await run("sessions", "new", "--name", "two")
    ask = {"ask": "May I?", "allowed": [{"text": "It was allowed."}]}
    both = await asyncio.gather(
        run("prompt", "-s", "one", play(ask)), run("prompt", "-s", "two", play({"text": "Two."}))
    )
    assert ("It was allowed." in both[0], "Two." in both[1]) == (True, True)
    listed = await run("sessions", "list")
    assert len(listed.strip().splitlines()) == 2
    await asyncio.sleep(2)  # its owner process ends after its --ttl; nothing tells when
    assert "Again." in await run("prompt", "-s", "one", play({"text": "Again."}))
    begun = play({"text": "It has begun.\n"}, {"wait": 60})
    slow = await started(*base, "prompt", "-s", "two", begun, HOME=str(tmp_path))
    await until(slow, "It has begun.")
    await run("cancel", "-s", "two")
    assert "cancelled" in await ended(slow)
