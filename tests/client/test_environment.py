"""The environment that a command hands to a session: one way for every face."""

import json
import os
from pathlib import Path

import pytest

from rookery.client import environment
from rookery.client.environment import renew_before
from rookery.core.header import Header
from rookery.home import paths


@pytest.mark.parametrize(
    "command",
    [
        {"do": "switch", "agent": "rookery"},
        {"do": "switch", "agent": "mine", "argv": ["python", "-m", "rookery", "agent"]},
    ],
    ids=["by name", "by command"],
)
def test_switching_to_our_agent_stores_no_key_of_its_model(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: dict[str, object]
) -> None:
    """Also where another vendor's agent had the session until now."""
    directory = Path(paths.session_dir(str(home), "0123456789"))
    directory.mkdir(parents=True)
    environment.keep(str(directory), {"PATH": os.environ["PATH"]}, own=False)
    monkeypatch.setenv("LLM_API_KEY", "s3cret-key")
    header = Header({"id": "0123456789", "vendor": "claude"})
    renewal = renew_before(str(home), header, command)
    assert renewal is not None
    assert not renewal[1]
    saved = (directory / paths.ENVIRONMENT).read_text()
    assert "s3cret-key" not in saved
    assert json.loads(saved)["withheld"] == ["LLM_API_KEY"]
    told = json.loads((directory / paths.RENEWED).read_text())
    assert told["of"] == "terminal"


def test_only_a_new_start_changes_an_agents_environment(home: Path) -> None:
    for do in ("cancel", "answer", "set", "queue"):
        assert renew_before(str(home), Header({"id": "0123456789"}), {"do": do}) is None
