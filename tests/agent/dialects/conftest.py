"""A provider that speaks all four dialects, and a session of each, shared by a file's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel, serving
from tests.acp.driving import Agent
from tests.agent.conftest import SCRIPT
from tests.agent.dialects.speaking import DIALECTS, Talk, saved


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedModel]:
    """Its own: others read what theirs was asked."""
    with serving(SCRIPT) as provider:
        yield provider


@pytest.fixture(scope="module", autouse=True)
def dialects(agent_home: Path, provider: ScriptedModel) -> Iterator[None]:
    with saved(agent_home, provider):
        yield


@pytest.fixture(scope="module")
def talks() -> dict[str, Talk]:
    return {}


@pytest_asyncio.fixture(loop_scope="session", params=DIALECTS)
async def talk(
    request: pytest.FixtureRequest,
    agent: Agent,
    provider: ScriptedModel,
    talks: dict[str, Talk],
    tmp_path: Path,
) -> Talk:
    """One session of each dialect, for all that leaves nothing behind."""
    if request.param not in talks:
        talks[request.param] = await Talk.begin(agent, provider, request.param, tmp_path)
    return talks[request.param]


@pytest_asyncio.fixture(loop_scope="session", params=DIALECTS)
async def fresh(
    request: pytest.FixtureRequest, agent: Agent, provider: ScriptedModel, tmp_path: Path
) -> Talk:
    return await Talk.begin(agent, provider, request.param, tmp_path)
