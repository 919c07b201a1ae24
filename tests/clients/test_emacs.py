"""Emacs' acp.el drives the editor's door, in batch. It is on no registry: ROOKERY_ACP_EL names a
checkout of it."""

import asyncio
import json
import os
import shutil
from typing import Any

import pytest

from tests.clients.behaviours import SEEN
from tests.clients.programs import FIXTURES, Perch, cells_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def seen(perch: Perch) -> Any:
    emacs, library = shutil.which("emacs"), os.environ.get("ROOKERY_ACP_EL")
    if not emacs or not library:
        pytest.skip("needs emacs, and a checkout of acp.el in ROOKERY_ACP_EL")
    program = (emacs, "--batch", "-Q", "-L", library, "-l", str(FIXTURES / "acp_el.el"), "--")
    return json.loads(asyncio.run(perch.output(*program, *perch.door())))


@cells_of("emacs")
def test_emacs_acp_el(behaviour: str, seen: Any) -> None:
    assert seen[behaviour] == SEEN[behaviour]
