"""An agent that is started anew from the terminal interface has this terminal's environment."""

import asyncio
import json
from pathlib import Path

import pytest

from rookery.client.session import SessionClient
from rookery.home import paths
from tests.cli.driving import ROOKERY, rookery
from tests.cli.test_login import KEY, command, config, made
from tests.tui.tmux import Tmux


def test_a_prompt_after_a_login_takes_the_terminals_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(f"[agents.work]\ncommand = {json.dumps(command('claude-agent-acp', KEY))}\n")
    session, first = made("work", "env PATH")
    assert first.code == 1
    monkeypatch.setenv(KEY, "s3cret")
    with Tmux(home, *ROOKERY, "--resume", session, size=(100, 40)) as screen:
        screen.wait_for("Authentication required")
        screen.say(f"env {KEY}")
        screen.wait_for("your terminal's environment", "s3cret")


@pytest.mark.parametrize("do", ["restart", "switch"])
def test_only_restart_and_switch_take_the_terminals_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, do: str
) -> None:
    session = rookery("new").out.strip()
    directory = Path(paths.session_dir(str(home), session))
    monkeypatch.setenv(KEY, "s3cret")

    async def handed(**given: str) -> str:
        with SessionClient(str(home), session, "terminal") as client:
            return await client.renew(dict(given))

    def kept() -> str | None:
        saved = paths.read_json(str(directory / paths.ENVIRONMENT)) or {}
        return saved["environment"].get(KEY)

    for other in ("cancel", "prompt", "stop"):
        assert not asyncio.run(handed(do=other))
    assert kept() is None
    assert KEY in asyncio.run(handed(do=do, agent="demo"))
    assert kept() == "s3cret"
    told = paths.read_json(str(directory / paths.RENEWED))
    assert KEY in json.dumps(told)
    assert "s3cret" not in json.dumps(told)
