"""`hooks.json` of the person and of the project: found, checked, merged, read anew."""

import json
from pathlib import Path
from typing import Any

import pytest

from rookery.home import confirmed
from rookery.home.config import Config
from rookery.models.documents import SettingsError
from rookery.models.hook_files import KINDS, of_project, own


def put(place: Path, value: Any) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(value if isinstance(value, str) else json.dumps(value))
    return place


def matcher(command: str, pattern: str = "*") -> dict[str, Any]:
    return {"matcher": pattern, "hooks": [{"command": command}]}


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_none_is_nothing(tmp_path: Path, cwd: Path) -> None:
    assert own(str(tmp_path)) == {}
    assert of_project(str(tmp_path), str(cwd)) == (None, {})


def test_the_persons_own_and_the_projects_are_told_apart(tmp_path: Path, cwd: Path) -> None:
    put(tmp_path / "hooks.json", {"stop": [matcher("a")], "session_start": [matcher("s")]})
    one = put(cwd / ".openhands/hooks.json", {"stop": [matcher("b")]})
    two = put(cwd / ".rookery/hooks.json", {"hooks": {"Stop": [matcher("c", "/x.*/")]}})
    assert own(str(tmp_path)) == {"stop": [matcher("a")], "session_start": [matcher("s")]}
    found, config = of_project(str(tmp_path), str(cwd))
    assert found
    assert [place for place, _ in found.tables] == [str(one), str(two)]
    assert [hook.command for hook in found.hooks] == ["b", "c"]
    assert config == {"stop": [matcher("b"), matcher("c", "/x.*/")]}


def test_one_file_is_taken_once(tmp_path: Path) -> None:
    """A session in the person's own directory: the home is its .rookery, and that is theirs."""
    put(tmp_path / ".rookery/hooks.json", {"stop": [matcher("a")]})
    home = str(tmp_path / ".rookery")
    assert own(home) == {"stop": [matcher("a")]}
    assert of_project(home, str(tmp_path)) == (None, {})


@pytest.mark.parametrize("kind", KINDS)
def test_all_six_kinds_by_both_of_their_names(kind: str, tmp_path: Path, cwd: Path) -> None:
    other = "".join(word.title() for word in kind.split("_"))
    for name in (kind, other):
        put(tmp_path / "hooks.json", {name: [matcher("a")]})
        assert own(str(tmp_path)) == {kind: [matcher("a")]}


def hook(**fields: Any) -> dict[str, Any]:
    return {"stop": [{"hooks": [fields]}]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n"stop": [}', ["line 2", "column 10"]),
        ({"on_stop": []}, ["on_stop", "pre_tool_use"]),
        ({"stop": [], "Stop": []}, ["twice"]),
        ({"stop": {}}, ["list"]),
        ({"stop": ["x"]}, ["matcher"]),
        ({"stop": [{"matcher": 3}]}, ["stop.matcher"]),
        ({"stop": [{"matcher": "/(/"}]}, ["regular expression"]),
        ({"stop": [{"hooks": {}}]}, ["stop.hooks"]),
        ({"hooks": []}, ["hooks"]),
        (hook(), ["stop.command"]),
        (hook(command="x", type="shell"), ["stop.type", "command, prompt, agent"]),
        (hook(command="x", timeout="1"), ["stop.timeout"]),
        (hook(type="prompt"), ["stop.prompt"]),
        (hook(type="prompt", prompt="x", command="y"), ["stop.command"]),
        (hook(type="agent", **{"async": True}), ["stop.async"]),
    ],
)
def test_a_broken_file_is_refused(text: Any, words: list[str], tmp_path: Path, cwd: Path) -> None:
    """Never skipped: it may hold a guard."""
    place = put(cwd / ".openhands/hooks.json", text)
    before = place.read_bytes()
    with pytest.raises(SettingsError) as caught:
        of_project(str(tmp_path), str(cwd))
    assert str(place) in str(caught.value)
    assert all(word in str(caught.value) for word in words), caught.value
    assert place.read_bytes() == before


def test_a_file_of_hooks_keeps_its_mode(tmp_path: Path, cwd: Path) -> None:
    place = put(tmp_path / "hooks.json", {})
    place.chmod(0o644)
    own(str(tmp_path))
    assert place.stat().st_mode & 0o777 == 0o644


def test_a_hook_changed_by_an_agent_waits_for_confirmation(tmp_path: Path, cwd: Path) -> None:
    """The file is gone or another one, and nobody says that a person did it."""
    home = str(tmp_path)
    guard = {"pre_tool_use": [{"matcher": "*", "hooks": [{"command": "./guard"}]}]}
    (tmp_path / "hooks.json").write_text(json.dumps(guard))
    confirmed.write(
        home, confirmed.Record(confirmed.guarded_settings(home, Config()), held="something")
    )
    (tmp_path / "hooks.json").write_text('{"stop": [{"hooks": [{"command": "./evil"}]}]}')
    assert own(home) == guard
    (tmp_path / "hooks.json").unlink()
    assert own(home) == guard
