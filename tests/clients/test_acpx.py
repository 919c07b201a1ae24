"""acpx, the command line of ACP, drives the editor's door: each of its commands is a process, and
each of its sessions has one that owns it for a while."""

import asyncio
import json
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from rookery.processes import tree
from tests.acp.packages import ACPX, node_modules
from tests.clients.programs import PATIENCE, Perch, cells_of, ended, until
from tests.conftest import belonging_to

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
ASK = {"ask": "May I?", "allowed": [{"text": "allowed"}], "rejected": [{"text": "refused"}]}
DENIED = 5
"""Its exit code where it refused something."""


def play(*steps: dict[str, object]) -> str:
    return json.dumps({"play": steps})


class Acpx:
    def __init__(self, perch: Perch) -> None:
        program = str(node_modules(ACPX) / ".bin" / "acpx")
        agent = ("--agent", shlex.join(perch.door()), "--cwd", str(perch.cwd), "--ttl", "1")
        self.perch = perch
        self._base = (program, *agent, "--format", "text")

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        return await self.perch.start(*self._base, *words)

    async def run(self, *words: str, code: int = 0) -> str:
        return await ended(await self.start(*words), code)

    async def make(self, name: str) -> str:
        """A session that it keeps under a name; its id."""
        return (await self.run("sessions", "new", "--name", name)).split()[-1]

    async def let_go(self) -> None:
        """Until no process of its own holds a session: nothing but their end tells. One that is
        about to end refuses the next prompt, also after its bridge has ended."""
        owners = [row for row in belonging_to(self.perch.home) if _is_owner(row.pid)]
        assert not await asyncio.to_thread(tree.wait_gone, owners, PATIENCE)


def _is_owner(pid: int) -> bool:
    try:
        return b"\0__queue-owner\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has gone
        return False


async def new(acpx: Acpx) -> None:
    session = await acpx.make("made")
    assert session in await acpx.run("status", "-s", "made")


async def approve(acpx: Acpx) -> None:
    said = await acpx.run("--approve-all", "exec", "please change")
    assert "[tool] Edit a.py (completed)" in said
    assert "    one\n    two" in said
    assert "It is changed." in said


async def reject(acpx: Acpx) -> None:
    assert "refused" in await acpx.run("--deny-all", "exec", play(ASK), code=DENIED)


async def cancel(acpx: Acpx) -> None:
    await acpx.make("slow")
    slow = await acpx.start("prompt", "-s", "slow", "go slowly")
    await until(slow, "It has begun.")
    await acpx.run("cancel", "-s", "slow")
    assert "cancelled" in await ended(slow)


async def list_(acpx: Acpx) -> None:
    made = [await acpx.make("first"), await acpx.make("second")]
    await acpx.run("prompt", "-s", "first", "Count the eggs")
    listed = await acpx.run("sessions", "list")
    assert all(session in listed for session in made)
    assert "Count the eggs" in listed  # its title


async def resume(acpx: Acpx) -> None:
    """Its owner process has gone meanwhile."""
    await acpx.make("kept")
    await acpx.run("prompt", "-s", "kept", "hello")
    await acpx.let_go()
    said = await acpx.run("prompt", "-s", "kept", play({"text": "Again, in turn $turn."}))
    assert "Again, in turn 2." in said
    assert "hello" not in said


async def together(acpx: Acpx) -> None:
    await acpx.make("one")
    await acpx.make("two")
    both = await asyncio.gather(
        acpx.run("--approve-all", "prompt", "-s", "one", play(ASK)),
        acpx.run("prompt", "-s", "two", play({"text": "Two."})),
    )
    assert ("allowed" in both[0], "Two." in both[1]) == (True, True)


async def modes(acpx: Acpx) -> None:
    await acpx.make("moded")
    assert "code" in await acpx.run("set-mode", "-s", "moded", "code")


async def models(acpx: Acpx) -> None:
    await acpx.make("modelled")
    assert "big" in await acpx.run("set", "-s", "modelled", "model", "big")
    assert "model: big" in await acpx.run("status", "-s", "modelled")


async def efforts(acpx: Acpx) -> None:
    await acpx.make("tried")
    assert "effort=high" in await acpx.run("set", "-s", "tried", "effort", "high")


async def errors(acpx: Acpx) -> None:
    said = await acpx.run("exec", "now fail", code=1)
    assert "The model is away." in said
    assert "send the prompt again, or look at `rookery logs`" in said


CELLS: dict[str, Callable[[Acpx], Awaitable[None]]] = {
    "new": new,
    "approve": approve,
    "reject": reject,
    "cancel": cancel,
    "list": list_,
    "resume": resume,
    "together": together,
    "modes": modes,
    "models": models,
    "efforts": efforts,
    "errors": errors,
}


@cells_of("acpx")
async def test_acpx(behaviour: str, perch: Perch) -> None:
    await CELLS[behaviour](Acpx(perch))
