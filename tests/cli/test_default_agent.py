"""Who is meant where no agent is named: Rookery's own where a model is set up, the demo where not;
and both are told."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.agents import registry
from rookery.agents.registry import Agent, NotInstalled
from rookery.client.fleet import heads
from rookery.core.vendors.environment import OVERRIDE
from rookery.installation.commands import extra_line
from rookery.models import profiles
from rookery.models.choice import default_agent, has_model
from rookery.models.profiles import Profile, Settings
from tests.cli.driving import ROOKERY, play, rookery


def save(home: Path, *models: str) -> None:
    settings = Settings()
    for model in models:
        settings = settings.with_profile(Profile(model.rpartition("/")[2], model))
    profiles.save(str(home), settings)


def agent(home: Path) -> str:
    return str(heads(str(home))[0]["agent"])


def test_the_demo_where_no_model_is_set_up(home: Path) -> None:
    done = rookery("run", play({"text": "Hi"}))
    assert done.code == 0
    assert "no model: rookery setup" in " ".join(done.err.split())
    assert "rookery setup" in done.err
    assert agent(home) == "demo"


def test_rookerys_own_where_one_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(home, "ollama/bird")
    monkeypatch.setenv("LLM_MODEL", "ollama/other")
    done = rookery("new")
    assert "LLM_MODEL is ignored without --override-with-envs" in done.err
    assert done.code == 0, done.err
    assert "model ollama/bird (bird)" in done.err
    assert agent(home) == "rookery"


def test_the_environment_over_nothing_saved_in_every_way_in(home: Path) -> None:
    """By the flag of the command, or before it: both are the session's from then on."""
    environment = {"LLM_MODEL": "ollama/owl", "LLM_API_KEY": "k"}
    for words in (["new", "--override-with-envs"], ["--override-with-envs", "new"]):
        done = rookery(*words, **environment)
        assert done.code == 0, done.err
        assert "ollama/owl" in done.err
        assert agent(home) == "rookery"


def test_the_default_directory(home: Path, tmp_path: Path) -> None:
    """ROOKERY_WORK_DIR where none is named; one that is not there is said, and nothing is made."""
    (tmp_path / "work").mkdir()
    (tmp_path / "named").mkdir()
    done = rookery("new", "--agent", "demo", ROOKERY_WORK_DIR=str(tmp_path / "work"))
    assert done.code == 0, done.err
    assert heads(str(home))[0]["cwd"] == str(tmp_path / "work")
    named = ("--cwd", str(tmp_path / "named"))
    rookery("new", "--agent", "demo", *named, ROOKERY_WORK_DIR=str(tmp_path / "work"))
    assert heads(str(home))[0]["cwd"] == str(tmp_path / "named")
    done = rookery("new", "--agent", "demo", ROOKERY_WORK_DIR=str(tmp_path / "nowhere"))
    assert done.code != 0
    assert "ROOKERY_WORK_DIR is not a directory" in done.err
    assert len(heads(str(home))) == 2


def test_the_configuration_comes_first_and_needs_no_word(home: Path) -> None:
    save(home, "ollama/bird")
    (home / "config.toml").write_text('default_agent = "demo"\n')
    done = rookery("new")
    assert "own agent" not in done.err
    assert agent(home) == "demo"


def test_a_model_without_a_key_is_refused_before_a_session_is_made(home: Path) -> None:
    save(home, "x/y")
    done = rookery("run", "Go")
    assert done.code == 1
    assert "rookery setup --name y" in done.err
    assert heads(str(home)) == []


def test_a_broken_file_is_told_with_its_place(home: Path) -> None:
    (home / profiles.FILE).write_text('{\n"profiles": ')
    done = rookery("run", "Go")
    assert (done.code, "line 2, column 13" in done.err) == (1, True), done.err
    assert heads(str(home)) == []


def test_named_without_a_model(home: Path) -> None:
    done = rookery("new", "--agent", "rookery")
    assert (done.code, "Run: rookery setup" in done.err) == (1, True)


