"""The agent where it lives most: under a worker, driven by the command line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.log.reader import Reader
from tests.agent.conftest import surroundings, write_settings
from tests.agent.driving import edit

ROOKERY = [sys.executable, "-P", "-m", "rookery"]


def said(home: Path, cwd: Path, *words: str, code: int = 0, **environment: str) -> str:
    (home / "person").mkdir(exist_ok=True)
    done = subprocess.run(
        [*ROOKERY, *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=surroundings(home, NO_COLOR="1", **environment),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_run_and_what_follows(home: Path, tmp_path: Path, model: ScriptedModel) -> None:
    """A command line, a worker, the agent, a model: an edit is asked for and done; the next prompt
    goes on in the same conversation; a rate limit is told as one (row T11)."""
    write_settings(home, model)
    play = json.dumps({"play": [edit(tmp_path / "a.txt", "new\n"), {"text": "It is written."}]})
    told = said(home, tmp_path, "run", "--agent", "rookery", play)
    assert "wants to edit a.txt" in told
    assert "It is written." in told
    assert (tmp_path / "a.txt").read_text() == "new\n"
    [session] = os.listdir(home / "sessions")
    with Reader.open(str(home / "sessions" / session)) as log:
        [ask] = [event.update for event in log.read(0, 1000) if "toolCall" in event.update]
    does = [(item["what"], item["text"]) for item in ask["does"]]
    assert does == [("path", str(tmp_path / "a.txt"))]  # P12; its change is in the call
    told = said(home, tmp_path, "prompt", "--wait", session, "are you there?")
    assert "You said: are you there?" in told
    assert play[:20] in str(model.asked[-1].body["messages"])
    limited = {"play": [{"error": {"status": "rate_limit", "retry_after": 3600}}]}
    told = said(home, tmp_path, "prompt", "--wait", session, json.dumps(limited), code=4)
    assert "limit" in told.lower()
    [kept] = os.listdir(home / "conversations")
    assert "You said: are you there?" in said(home, tmp_path, "show", "--all", session)
    assert "sk-scripted-key" not in "".join(
        path.read_text(errors="replace") for path in (home / "conversations" / kept).rglob("*.json")
    )


@pytest.mark.long
def test_overrides_are_never_saved_and_missed_after_a_death(
    home: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    """Settings: in the session's worker alone. One that is started without them says what it lacks,
    and does not go on with the saved model; with them it goes on where it was."""
    write_settings(home, model)
    key = "sk-of-the-environment"
    given = {"LLM_API_KEY": key, "LLM_MODEL": "openai/over"}
    said(home, tmp_path, "run", "--override-with-envs", "--agent", "rookery", "hello", **given)
    assert (model.asked[-1].body["model"], model.asked[-1].key) == ("over", key)
    [session] = os.listdir(home / "sessions")
    said(home, tmp_path, "prompt", "--wait", session, "awake")
    assert (model.asked[-1].body["model"], model.asked[-1].key) == ("over", key)
    files = [path for path in home.rglob("*") if path.is_file()]
    assert not [path for path in files if key.encode() in path.read_bytes()]
    worker = json.loads((home / "sessions" / session / "worker.json").read_text())["pid"]
    os.kill(worker, signal.SIGKILL)
    count = len(model.asked)
    told = said(home, tmp_path, "prompt", "--wait", session, "are you there?", code=1)
    assert "made with --override-with-envs and LLM_MODEL and LLM_API_KEY" in told
    assert "rookery stop SESSION" in told
    assert "Log in" not in told
    assert len(model.asked) == count, "nobody was asked, least of all the saved model"
    said(home, tmp_path, "stop", session)
    told = said(home, tmp_path, "prompt", "--wait", session, "and now?", **given)
    assert "You said: and now?" in told
    assert (model.asked[-1].body["model"], model.asked[-1].key) == ("over", key)
    assert "awake" in str(model.asked[-1].body["messages"])
