"""What a session says about the image of its container, before its first turn, and what becomes of
agents and sessions of earlier versions. The engine is any command of the user's: here, a script.
test_own_agent.py has a real one."""

import json
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery.agents import image, registry
from rookery.build import build
from rookery.models.providers import loopback_ports
from rookery.sandbox import forward
from tests.rigs.player import player
from tests.worker.aviary import Aviary, Bird, text_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

GREETED = """
import json, sys
asked = json.loads(sys.stdin.readline())
about = {"protocolVersion": 1, "_meta": {"rookery": {"imageBuild": "0.0.1"}}}
print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": about}), flush=True)
sys.exit(1)
"""
OWN = ["rookery", "agent"]


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aviary]:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    aviary = Aviary(tmp_path)
    yield aviary
    aviary.end()


def use_engine(aviary: Aviary, agent: str, run: str = "echo; read _", more: str = "") -> None:
    """Its containers wait for the end of their input, and `agent` is what runs in them."""
    engine = aviary.root / "engine"
    engine.write_text(f'#!/bin/sh\ncase "$1" in\nrun) {run} ;;\nexec) {agent} ;;\nesac\n')
    engine.chmod(0o755)
    Path(aviary.home, "config.toml").write_text(
        f"[agent]\nwarm = false\n[sandbox]\nengine = '{engine}'\n{more}"
    )
    aviary.trust()


def agent_table(argv: list[str], more: str = "") -> str:
    return f"[agents.box]\ncommand = {json.dumps(argv)}\n{more}"


async def said(bird: Bird) -> str:
    return json.dumps([event.update for event in await bird.turn("hello")])


@pytest.mark.parametrize(
    ("agent", "run", "words"),
    [
        ("echo 'Error: `claude-agent-acp` not found' >&2; exit 127", "echo; read _", "cannot run"),
        ("exit 1", "echo 'Error: x: image not known' >&2; exit 125", "has no image yet"),
    ],
)
async def test_what_an_image_lacks_is_said_with_the_line_that_makes_it(
    harbour: Aviary, agent: str, run: str, words: str
) -> None:
    use_engine(harbour, agent, run)
    told = await said(harbour.hatch(agent="claude", argv=[], sandbox="container"))
    assert f"The sandbox container {words}" in told
    assert "rookery agents image claude" in told


async def test_an_image_of_ones_own_without_the_agent_is_built_upon(harbour: Aviary) -> None:
    table = agent_table([*OWN, "--container", "--image", "localhost/mine"])
    use_engine(harbour, "echo 'Error: `rookery` not found' >&2; exit 127", more=table)
    bird = harbour.hatch(agent="box", argv=[])
    told = await said(bird)
    assert bird.header().sandbox == "container"
    assert "rookery agents image rookery --from localhost/mine --tag localhost/mine" in told


async def test_another_rookery_in_the_image_is_told(harbour: Aviary) -> None:
    use_engine(harbour, f"exec {shlex.join([sys.executable, '-c', GREETED])}")
    told = await said(harbour.hatch(agent="rookery", argv=[], sandbox="container"))
    assert f"another version of Rookery in it (0.0.1) than runs here ({build()})" in told
    assert "rookery agents image rookery" in told


async def test_an_agent_that_only_the_image_has_takes_over(
    harbour: Aviary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    script = harbour.root / "inside.json"
    script.write_text("{}")
    inside = player(str(script), "--state", str(harbour.root / "inside"))
    use_engine(harbour, f"exec {shlex.join(inside)}")
    bird = harbour.hatch(agent="rookery", argv=[], sandbox="container")
    assert "one" in text_of(await bird.turn([{"text": "one"}]))
    await bird.send("switch", agent="claude")
    assert bird.header().agent == "claude"
    assert "two" in text_of(await bird.turn([{"text": "two"}]))


async def test_a_session_begun_in_an_earlier_container_goes_on_in_the_sandbox(
    harbour: Aviary,
) -> None:
    """Its log says nothing of a sandbox. It never runs without one, it is said, and what the agent
    no longer knows can be sent as a recap."""
    use_engine(harbour, "exit 1", more=agent_table(harbour.player()))
    bird = harbour.hatch(agent="box", argv=[])
    assert "first" in text_of(await bird.turn([{"text": "first"}]))
    worker = bird.worker
    await bird.send("stop")
    await bird.gone(worker)
    script = harbour.root / "inside.json"
    script.write_text("{}")
    inside = player(str(script), "--state", str(harbour.root / "inside"))
    table = agent_table([*OWN, "--container"], "confined = false\n")
    use_engine(harbour, f"exec {shlex.join(inside)}", more=table)
    events = await bird.turn([{"text": "second"}])
    assert "second" in text_of(events)
    told = [event.update for event in events]
    assert "From now on this session runs in the sandbox container" in json.dumps(told)
    assert [each["state"] for each in told if each["sessionUpdate"] == "_context"] == ["reset"]
    assert bird.header().sandbox == "container"
    assert "From now on" not in json.dumps([e.update for e in await bird.turn([{"text": "more"}])])


def test_what_a_container_starts_for_an_agent_of_ours() -> None:
    here = [sys.executable, "-P", "-m", "rookery"]
    boxed = ["agent", "--container", "--image", "agent", "--llm-approve"]
    for argv in ([*here, *boxed], ["/home/me/bin/rookery", *boxed]):
        assert registry.image_of(argv) == "agent"
        assert registry.in_image(argv) == ["rookery", "agent", "--llm-approve"]
    assert registry.image_of([*OWN, "--container"]) == ""
    assert registry.image_of([*OWN, "--container", "--image=mine:1"]) == "mine:1"
    assert registry.in_image([*OWN, "--container", "--image=mine:1"]) == OWN
    assert registry.image_of(OWN) is registry.image_of(["podman", "--container"]) is None
    assert registry.in_image([*here, "play", "demo"]) == ["rookery", "play", "demo"]
    assert registry.in_image(["gemini", "--acp"]) == ["gemini", "--acp"]


def test_a_container_has_every_agent_that_can_be_installed() -> None:
    names = [name for name in registry.AGENTS if image.name_of(registry.resolve(name, {}).argv)]
    assert set(registry.AGENTS) - {*names} == {"goose"}
    text = image.containerfile(names, "", "ours.whl", "1")
    for name in names:
        entry = registry.AGENTS[name]
        line = "'/tmp/ours.whl[agent]'" if entry.argv[0] == registry.PYTHON else entry.install
        assert line in text, name


def test_models_of_this_machine_are_reached_from_inside() -> None:
    urls = ["http://localhost:11434/v1", "http://127.0.0.1:8000", "https://api.example.com:8443"]
    odd = ["", "http://localhost", "http://127.0.0.1:80", "http://[::1", "http://localhost:99999"]
    assert loopback_ports([*urls, *odd]) == [8000, 11434]


def test_a_port_that_is_taken_inside_is_left_alone() -> None:
    """The network is this machine's own: nothing is in the way of the command."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = [sys.executable, "-I", "-S", forward.__file__, "/no/socket", port, "echo", "fine"]
        assert subprocess.run(line, capture_output=True, check=True).stdout == b"fine\n"
