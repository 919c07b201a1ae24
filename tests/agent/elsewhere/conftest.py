"""A home whose agent is on its way to a server, and the real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent
from tests.agent.conftest import ARGV, surroundings, write_settings
from tests.agent.elsewhere.agent_server import RealServer


@pytest.fixture
def settled(home: Path, model: ScriptedModel, agent_home: Path) -> Path:
    (home / "person").symlink_to(agent_home / "person")
    write_settings(home, model)
    return home


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """To start it takes most of a test's time."""
    server = RealServer(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.end()


async def started(home: Path, *words: str, **variables: str) -> Agent:
    environment = surroundings(home, **variables)
    agent = await Agent.start([*ARGV, *words], environment=environment, forked=True)
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})
    return agent
