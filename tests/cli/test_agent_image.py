"""`rookery agents image` and `agents add --container`: what is built, and what is said. The engine
is any command of the user's: here, a script. tests/sandbox/test_own_agent.py has a real one."""

import base64
import hashlib
import json
import tomllib
import zipfile
from pathlib import Path

import pytest

import rookery as package
from rookery.build import build
from rookery.installation import wheel
from tests.cli.driving import Result, rookery

NAME = "localhost/rookery-agents:latest"


def use_engine(home: Path, *agents: str, status: int = 0, more: str = "", **labels: str) -> None:
    """One whose image has these agents; none: it has no image. It keeps what it is to build."""
    named = {"rookery.agents": " ".join(agents), **labels}
    config = {"Labels": named, "Env": ["A=1", f"ROOKERY_IMAGE_BUILD={build()}"]}
    found = f"echo '{json.dumps(config)}'" if agents else "echo 'x: image not known' >&2; exit 1"
    engine = home / "engine"
    engine.write_text(
        f'#!/bin/sh\ncase "$1" in\n--version) echo engine 1 ;;\nimage) {found} ;;\n'
        f'build) echo "$@" > {home}/called; shift 6; cp -r "$1" {home}/built; exit {status} ;;\n'
        f'run) echo "$@" > {home}/ran; exit 1 ;;\nesac\n'
    )
    engine.chmod(0o755)
    (home / "config.toml").write_text(f"[sandbox]\nengine = '{engine}'\n{more}")


def test_the_image_of_our_own_agent_has_this_very_build(home: Path) -> None:
    use_engine(home)
    refused = rookery("agents", "image")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    made = rookery("agents", "image", "--yes")
    assert made.code == 0, made.err
    assert f"build --no-cache --tag {NAME} --file " in (home / "called").read_text()
    text = (home / "built" / "Containerfile").read_text()
    assert f"pip install --no-cache-dir '/tmp/{wheel.name()}[agent]'" in text
    assert f"ENV ROOKERY_IMAGE_BUILD={build()}\n" in text
    assert (home / "built" / wheel.name()).exists()
    assert 'To use it: rookery run --sandbox container --agent rookery "…"' in " ".join(
        made.err.split()
    )


def test_agents_are_added_to_those_of_the_image_and_to_its_base(home: Path) -> None:
    use_engine(home, "codex", **{"rookery.from": "mirror/python:3.13"})
    made = rookery("agents", "image", "--yes", "claude", "vibe")
    assert made.code == 0, made.err
    text = (home / "built" / "Containerfile").read_text()
    assert text.startswith("FROM mirror/python:3.13\n")
    assert "RUN npm install -g @agentclientprotocol/claude-agent-acp\n" in text
    assert "RUN npm install -g @agentclientprotocol/codex-acp\n" in text
    assert "RUN uv tool install mistral-vibe\n" in text
    assert 'LABEL rookery.agents="claude codex vibe" rookery.from="mirror/python:3.13"' in text
    assert "COPY" not in text  # neither a wheel of ours, nor the node of another image


def test_without_a_base_of_ones_own_each_kind_has_the_usual_one(home: Path) -> None:
    use_engine(home)
    both = rookery("agents", "image", "--print", "claude", "rookery").out
    assert both.startswith("FROM docker.io/library/python:")
    assert "COPY --from=docker.io/library/node:" in both
    alone = rookery("agents", "image", "--print", "claude").out
    assert alone.startswith("FROM docker.io/library/node:")
    assert "COPY" not in alone
    assert not (home / "called").exists()


def test_a_build_that_fails_says_what_may_help(home: Path) -> None:
    use_engine(home, status=125)
    made = rookery("agents", "image", "--yes", "claude")
    assert made.code == 1
    assert "ended with status 125" in made.err
    assert "--from IMAGE" in made.err


def test_another_name_is_no_secret(home: Path) -> None:
    use_engine(home)
    made = rookery("agents", "image", "--yes", "claude", "--tag", "localhost/mine")
    assert "--tag localhost/mine " in (home / "called").read_text()
    assert "rookery config set sandbox.image localhost/mine" in made.err


def test_what_is_built_is_written_instead(home: Path, tmp_path: Path) -> None:
    made = rookery("agents", "image", "--write", str(tmp_path / "new"))
    assert made.code == 0, made.err
    assert {each.name for each in (tmp_path / "new").iterdir()} == {"Containerfile", wheel.name()}


MINE = """
[agents.far]
url = "wss://host/acp"
[agents.mine]
command = ["my-agent"]
[agents.two]
command = ["/opt/bin/gemini", "--acp", "--verbose"]
"""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["claud"], 2, "Did you mean claude"),
        (["claude", "claude"], 1, "claude is named twice"),
        (["goose"], 1, "see https://block.github.io/goose"),
        (["far"], 1, "runs on another machine (wss://host/acp)"),
        (["mine"], 1, "but runs my-agent. Put it into an image of your own"),
        (["--from", "a b"], 2, "'a b' is not the name of an image"),
        (["--tag", "--privileged"], 2, "is not the name of an image"),
    ],
)
def test_names_that_no_image_can_have(home: Path, words: list[str], code: int, said: str) -> None:
    use_engine(home, more=MINE)
    refused = rookery("agents", "image", "--yes", *words)
    assert (refused.code, said in refused.err) == (code, True), refused.err
    assert not (home / "called").exists()


