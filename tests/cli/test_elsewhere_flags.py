"""--remote and --cloud: Rookery's own agent on another machine, from `run`, `acp` and `rookery`."""

import json
import subprocess
from pathlib import Path

import pytest

from rookery.agent.elsewhere import keys
from rookery.agents.elsewhere import CLOUD, own_agent
from rookery.core.header import Header
from rookery.log.reader import Reader
from rookery.models import profiles
from rookery.models.profiles import Profile, Settings
from tests.agent.elsewhere.stand_in import KEY, StandIn, say
from tests.cli.driving import ROOKERY, rookery

URL = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def model(home: Path) -> None:
    profiles.save(str(home), Settings().with_profile(Profile("bird", "ollama/bird")))


def header(home: Path, session: str) -> Header:
    with Reader.open(str(home / "sessions" / session)) as log:
        return log.header()


def test_a_session_is_made_with_the_agent_that_runs_there(home: Path) -> None:
    done = rookery("new", "--remote", f"{URL}/")
    assert done.code == 0, done.err
    assert f"agent server {URL}" in done.err
    found = header(home, done.out.strip())
    assert (found.agent, found.argv[-2:]) == ("rookery", ["--remote", URL])


def test_the_cloud_needs_a_login_and_says_which(home: Path) -> None:
    for line in (["run", "--cloud", "x"], ["--cloud"], ["--headless", "--cloud", "-t", "x"]):
        done = rookery(*line)
        assert done.code == 1, done
        assert "To log in: rookery agents add cloud --cloud" in " ".join(done.err.split())
    assert not (home / "sessions").exists()
    keys.save(str(home), CLOUD, "key")
    done = rookery("new", "--cloud")
    assert header(home, done.out.strip()).argv[-1] == "--cloud"


@pytest.mark.long
def test_an_editor_gets_it_too(home: Path, tmp_path: Path) -> None:
    new = {"cwd": str(tmp_path), "mcpServers": []}
    line = [*ROOKERY, "acp", "--remote", URL]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as acp:
        assert acp.stdin is not None
        assert acp.stdout is not None
        for number, params in enumerate([{"protocolVersion": 1}, new]):
            method = "session/new" if number else "initialize"
            call = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            print(json.dumps(call), file=acp.stdin, flush=True)
            answer = json.loads(acp.stdout.readline())
        acp.stdin.close()
    assert f"agent server at {URL} does not respond" in answer["error"]["message"]


@pytest.mark.long
def test_a_turn_of_run_is_over_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_API_KEY", KEY)
    with StandIn().serving() as server:
        server.steps = [say("all well")]
        done = rookery("run", "--remote", server.url, "Hello")
    assert (done.code, done.out) == (0, "all well\n"), done.err


def test_neither_is_no_agent_and_both_are_one() -> None:
    assert own_agent(None, cloud=False) is None
    both = own_agent("https://cloud.example", cloud=True)
    assert both is not None
    assert both.argv[-3:] == ["--remote", "https://cloud.example", "--cloud"]
