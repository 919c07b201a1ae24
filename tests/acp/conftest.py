"""Agents that a test starts are ended with it; a test that takes a `door` is run over each way in
that its statement applies to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acp.doors import PLAYER, Door, ways_for
from tests.acp.driving import Agent

type Start = Callable[..., Awaitable[Agent]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "door" in metafunc.fixturenames:
        ways = ways_for(metafunc.function.__name__)
        metafunc.parametrize("door", ways, indirect=True, ids=[way.name for way in ways])


@pytest.fixture
async def door(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> AsyncIterator[Door]:
    door = Door(request.param, home, tmp_path)
    yield door
    await door.end()


@pytest.fixture
async def start(home: Path, tmp_path: Path) -> AsyncIterator[Start]:
    """The player itself."""
    door = Door(PLAYER, home, tmp_path)

    async def make(script: dict[str, Any] | str | None = None, *, strict: bool = True) -> Agent:
        return await door.start(script, strict=strict)

    yield make
    await door.end()
