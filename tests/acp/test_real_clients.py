"""The clients of the field drive our doors, the player's too: what they cannot work with is wrong,
whatever test_checklist_*.py say. The cells of the table of clients are in tests/clients."""

import json
import shlex
from pathlib import Path

import pytest

from tests.acp.doors import Door
from tests.acp.packages import ACPX, PYTHON_SDK, SDK, node_modules, python_with
from tests.clients.behaviours import SCRIPT, SEEN
from tests.clients.programs import FIXTURES, Perch

pytestmark = pytest.mark.long


async def test_python_sdk(door: Door, tmp_path: Path) -> None:
    python = python_with(PYTHON_SDK)
    program = (str(python), str(FIXTURES / "python_sdk.py"))
    said = await Perch(door.home, tmp_path).output(*program, *door.argv(SCRIPT))
    assert json.loads(said) == SEEN


async def test_typescript_sdk(door: Door, tmp_path: Path) -> None:
    module = node_modules(SDK) / "@agentclientprotocol/sdk/dist/v1/stable/acp.js"
    program = ("node", str(FIXTURES / "typescript_sdk.mjs"), str(module))
    said = await Perch(door.home, tmp_path).output(*program, *door.argv(SCRIPT))
    assert json.loads(said) == SEEN


DRAFT = {
    "version": 2,
    "reason": "end_turn",
    "asked": "tool_call",
    "kinds": ["agent_message_chunk", "plan_update", "tool_call_update"],
    "cancelled": "cancelled",
    "listed": True,
}


async def test_typescript_sdk_in_draft_2(door: Door, tmp_path: Path) -> None:
    """The player's messages have no ids that last: only the bridge's prompts keep theirs."""
    module = node_modules(SDK) / "@agentclientprotocol/sdk/dist/v2/stable/acp.js"
    program = ("node", str(FIXTURES / "typescript_sdk_draft.mjs"), str(module))
    said = await Perch(door.home, tmp_path).output(*program, *door.argv())
    assert json.loads(said) == DRAFT | {"replayed": door.name == "bridge"}


async def test_acpx(door: Door, tmp_path: Path) -> None:
    """A one-shot prompt with a permission that it grants by itself."""
    acpx = node_modules(ACPX) / ".bin" / "acpx"
    steps = [{"ask": "May I?", "allowed": [{"text": "It was allowed."}]}]
    agent = ("--agent", shlex.join(door.argv()), "--cwd", str(tmp_path), "--approve-all")
    words = ("--format", "text", "exec", json.dumps({"play": steps}))
    said = await Perch(door.home, tmp_path).output(str(acpx), *agent, *words)
    assert "It was allowed." in said
