"""OpenHands' `ACPAgent` drives the editor's door."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rookery.home import paths
from rookery.log.reader import Reader
from tests.clients.programs import FIXTURES, Perch, cells_of

pytestmark = pytest.mark.long

SEEN: dict[str, Any] = {
    "new": ["rookery", ["small", "big"]],
    "approve": ["finished", True],
    "cancel": "paused",
    "load": ["finished", True, True],
    "together": ["finished", True],
    "models": "big",
    "modes": "code",
    "errors": True,
}


@pytest.fixture(scope="module")
def seen(perch: Perch, tmp_path_factory: pytest.TempPathFactory) -> Any:
    told = tmp_path_factory.mktemp("told") / "seen.json"
    program = (sys.executable, "-P", str(FIXTURES / "openhands_agent.py"), str(told))
    # Else litellm asks the network for prices while it is imported, and may never come back.
    local = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    # Else it sends a prompt that failed three times more, and waits for 50 seconds in between.
    once = {"ACP_PROMPT_MAX_RETRIES": "0"}
    asyncio.run(perch.output(*program, *perch.door(), **local, **once))
    seen = json.loads(told.read_text())
    return seen | {"modes": mode_of(perch.home, seen["session"])}


def mode_of(home: Path, session: str) -> Any:
    """It does not tell which mode its session is in."""
    with Reader.open(paths.session_dir(str(home), session)) as log:
        return log.header_before(log.turns() + 1).mode


@cells_of("openhands")
def test_openhands(behaviour: str, seen: Any) -> None:
    assert seen[behaviour] == SEEN[behaviour]
