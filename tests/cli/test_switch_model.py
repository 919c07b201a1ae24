"""`switch-agent --model` with a model that is not there is said, and the exit code is not 0."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.driving import made, rookery
from tests.rigs.player import player

pytestmark = pytest.mark.usefixtures("home")

LEGACY = {
    "models": {
        "currentModelId": "small",
        "availableModels": [
            {"modelId": "small", "name": "Small"},
            {"modelId": "big", "name": "Big one"},
        ],
    }
}
OPTION = {
    "configOptions": [
        {
            "id": "model",
            "name": "Model",
            "category": "model",
            "type": "select",
            "currentValue": "small",
            "options": [{"value": "small", "name": "Small"}, {"value": "big", "name": "Big one"}],
        }
    ]
}


def agent(home: Path, **of_agent: Any) -> str:
    script = home / "jay.json"
    script.write_text(json.dumps({"agent": of_agent}))
    argv = player(str(script), "--state", str(home / "jay"))
    (home / "config.toml").write_text(f"[agents.jay]\ncommand = {json.dumps(argv)}\n")
    return "jay"


def header(session: str) -> dict[str, Any]:
    return dict(json.loads(rookery("show", session, "--json").out)["header"])


@pytest.mark.long
@pytest.mark.parametrize("offers", [LEGACY, OPTION], ids=["models", "option"])
@pytest.mark.parametrize("sleeps", [False, True], ids=["awake", "asleep"])
def test_a_missing_model_fails_the_switch(home: Path, offers: dict[str, Any], sleeps: bool) -> None:
    jay = agent(home, **offers)
    session = made({"text": "hi"})
    if sleeps:
        rookery("stop", session)
    done = rookery("switch-agent", session, jay, "--model", "huge")
    assert done.code == 1
    assert "demo → jay." in done.err
    assert "jay has no model 'huge'. It has: small, big. It continues with small." in done.err
    assert header(session)["model"] == "small"
    said = rookery("show", session).out  # in the session, for every face
    assert "jay has no model 'huge'" in said
    assert json.loads(rookery("ps", "--json").out)["awake"] is not sleeps


@pytest.mark.long
@pytest.mark.parametrize("name", ["big", "Big One"])
def test_an_existing_model_is_switched_to(home: Path, name: str) -> None:
    jay = agent(home, **OPTION)
    session = made({"text": "hi"})
    done = rookery("switch-agent", session, jay, "--model", name)
    assert (done.code, "The model is big." in done.err) == (0, True)
    assert header(session)["model"] == "big"
    assert "no model" not in rookery("show", session).out


@pytest.mark.long
def test_switching_reports_an_agent_without_models_or_that_does_not_start(home: Path) -> None:
    jay = agent(home)
    session = made({"text": "hi"})
    done = rookery("switch-agent", session, jay, "--model", "big")
    assert (done.code, "jay has no option model" in done.err) == (1, True)
    agent(home, authRequired=True, authMethods=[{"id": "x", "name": "X"}])
    rookery("switch-agent", session, "demo")
    barred = rookery("switch-agent", session, jay, "--model", "big")
    assert (barred.code, "The agent did not start" in barred.err) == (1, True)


@pytest.mark.long
def test_our_agents_saved_models_are_known_before_it_starts(home: Path) -> None:
    saved = {"default": "work", "profiles": {"work": {"model": "openai/x", "api_key": "k"}}}
    session = made({"text": "hi"})
    (home / "agent_settings.json").write_text(json.dumps(saved))
    before = rookery("show", session, "--all", "--events").out
    done = rookery("switch-agent", session, "rookery", "--model", "huge")
    assert done.code == 2
    assert "there is no model 'huge'. Saved models: work." in done.err
    assert rookery("show", session, "--all", "--events").out == before


def test_a_missing_model_chosen_ahead_is_reported_at_the_start(home: Path) -> None:
    jay = agent(home, **OPTION)
    session = rookery("new", "--agent", jay).out.strip()
    assert rookery("set", session, "model", "huge").code == 0
    done = rookery("prompt", session, "--wait", "hello")
    assert done.code == 0
    assert "jay has no model 'huge'" in rookery("show", session, "--all").out


def test_run_takes_a_model_and_new_keeps_a_mode(home: Path) -> None:
    jay = agent(home, **OPTION)
    assert "hi" in rookery("run", "--agent", jay, "--model", "Big one", "hi").out
    session = json.loads(rookery("ps", "--json").out.splitlines()[0])["id"]
    assert header(session)["model"] == "big"
    new = rookery("new", "--agent", jay, "--model", "big", "--mode", "plan").out.strip()
    assert header(new)["wanted"] == {"model": "big", "mode": "plan"}


def test_an_unsaved_model_creates_no_session(home: Path) -> None:
    saved = {"default": "small", "profiles": {"small": {"model": "openai/x", "api_key": "k"}}}
    (home / "agent_settings.json").write_text(json.dumps(saved))
    done = rookery("run", "--agent", "rookery", "--model", "big", "hi")
    assert (done.code, "Saved models: small." in done.err) == (2, True)
    assert not rookery("ps").out
