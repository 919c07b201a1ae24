"""Issue 17, item 4: what is said where no container can be made, and how its image is made. The
engine is any command of the user's: here, scripts. test_container.py has a real container."""

import os
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from rookery.agent.elsewhere import workspace
from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent
from tests.agent.conftest import ARGV, surroundings, write_settings

IMAGE = f"localhost/rookery-agent-server:{version('openhands-sdk')}"


@pytest.fixture
def settled(home: Path, model: ScriptedModel, agent_home: Path) -> Path:
    (home / "person").symlink_to(agent_home / "person")
    write_settings(home, model)
    return home


def use_engine(home: Path, line: str) -> None:
    """A program that does this instead of what an engine does."""
    engine = home / "engine"
    engine.write_text(f"#!/bin/sh\n{line}\n")
    engine.chmod(0o755)
    config = home / "config.toml"
    config.write_text(f"{config.read_text()}\n[sandbox]\nengine = '{engine}'\n")


@pytest.mark.asyncio(loop_scope="session")
async def test_I17_4_a_session_says_what_a_container_lacks(settled: Path, tmp_path: Path) -> None:
    use_engine(settled, "exit 1")
    line = [*ARGV, "--container"]
    agent = await Agent.start(line, environment=surroundings(settled), forked=True)
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})

    lacks = f"The image {IMAGE} is not on this machine. Make it: rookery agents image"
    asked = agent.ask("session/new", cwd=str(tmp_path), mcpServers=[])
    assert (await agent.answer(asked))["error"]["message"] == lacks
    # Another engine that is written while an agent runs waits for the user.
    config = settled / "config.toml"
    config.write_text(config.read_text().replace("/engine'", "/other'"))
    asked = agent.ask("session/new", cwd=str(tmp_path), mcpServers=[])
    assert (await agent.answer(asked))["error"]["message"] == lacks
    # Its process is not confined: what is not in a container is not for it.
    local = settled / "conversations" / ("a" * 32)
    local.mkdir(parents=True)
    (local / "base_state.json").write_text("{}")
    asked = agent.ask("session/load", sessionId=local.name, cwd=str(tmp_path), mcpServers=[])
    assert "not in a container" in (await agent.answer(asked))["error"]["message"]
    await agent.kill()


def rookery(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment, line = surroundings(home), [*ARGV[:-1], *words]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def test_I17_4_an_image_is_made_and_an_agent_added(settled: Path) -> None:
    use_engine(settled, f'echo "$@" > {settled}/called; [ "$1" = image ] || cat > {settled}/given')
    made = rookery(settled, "agents", "image", "--yes")
    assert made.returncode == 0, made.stderr
    assert (settled / "called").read_text() == f"build --tag {IMAGE} -\n"
    pinned = f"openhands-agent-server=={version('openhands-sdk')}"
    assert pinned in (settled / "given").read_text()
    added = rookery(settled, "agents", "add", "box", "--container")
    assert added.returncode == 0, added.stderr
    table = tomllib.loads((settled / "config.toml").read_text())["agents"]["box"]
    assert table["command"][-2:] == ["agent", "--container"]
    assert table["confined"] is False  # else a rootless engine could not start


def test_I17_4_models_of_this_machine_are_reached_from_inside() -> None:
    urls = ["http://localhost:11434/v1", "http://127.0.0.1:8000", "https://api.example.com:8443"]
    odd = ["", "http://localhost", "http://127.0.0.1:3128", "http://127.0.0.1:80", "http://[::1"]
    assert workspace.loopback_ports([*urls, *odd, "http://localhost:99999"]) == {11434, 8000}


def test_I17_4_a_fork_takes_no_files_of_this_side_along(tmp_path: Path) -> None:
    """A command in the container may have put links into the server's folder."""
    source, secret = tmp_path / "source", tmp_path / "secret"
    (source / "events").mkdir(parents=True)
    (source / "events" / "1.json").write_text("{}")
    (secret / "keys").mkdir(parents=True)
    (secret / "key").write_text("secret")
    (source / "key").symlink_to(secret / "key")
    (source / "keys").symlink_to(secret)
    os.mkfifo(source / "pipe")
    workspace.copy_files(str(source), str(tmp_path / "target"))
    found = [path.relative_to(tmp_path / "target") for path in (tmp_path / "target").rglob("*")]
    assert sorted(map(str, found)) == ["events", "events/1.json"]
    (tmp_path / "link").symlink_to(secret)
    workspace.copy_files(str(tmp_path / "link"), str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_I17_4_a_proxy_is_not_for_our_own_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "example.com")
    monkeypatch.setenv("no_proxy", "")  # which is taken back: there may be none
    monkeypatch.delenv("no_proxy")
    workspace._spare_loopback()
    assert os.environ["NO_PROXY"] == os.environ["no_proxy"] == "example.com,127.0.0.1"
