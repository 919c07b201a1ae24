"""Logging in to an agent from the page: the form, what it says of each method, and the prompt that
waited."""

import html
import json
import re
import sys
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from rookery.client.login import servers as logins
from tests.cli.driving import Running, rookery
from tests.daemon.served import Served
from tests.rigs.oauth_server import OAuthServer
from tests.worker.aviary import trust

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
    trust(served.home)  # agents of the test before may still run: it would be taken for theirs
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


SERVERS = "/api/setup/forms/servers"


def add_servers(served: Served, **servers: dict[str, str]) -> None:
    for name, values in servers.items():
        body = {"values": {"name": name, **values}, "confirm": True}
        saved = served.ask("PATCH", SERVERS, body).json()
        assert saved["done"] is True, saved


def test_only_an_mcp_server_with_an_address_has_a_login(served: Served) -> None:
    far, near = {"kind": "http", "url": "https://example.com/mcp"}, {"kind": "stdio"}
    add_servers(served, far=far, near={**near, "command": "nosuch"})
    listed = served.ask("GET", "/settings/servers", Accept="text/html").body.decode()
    assert "/settings/servers/login?name=far" in listed
    assert "/settings/servers/login?name=near" not in listed
    for name in ("near", "nobody"):
        assert served.ask("GET", f"/settings/servers/login?name={name}").status == 404


@pytest.mark.long
def test_an_mcp_server_is_logged_in_to_from_another_machines_browser(served: Served) -> None:
    """The last page of the browser cannot reach the process that waits: its address is pasted."""
    server = OAuthServer()
    try:
        add_servers(served, aviary={"kind": "http", "url": server.url})
        form = "/api/setup/forms/server_login?name=aviary"
        begun = served.ask("PATCH", form, {"values": {}}).json()
        assert (begun["done"], begun["words"]) == (True, "Open the address to log in."), begun
        page = served.ask("GET", "/settings/servers/login?name=aviary", Accept="text/html")
        (address,) = re.findall(r'rel="noopener noreferrer" href="([^"]+)"', page.body.decode())
        asked = dict(parse_qsl(urlsplit(html.unescape(address)).query))
        wrong = served.ask("PATCH", form, {"values": {"page": "http://127.0.0.1:1/x?code=1"}})
        assert "must begin with http://127.0.0.1:" in wrong.json()["wrong"]["page"]
        last = server.authorize(asked)
        assert last is not None
        done = served.ask("PATCH", form, {"values": {"page": last}}).json()
        assert (done["done"], done["words"]) == (True, "Logged in to aviary."), done
        assert logins.is_logged_in(served.home, server.url)
    finally:
        server.close()
