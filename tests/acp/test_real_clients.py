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


async def output(*argv: str, **environment: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )
    try:
        async with asyncio.timeout(PATIENCE):
            said, complained = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, complained.decode()[-3000:]
    return said.decode()


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
    slow = asyncio.create_task(run("prompt", "-s", "two", play({"text": "x"}, {"wait": 60})))
    said = ""
    while "nothing" in said or not said:
        said = (await run("cancel", "-s", "two")) or "nothing"
    assert "cancelled" in await slow
