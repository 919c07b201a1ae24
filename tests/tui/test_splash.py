"""What is found before a session is chosen, from real files (row U1)."""

import json
from pathlib import Path

import pytest

from rookery.core.document import Block
from rookery.core.key_ids import DEFAULTS
from rookery.models import glance
from rookery.tui.keynames import shown
from rookery.tui.splash import SetUp, look_around, window_of
from tests.tui.homes import furnish


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return furnish(tmp_path, monkeypatch)


def blocks_of(found: SetUp) -> list[Block]:
    window = window_of(found, lambda name: shown(DEFAULTS[name]))
    return list(window.pages[0].blocks.values())


def words(found: SetUp) -> str:
    blocks = blocks_of(found)
    return "\n".join(f"{block['title']} {block['text']}" for block in blocks)


def test_U1_what_is_set_up_is_found(home: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".openhands" / "skills" / "review").mkdir(parents=True)
    (project / ".openhands" / "skills" / "review" / "SKILL.md").write_text("x")
    (project / ".openhands" / "skills" / "README.md").write_text("x")
    (project / ".openhands" / "hooks.json").write_text("{}")
    (Path(home) / "skills").mkdir()
    (Path(home) / "skills" / "mine.md").write_text("x")
    found = look_around(home, str(project), "")
    assert (found.agent, found.model) == ("rookery", "anthropic/claude-sonnet-5-5")
    assert (found.skills, found.hooks, found.servers) == (2, 1, 1)
    assert found.installed == ("claude",)
    assert "MCP server odd: needs a command, or a url. F10 mends it." in words(found)
    assert "2 skills, 1 hook file, 1 MCP server" in words(found)


def test_U1_with_nothing_the_demo_answers_and_a_model_is_offered(tmp_path: Path) -> None:
    found = look_around(str(tmp_path), str(tmp_path), "")
    assert (found.agent, found.model) == ("demo", "")
    (block,) = [each for each in blocks_of(found) if each["actions"]]
    assert block["title"] == "No model is set up"
    assert block["actions"] == [{"label": "Set up a model (F6, Enter)", "window": "model"}]


def test_U1_a_broken_file_is_told_and_the_rest_is_found(home: str) -> None:
    Path(home, "config.toml").write_text("[worker]\nqueue_most = 1.5\n")
    Path(home, "mcp.json").write_text("{")
    found = look_around(home, "/", "")
    assert "worker.queue_most must be" in found.problem
    assert "mcp.json" in found.troubles[0]
    assert found.model == "anthropic/claude-sonnet-5-5"
    assert "worker.queue_most must be" in words(found)


def test_I9_14_a_key_that_is_not_known_is_told_and_the_rest_holds(tmp_path: Path) -> None:
    Path(tmp_path, "config.toml").write_text('default_agent = "codex"\n[worker]\nx = 1\n')
    found = look_around(str(tmp_path), "/", "")
    assert (found.problem, found.agent) == ("", "codex")
    assert "line 3: worker.x is not a setting" in words(found)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"llm": {"model": "old/one", "api_key": "k"}}, [("default", "old/one", True)]),
        ({"model": "flat/one"}, [("default", "flat/one", False)]),
        ({"profiles": {"a": 1, "b": {"model": "x"}}}, [("a", "", False), ("b", "x", False)]),
        ({"profiles": []}, []),
        ([], []),
    ],
)
def test_a_glance_survives_any_shape(tmp_path: Path, document: object, said: object) -> None:
    (tmp_path / glance.FILE).write_text(json.dumps(document))
    found = glance.glance(str(tmp_path))
    assert [(each.name, each.model, each.has_key) for each in found.models] == said


def test_a_glance_at_what_is_no_json_says_so(tmp_path: Path) -> None:
    (tmp_path / glance.FILE).write_text("{")
    assert "rookery setup --list" in glance.glance(str(tmp_path)).problem
