"""The official TypeScript SDK drives the editor's door."""

import asyncio
import json
from typing import Any

import pytest

from tests.acp.packages import SDK, node_modules
from tests.clients.behaviours import SEEN
from tests.clients.programs import FIXTURES, Perch, cells_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def seen(perch: Perch) -> Any:
    module = node_modules(SDK) / "@agentclientprotocol/sdk/dist/v1/stable/acp.js"
    program = ("node", str(FIXTURES / "typescript_sdk.mjs"), str(module))
    return json.loads(asyncio.run(perch.output(*program, *perch.door())))


@cells_of("typescript_sdk")
def test_typescript_sdk(behaviour: str, seen: Any) -> None:
    assert seen[behaviour] == SEEN[behaviour]
