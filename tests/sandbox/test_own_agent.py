"""Rookery's own agent in a real container, from an image that `rookery agents image` built: it has
no network, and the model on this machine is reached through a socket."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.agent.scripted.server import serving
from tests.agent.conftest import ARGV, SCRIPT, write_settings
from tests.agent.driving import run
from tests.sandbox import images, own_image
from tests.worker.aviary import Aviary, text_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),  # an image is made
    pytest.mark.skipif(sys.platform != "linux", reason="containers of this machine's files"),
]

NAME = "localhost/rookery-test-own:1"


def built(home: str) -> None:
    """By the command itself. The image's packages are in its base: nothing is fetched."""
    line = [*ARGV[:-1], "agents", "image", "--yes", "--from", own_image.base(), "--tag", NAME]
    # Without the rights that another kind of isolation takes.
    environment = {**os.environ, "ROOKERY_HOME": home, "BUILDAH_ISOLATION": "chroot"}
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


async def test_our_own_agent_works_in_a_container_of_an_image_that_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn with a tool, then another after the agent was ended: it knows what was said."""
    if fault := images.fault():
        pytest.skip(fault)
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path / "home"))
    aviary = Aviary(tmp_path)
    (tmp_path / "person").mkdir()
    wanted = {"engine": " ".join(images.ENGINE), "args": images.LIMITS, "network": "off"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in wanted.items()]
    command = json.dumps([*ARGV, "--container", "--image", NAME])
    with serving(SCRIPT) as model:
        write_settings(Path(aviary.home), model)
        config = Path(aviary.home, "config.toml")
        table = ["[sandbox]", *lines, "[agents.box]", f"command = {command}"]
        config.write_text("\n".join([config.read_text(), *table]) + "\n")
        built(aviary.home)
        aviary.trust()
        environment = {**os.environ, "HOME": str(tmp_path / "person")}
        environment["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        bird = aviary.hatch(agent="box", argv=[], confirm="all", environment=environment)
        assert bird.header().sandbox == "container"
        try:
            events = await bird.turn([run("echo made > made; ls /root"), {"text": "Done."}])
            assert "Done." in text_of(events), [event.update for event in events[-4:]]
            made = aviary.work / "made"
            assert made.read_text() == "made\n"
            assert made.stat().st_uid == os.getuid()
            worker = bird.worker
            await bird.send("stop")
            await bird.gone(worker)
            listed = images.engine("ps", "--all", "--quiet", f"--filter=name={bird.id}")
            assert listed.stdout == b""
            events = await bird.turn([{"text": "Still here."}])
            assert "Still here." in text_of(events)
            assert not [event for event in events if event.update["sessionUpdate"] == "_context"]
            asked = json.dumps(model.asked[-1].body)
            assert "Done." in asked
        finally:
            aviary.end()
