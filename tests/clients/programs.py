"""Foreign programs that drive `rookery acp`: started, waited for, and ended with the test."""

import asyncio
import json
import os
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients.behaviours import SCRIPT, cells
from tests.rigs import player as rig

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "clients"
PATIENCE = 250
"""Seconds after which a program that has not ended is given up: before its test is, so that its own
output is in the failure. Those that load an SDK need half a minute for that on a busy machine."""


class Perch(NamedTuple):
    """Where a client stands: a home of Rookery's, a directory to work in."""

    home: Path
    cwd: Path

    def door(self, *words: str) -> list[str]:
        """The command of the bridge, before the player."""
        script = self.cwd.parent / "script.json"
        script.write_text(json.dumps(SCRIPT))
        state = ("--state", str(self.cwd.parent / "state"))
        player = rig.player(str(script), *state)
        bridge = [sys.executable, "-P", "-m", "rookery", "acp", *words]
        return [*bridge, "--cmd", shlex.join(player)]

    def environment(self, **more: str) -> dict[str, str]:
        """For a client that must not meet the settings of whoever runs the tests."""
        home = self.cwd.parent / "user"
        home.mkdir(exist_ok=True)
        own = {"ROOKERY_HOME": str(self.home), "HOME": str(home)}
        return {**os.environ, **own, **more}

    async def start(self, *argv: str, **environment: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.cwd,
            env=self.environment(**environment),
        )

    async def output(self, *argv: str, **environment: str) -> str:
        return await ended(await self.start(*argv, **environment))


async def ended(process: asyncio.subprocess.Process, code: int = 0) -> str:
    """All that is left of its output; it must have gone as it should."""
    try:
        async with asyncio.timeout(PATIENCE):
            said, complained = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == code, complained.decode()[-3000:] + said.decode()[-3000:]
    return said.decode()


async def until(process: asyncio.subprocess.Process, sign: str) -> None:
    """Read its output until the sign has come."""
    assert process.stdout is not None
    said = b""
    async with asyncio.timeout(PATIENCE):
        while sign.encode() not in said:
            more = await process.stdout.read(4096)
            assert more, said.decode()
            said += more


def cells_of(client: str) -> pytest.MarkDecorator:
    """A test for each cell of a client's row."""
    return pytest.mark.parametrize("behaviour", cells(client))