def test_the_environment_names_a_model(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_MODEL", "ollama/env")
    assert "demo agent" in rookery("new").err
    done = rookery("new", "--override-with-envs")
    assert "model ollama/env" in done.err
    assert agent(home) == "rookery"
    session = heads(str(home))[0]["id"]
    kept = json.loads((home / "sessions" / session / "env.json").read_text())["environment"]
    assert kept[OVERRIDE] == "1"
    assert not (home / profiles.FILE).exists()
    monkeypatch.setenv("LLM_MODEL", "anthropic/x")
    monkeypatch.delenv("LLM_API_KEY", raising=False)
    refused = rookery("new", "--override-with-envs")
    assert (refused.code, "LLM_API_KEY" in refused.err) == (1, True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, False),
        ("{}", False),
        ('{"profiles": {}}', False),
        ('{"profiles": {"a": {"model": "x"}}}', True),
        ('{"llm": {"model": "x"}}', True),
        ("broken", True),  # somebody wanted one: the agent says what is wrong
    ],
)
def test_a_glance_at_the_file(tmp_path: Path, text: str | None, found: bool) -> None:
    if text is not None:
        (tmp_path / profiles.FILE).write_text(text)
    assert has_model(str(tmp_path)) is found
    assert default_agent(str(tmp_path), "", {}) == ("rookery" if found else "demo")
    assert default_agent(str(tmp_path), "claude", {}) == "claude"


def test_the_file_has_one_name() -> None:
    assert profiles.FILE == profiles.FILE


def test_its_extra_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    own = registry.resolve("rookery", {})
    assert own.argv == [sys.executable, "-P", "-m", "rookery", "agent"]
    registry.check_installed(own, {}, "/")
    assert registry.lacks_module(own) == ""
    entry = registry.AGENTS["rookery"]._replace(module="openhands.not_there")
    monkeypatch.setattr(registry, "AGENTS", {"rookery": entry})
    with pytest.raises(NotInstalled) as caught:
        registry.check_installed(own, {}, "/")
    assert str(caught.value).endswith(f"To install it: {extra_line('agent')}")
    # A person's own agent of that name has nothing to do with it.
    registry.check_installed(Agent("rookery", ["sh"]), {"PATH": "/bin:/usr/bin"}, "/")


@pytest.mark.long
def test_agents_and_doctor_know_it(home: Path) -> None:
    row = next(each for each in rookery("agents", "--json").events if each["name"] == "rookery")
    assert (row["installed"], row["needs"], row["version"] is not None) == (
        True,
        "rookery setup",
        True,
    )
    assert "no model yet: rookery setup" in rookery("agents").out
    doctor = rookery("doctor")
    assert "no model for Rookery's own agent" in doctor.out
    assert doctor.code == 0
    save(home, "ollama/bird")
    assert "no model yet" not in rookery("agents").out
    assert "ollama/bird (bird)" in rookery("doctor").out
    save(home, "x/y")
    doctor = rookery("doctor")
    assert (doctor.code, "rookery setup --name y" in doctor.out) == (1, True)


# ---------------------------------------------------------------- the first five minutes

KEY = "sk-made-up-but-secret-1234"


def holding(home: Path, words: str) -> set[str]:
    """The files below a home that hold these words."""
    files = (path for path in home.rglob("*") if path.is_file())
    return {path.name for path in files if words.encode() in path.read_bytes()}


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_walkthrough_without_an_account(home: Path, tmp_path: Path) -> None:
    """README: `rookery model demo`, the line that it prints, a run. The key gets nowhere else."""
    with subprocess.Popen([*ROOKERY, "model", "demo"], stdout=subprocess.PIPE, text=True) as model:
        try:
            assert model.stdout is not None
            line = next(line for line in model.stdout if line.strip().startswith("rookery setup"))
            done = rookery(*line.split()[1:], "--key", KEY)
            assert done.code == 0, done.err
            run = subprocess.run(
                [*ROOKERY, "run", "--cwd", str(tmp_path), "Count the birds"],
                capture_output=True,
                check=False,
                text=True,
                timeout=500,
            )
        finally:
            model.terminate()
    assert run.returncode == 0, run.stdout + run.stderr
    assert "model openai/scripted (scripted)" in " ".join(run.stderr.split())
    assert "Done: your task is in rookery-demo.md" in run.stdout
    assert "Count the birds" in (tmp_path / "rookery-demo.md").read_text()
    assert agent(home) == "rookery"
    assert holding(home, KEY) == {profiles.FILE}
    assert KEY not in run.stdout + run.stderr
