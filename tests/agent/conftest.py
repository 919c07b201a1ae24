"""One agent process for many tests: to import the SDK costs seconds. Each test has a session of its
own, and the model plays what the prompt says (`{"play": […]}`)."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from rookery.agent.scripted.server import ScriptedModel, serving
from tests.acp.driving import Agent, Json
from tests.conftest import end_all
from tests.daemon.served import awaited
from tests.rigs import stdio

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # tests that import the SDK themselves
os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"

QUICK: Json = {
    "num_retries": 3,
    "retry_min_wait": 0,
    "retry_max_wait": 0,
    "retry_multiplier": 0.0,
    "max_input_tokens": 100_000,
    "input_cost_per_token": 0.001,
    "output_cost_per_token": 0.002,
    "capability_overrides": {"supports_vision": True},
}
"""A model that is asked again at once."""
SCRIPT: Json = {"turns": [], "otherwise": {"text": "You said: $prompt"}}
ARGV = [sys.executable, "-P", "-m", "rookery", "agent"]


def profiles_of(model: ScriptedModel) -> Json:
    profile = {"model": "openai/scripted", "api_key": "sk-scripted-key", "base_url": model.url}
    return {"first": profile | QUICK, "second": profile | QUICK | {"model": "openai/other"}}


def write_settings(home: Path, model: ScriptedModel, **more: Json) -> None:
    document = {"version": 1, "default": "first", "profiles": profiles_of(model), **more}
    (home / "agent_settings.json").write_text(json.dumps(document))
    keep_cold(home)


def keep_cold(home: Path) -> None:
    """No warm process is started behind the tests' backs, or used by them."""
    (home / "config.toml").write_text("[agent]\nwarm = false\n")


def warm_up(home: Path, model: ScriptedModel, agent_home: Path) -> None:
    """Settings and a warm process for a home: the SDK is loaded already. What is read when it is
    imported, a person's files among them, is that of the shared agent."""
    (home / "person").symlink_to(agent_home / "person")
    write_settings(home, model)
    (home / "config.toml").write_text("")
    (home / "run").mkdir(mode=0o700, exist_ok=True)
    stdio.start_warm(surroundings(home))
    awaited(lambda: any((home / "run").glob("warm-*.s")))


def surroundings(home: Path, **more: str) -> dict[str, str]:
    """An environment in which nothing of this machine's person is found."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LLM_")}
    own = {"ROOKERY_HOME": str(home), "HOME": os.path.realpath(home / "person")}
    return kept | own | more


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedModel]:
    with serving(SCRIPT) as model:
        yield model


@pytest.fixture(scope="session")
def agent_home(model: ScriptedModel) -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="rka-", dir="/tmp"))
    (home / "person").mkdir()
    write_settings(home, model)
    stdio.load_agents_in(surroundings(home))
    yield home
    stdio.end_agents()
    try:
        end_all(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def process(agent_home: Path) -> AsyncIterator[Agent]:
    agent = await Agent.start(ARGV, environment=surroundings(agent_home), forked=True)
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})
    yield agent
    await agent.kill()


@pytest_asyncio.fixture(loop_scope="session")
async def agent(process: Agent) -> Agent:
    """The shared one, as it was at its start: nobody answers its requests yet."""
    process.answers.clear()
    process.lines.clear()
    process.raw.clear()
    process._read = 0
    return process
