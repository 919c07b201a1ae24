"""Logging in to an agent from the page: the form, what it says of each method, and the prompt that
waited."""

import json
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.cli.driving import Running, rookery
from tests.daemon.served import Served

PROGRAM = [sys.executable, "-P", str(Path(__file__).parents[1] / "rigs" / "login_agent.py")]
FORM = "/api/setup/forms/login"


@pytest.fixture
def state(served: Served, tmp_path: Path) -> Path:
    """Of the agents `nest` and `hollow`, which asks to open a page."""
    words = {"nest": "pushes", "hollow": "link"}
    lines = [
        f"[agents.{name}]\ncommand = {json.dumps([*PROGRAM, str(tmp_path / name), word])}\n"
        for name, word in words.items()
    ]
    (Path(served.home) / "config.toml").write_text("".join(lines))
    return tmp_path


def save(served: Served, name: str, **values: str) -> dict[str, object]:
    body = json.dumps({"values": values}).encode()
    answer = served.ask(
        "PATCH", f"{FORM}?name={name}", body, **{"Content-Type": "application/json"}
    )
    assert answer.status == 200, answer.body
    return dict(json.loads(answer.body))


def test_a_button_logs_in_and_the_prompt_goes_on(served: Served, state: Path) -> None:
    done = rookery("run", "--agent", "nest", "--json", "hello")
    session = str(done.events[0]["update"]["id"])
    shown = served.ask("GET", f"/sessions/{session}", Accept="text/html").body.decode()
    assert "&quot;window&quot;: &quot;login&quot;, &quot;agent&quot;: &quot;nest&quot;" in shown
    new = served.ask("GET", "/new", Accept="text/html").body.decode()
    assert "nest (not logged in)" in new
    page = f"/settings/agents/login?name=nest&session={quote(session)}"
    form = served.ask("GET", page, Accept="text/html").body.decode()
    assert "Log in to nest" in form
    assert f'data-back="/sessions/{session}"' in form
    terminal = save(served, "nest", method="tty")
    assert terminal["done"] is False
    assert "rookery agents login nest --method tty" in str(terminal["words"])
    assert save(served, "nest", method="browser")["words"] == "Logged in to nest."
    with Running("tail", session) as tail:
        tail.read_until("Tweet: hello")
        tail.signal()
    calls = (state / "nest.calls").read_text()
    assert calls.count("prompt hello") == 1


@pytest.mark.usefixtures("state")
def test_a_page_to_open_is_told(served: Served) -> None:
    unknown = served.ask("GET", "/settings/agents/login?name=hollow", Accept="text/html")
    assert b"List its methods" in unknown.body  # looking starts nothing
    assert save(served, "hollow")["words"] == "Choose how to log in."
    said = save(served, "hollow", method="browser")
    assert "Code: 42 https://nest.example/device" in str(said["words"])
    assert served.ask("GET", f"{FORM}?name=eggs").status == 404