def test_an_agent_of_ones_own_is_what_its_command_starts(home: Path) -> None:
    use_engine(home, more=MINE)
    assert "@google/gemini-cli" in rookery("agents", "image", "--print", "two").out


def test_a_wheel_is_what_runs_now(tmp_path: Path) -> None:
    wheel.write(str(tmp_path))
    root = Path(package.__file__).parent
    with zipfile.ZipFile(tmp_path / wheel.name()) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    inside = {name for name in files if name.startswith("rookery/")}
    assert inside == {
        f"rookery/{path.relative_to(root)}"
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files["rookery/build.py"] == (root / "build.py").read_bytes()
    [info] = {name.partition("/")[0] for name in files} - {"rookery"}
    assert b"Provides-Extra: agent" in files[f"{info}/METADATA"]
    for row in files.pop(f"{info}/RECORD").decode().splitlines()[:-1]:
        name, digest, size = row.rsplit(",", 2)
        real = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).decode().rstrip("=")
        assert (digest, int(size)) == (f"sha256={real}", len(files[name])), name


# ---------------------------------------------------------------- agents that always run in one


def box(home: Path) -> dict[str, object]:
    table = tomllib.loads((home / "config.toml").read_text())["agents"]["box"]
    assert isinstance(table, dict)
    return table


def test_an_agent_in_a_container_is_added_where_its_image_has_it(home: Path) -> None:
    def added(*more: str) -> Result:
        return rookery("agents", "add", "box", "--container", *more)

    use_engine(home)
    assert "has no image yet. To make it: rookery agents image rookery" in added().err
    use_engine(home, "claude")
    lacks = added("--image", "localhost/mine")
    assert "rookery agents image rookery --tag localhost/mine" in lacks.err
    for other in (["--cloud"], ["--directory", "/x"]):
        assert f"--container cannot be combined with {other[0]}" in added(*other).err
    use_engine(home, "rookery")
    assert added("--image", "localhost/mine").code == 0
    assert box(home)["command"][-4:] == ["agent", "--container", "--image", "localhost/mine"]
    assert "confined" not in box(home)
    assert (
        "always runs in the sandbox container"
        in rookery("new", "--agent", "box", "--sandbox", "bwrap").err
    )
    session = rookery("new", "--agent", "box").out.strip()
    assert json.loads(rookery("ps", "--json").out)["sandbox"] == "container"
    assert rookery("rm", "--yes", session).code == 0


def test_what_an_image_lacks_is_said_before_there_is_a_session(home: Path) -> None:
    use_engine(home, "rookery")
    refused = rookery("run", "--sandbox", "container", "--agent", "claude", "hello")
    assert refused.code == 1
    assert "To add it: rookery agents image claude" in refused.err
    assert rookery("ps", "--json").out == ""
    # What is not installed here may be in the image.
    use_engine(home, "claude", more="[agents.claude]\nsandbox = 'container'\n")
    assert rookery("new", "--agent", "claude").code == 0


OLD = """
[agents.box]
command = ["rookery", "agent", "--container", "--image", "localhost/mine"]
confined = false
"""


def test_an_agent_of_an_earlier_version_is_carried_over_and_that_is_said_once(home: Path) -> None:
    use_engine(home, "claude", more=OLD)
    first, second = (rookery("agents", "image", "--print", "claude").err for _ in range(2))
    line = "rookery agents image rookery --from localhost/mine --tag localhost/mine"
    assert "box now runs in the sandbox container" in first
    assert line in first
    assert second == ""
    assert "confined" not in box(home)
    doctor = rookery("doctor").out
    assert "box: The sandbox container cannot run rookery: it is not in the image" in doctor
    assert "rookery agents image rookery --tag localhost/mine" in rookery("doctor", "box").out


def test_an_image_that_does_not_say_what_is_in_it_is_looked_into(home: Path) -> None:
    use_engine(home, "", more="[agents.claude]\nsandbox = 'container'\n")
    assert "cannot run claude-agent-acp" in rookery("doctor").out
    assert (home / "ran").read_text().rstrip().endswith("claude-agent-acp")


def test_an_open_quotation_mark_in_the_settings_is_named(home: Path) -> None:
    use_engine(home, "rookery")
    config = home / "config.toml"
    config.write_text("[sandbox]\nengine = \"podman '\"\nkind = 'container'\n")
    words = "sandbox.engine is not valid: No closing quotation"
    for line in (["agents", "image", "--yes"], ["run", "hello"], ["doctor"]):
        told = rookery(*line)
        assert (told.code, words in told.out + told.err) == (1, True), told


def test_an_editor_is_told_how_to_start_one() -> None:
    refused = rookery("agent", "--container")
    assert refused.code == 2
    assert "rookery acp --agent NAME" in refused.err
