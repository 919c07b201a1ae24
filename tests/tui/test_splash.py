"""What is found before a session is chosen, from real files."""

import json
import os
from pathlib import Path

import pytest

from rookery.core.blocks.document import Block
from rookery.core.settings.keys import DEFAULTS
from rookery.core.vendors.demo import SECOND, TOUR
from rookery.core.view.states import TO_READ, in_order
from rookery.models import profiles
from rookery.tui.actions.leaving import Left, farewell
from rookery.tui.keys.map import shown
from rookery.tui.splash import SetUp, look_around, way_in, window_of
from rookery.tui.writing import commands
from tests.tui.homes import furnish
from tests.tui.still import a_session


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return furnish(tmp_path, monkeypatch)


def blocks_of(found: SetUp) -> list[Block]:
    way = way_in(found.agent, [], new=False)
    window = window_of(found, lambda name: shown(DEFAULTS[name]), way)
    return list(window.pages[0].blocks.values())


def words(found: SetUp) -> str:
    blocks = blocks_of(found)
    return "\n".join(f"{block['title']} {block['text']}" for block in blocks)


def test_the_splash_lists_what_is_set_up(home: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".openhands" / "skills" / "review").mkdir(parents=True)
    (project / ".openhands" / "skills" / "review" / "SKILL.md").write_text("x")
    (project / ".openhands" / "skills" / "README.md").write_text("x")
    (project / ".openhands" / "hooks.json").write_text("{}")
    (Path(home) / "skills").mkdir()
    (Path(home) / "skills" / "mine.md").write_text("x")
    found = look_around(home, str(project), "")
    assert (found.agent, found.model) == ("rookery", "anthropic/claude-sonnet-5-5")
    assert (found.skills, found.servers) == (("mine", "review"), ("files",))
    assert found.hooks == (str(project / ".openhands" / "hooks.json").replace(str(tmp_path), "~"),)
    assert found.installed == ("claude",)
    assert "MCP server odd: needs a command, or a url. F10 opens the servers." in words(found)
    assert "- skills: `mine`, `review`\n- hooks: `~/project" in words(found)
    assert "- MCP servers: `files`" in words(found)


def test_the_splash_names_what_the_agent_at_hand_loads(home: str, tmp_path: Path) -> None:
    (Path(home) / "skills").mkdir()
    (Path(home) / "skills" / "mine.md").write_text("x")
    config = Path(home, "config.toml")
    config.write_text(config.read_text() + "\n[agents.codex]\nmcp = false\n")
    said = {name: words(look_around(home, str(tmp_path), name)) for name in AGENTS}
    assert ["`mine`" in said[name] for name in AGENTS] == [True, False, False, False]
    assert ["`files`" in said[name] for name in AGENTS] == [True, True, False, False]
    assert ["model: `" in said[name] for name in AGENTS] == [True, False, False, False]


AGENTS = ("rookery", "claude", "codex", "demo")


def test_without_a_set_up_the_demo_answers_and_a_model_is_offered(tmp_path: Path) -> None:
    found = look_around(str(tmp_path), str(tmp_path), "")
    assert (found.agent, found.model) == ("demo", "")
    (block,) = [each for each in blocks_of(found) if each["actions"]]
    assert block["title"] == "No model set up"
    assert block["actions"] == [{"label": "Set up a model (F6, Enter)", "window": "model"}]


def test_another_machines_splash_offers_nothing_that_only_that_machine_can_do() -> None:
    there = SetUp("/srv", "demo", installed=("claude",), here=False)
    said = words(there)
    assert "claude" in said
    for name in ("settings", "agents", "confirm"):
        assert f"`{shown(DEFAULTS[name])}`" not in said
    assert "No model set up" not in said
    assert not {"settings", "mcp", "agents", "export"} & commands.known(None, here=False).keys()


def test_a_broken_file_is_reported_and_the_rest_is_found(home: str) -> None:
    Path(home, "config.toml").write_text("[worker]\nqueue_most = 1.5\n")
    Path(home, "mcp.json").write_text("{")
    found = look_around(home, "/", "")
    assert "worker.queue_most must be" in found.problem
    assert "mcp.json" in found.troubles[0]
    assert found.model == "anthropic/claude-sonnet-5-5"
    assert "worker.queue_most must be" in words(found)


def test_an_unknown_key_is_reported_and_the_rest_holds(tmp_path: Path) -> None:
    Path(tmp_path, "config.toml").write_text('default_agent = "codex"\n[worker]\nx = 1\n')
    found = look_around(str(tmp_path), "/", "")
    assert (found.problem, found.agent) == ("", "codex")
    assert "line 3: worker.x is not a setting" in words(found)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"llm": {"model": "old/one", "api_key": "k"}}, [("default", "old/one", True)]),
        ({"model": "flat/one"}, [("default", "flat/one", False)]),
        ({"profiles": {"a": {"model": "x"}}}, [("a", "x", False)]),
    ],
)
def test_looking_at_saved_models_writes_nothing(
    tmp_path: Path, document: object, said: object
) -> None:
    """Also not where the shape is an old one: that is for who uses or changes them."""
    file = tmp_path / profiles.FILE
    file.write_text(json.dumps(document))
    found, problem = profiles.look(str(tmp_path))
    assert problem == ""
    assert [(each.name, each.model, bool(each.key)) for each in found.profiles.values()] == said
    assert json.loads(file.read_text()) == document
    assert os.listdir(tmp_path) == [profiles.FILE]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1"),
        ("[]", profiles.FILE),
        ('{"profiles": []}', "profiles must be an object"),
        ('{"profiles": {\n"a": 1}}', "line 2"),
        ('{"version": 99}', "newer Rookery"),
    ],
)
def test_an_unreadable_file_says_why_wherever_it_is_shown(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / profiles.FILE).write_text(text)
    found, problem = profiles.look(str(tmp_path))
    assert (found, said in problem) == (profiles.Settings(), True), problem
    assert problem in look_around(str(tmp_path), str(tmp_path), "").troubles


def test_one_key_leads_to_a_session() -> None:
    """The tour, the agent at hand, or the session that needs you most."""
    asking = a_session("a1", "Fix it\x1b[2J", "running", "claude", asks=1)
    done = a_session("b2", "", "idle", "demo")
    assert way_in("demo", [], new=False).prompt == TOUR
    assert way_in("demo", [done], new=True).prompt == SECOND
    assert "claude" in way_in("claude", [], new=False).label
    found = way_in("demo", [asking, done], new=False)
    assert (found.session, found.prompt) == ("a1", "")
    assert "\x1b" not in found.label
    assert found.label.endswith("needs you")
    assert "b2" in way_in("claude", [done], new=False).label
    works, read = a_session("c3", "", "running", "demo"), a_session("d4", "", "idle", "demo")
    listed = in_order([works, read | {"unread": True, "group": TO_READ}, done])
    assert way_in("demo", listed, new=False).label == "opens session d4, with news to read"


def test_leaving_names_running_sessions_and_how_to_come_back() -> None:
    going = [a_session(f"s{n}", f"Task {n}", "running", "demo", asks=n % 2) for n in range(7)]
    said = farewell("s1", Left(4, 3), [*going, a_session("x", "Done", "idle", "demo")])
    assert "  ◐ s0  Task 0\n  ◆ s1  Task 1\n" in said
    assert "… and 2 more: rookery ps" in said
    assert said.endswith("To come back: rookery open s1")
    assert "Done" not in said
    assert farewell("", Left(1, 0), going[:1]).endswith("To come back: rookery")
    assert farewell("", Left(0, 0), []) == ""
