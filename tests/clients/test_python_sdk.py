"""The official Python SDK drives the editor's door, in the version that the OpenHands SDK wants."""

import asyncio
import json
import sys
from typing import Any

import pytest

from tests.clients.behaviours import SEEN
from tests.clients.programs import FIXTURES, Perch, cells_of


@pytest.fixture(scope="module")
def seen(perch: Perch) -> Any:
    program = (sys.executable, "-P", str(FIXTURES / "python_sdk.py"))
    return json.loads(asyncio.run(perch.output(*program, *perch.door())))


@cells_of("python_sdk")
def test_python_sdk(behaviour: str, seen: Any) -> None:
    assert seen[behaviour] == SEEN[behaviour]
