"""`rookery agents import FILE`: the public registry's JSON becomes agents of config.toml."""

import json
from pathlib import Path

import pytest

from rookery.agents.downloads import this_platform
from rookery.home import config
from tests.cli.driving import rookery

REGISTRY = {
    "version": "1.0.0",
    "agents": [
        {
            "id": "acme",
            "name": "Acme",
            "version": "1.2.3",
            "distribution": {
                "npx": {"package": "@acme/agent@1.2.3", "args": ["--acp"], "env": {"ACME": "1"}}
            },
        },
        {"id": "snake", "name": "Snake", "distribution": {"uvx": {"package": "snake==2.0"}}},
        {
            "id": "claude-acp",
            "name": "Claude",
            "distribution": {"npx": {"package": "@agentclientprotocol/claude-agent-acp@0.9.1"}},
        },
        {
            "id": "goose",
            "name": "goose",
            "repository": "https://example.org/goose",
            "distribution": {"binary": {this_platform(): {"archive": "https://x", "cmd": "./g"}}},
        },
        {"id": "../evil", "name": "x", "distribution": {"npx": {"package": "x"}}},
        {"id": "flag", "distribution": {"npx": {"package": "--eval=1"}}},
        {"id": "nothing"},
        "junk",
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(REGISTRY))
    return path


def agents(home: Path) -> dict[str, list[str]]:
    return dict(config.load(str(home)).agents)


def test_packages_are_imported_and_the_rest_is_reported(home: Path, file: Path) -> None:
    dry = rookery("agents", "import", "--dry-run", str(file))
    assert dry.out.splitlines() == [
        "acme runs npx -y @acme/agent@1.2.3 --acp",
        "snake runs uvx snake==2.0",
    ]
    assert "rookery agents install claude" in dry.err
    assert "To install goose: rookery agents install goose" in dry.err
    assert agents(home) == {}
    done = rookery("agents", "import", "--yes", str(file))
    assert done.code == 0, done.err
    assert agents(home) == {
        "acme": ["npx", "-y", "@acme/agent@1.2.3", "--acp"],
        "snake": ["uvx", "snake==2.0"],
    }
    assert config.load(str(home)).extras["acme"].env == {"ACME": "1"}
    assert "Nothing to add." in rookery("agents", "import", "--yes", str(file)).err


def test_the_users_own_agents_are_not_overwritten_unless_told(home: Path, file: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[agents.acme]\ncommand = ["mine"] # my own\n')
    done = rookery("agents", "import", "--yes", str(file))
    assert "Skipping acme: you have one that runs mine (--replace)" in done.err
    assert agents(home)["acme"] == ["mine"]
    rookery("agents", "import", "--yes", "--replace", str(file))
    assert agents(home)["acme"][0] == "npx"


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"agents": {}}', '{"agents": [1]}', "\0", "[" * 9999]
)
def test_a_bad_file_is_one_sentence(home: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    done = rookery("agents", "import", "--yes", str(path))
    assert done.code == 1
    assert done.err.startswith("rookery: ")
    assert "internal error" not in done.err
    assert agents(home) == {}
