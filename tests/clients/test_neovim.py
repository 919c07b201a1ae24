"""CodeCompanion, an ACP client for Neovim 0.11 or later, drives the editor's door. Neither is on a
registry that the tests use: ROOKERY_NVIM is the program, ROOKERY_NVIM_PLUGINS the checkouts of
CodeCompanion and plenary, with a comma between them."""

import asyncio
import json
import os
import shutil
from typing import Any

import pytest

from tests.clients.behaviours import SEEN as ALL
from tests.clients.behaviours import cells
from tests.clients.programs import FIXTURES, Perch, cells_of

pytestmark = pytest.mark.long

SEEN: dict[str, Any] = {
    **{name: ALL[name] for name in cells("neovim")},
    "new": [1, {"model": "small", "effort": "low"}],
    "cancel": "free",  # the next turn's answer
    "load": ["allowed", "free", "on", "refused"],
}


@pytest.fixture(scope="module")
def seen(perch: Perch) -> Any:
    nvim = shutil.which(os.environ.get("ROOKERY_NVIM", "nvim"))
    plugins = os.environ.get("ROOKERY_NVIM_PLUGINS")
    if not nvim or not plugins:
        pytest.skip("needs nvim, and CodeCompanion and plenary in ROOKERY_NVIM_PLUGINS")
    program = (nvim, "--headless", "-u", "NONE", "--cmd", f"set rtp+={plugins}", "-S")
    door = json.dumps(perch.door())
    return json.loads(
        asyncio.run(perch.output(*program, str(FIXTURES / "codecompanion.lua"), DOOR=door))
    )


@cells_of("neovim")
def test_neovim_codecompanion(behaviour: str, seen: Any) -> None:
    assert seen[behaviour] == SEEN[behaviour]
