"""A model that is paid by a subscription, logged in against a stand-in for OpenAI's server."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from joserfc import jwk, jwt

from rookery.agent.scripted.server import ScriptedModel
from rookery.models import profiles, subscriptions
from rookery.processes import tree
from tests.acp.driving import Agent, Json
from tests.agent.conftest import surroundings
from tests.agent.driving import allow_all, run, stop_reason
from tests.cli.driving import Result, rookery

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = jwk.RSAKey.generate_key(2048)
REFRESH = "refresh-0123456789abcdef"


def token(number: int) -> str:
    claims = {"https://api.openai.com/auth": {"chatgpt_account_id": "acct-7"}, "n": number}
    return jwt.encode({"alg": "RS256"}, claims, KEY)


class Issuer:
    """What its server was asked, and for how long its tokens are good."""

    def __init__(self, expires: int = 3600) -> None:
        self.asked: list[tuple[str, str]] = []
        self.expires = expires
        self.valid = True
        self.pending = False
        """The user has not entered the code."""
        self.renewed, self.good = 0, REFRESH
        self.url = ""

    def answer(self, path: str, body: str) -> tuple[int, Json]:
        self.asked.append((path, body))
        polls = [each for each, _ in self.asked].count("/api/accounts/deviceauth/token")
        match path:
            case "/.well-known/jwks.json":
                return 200, jwk.KeySet([KEY]).as_dict(private=False)
            case "/api/accounts/deviceauth/usercode":
                return 200, {"user_code": "ABCD-1234", "device_auth_id": "d", "interval": "1"}
            case "/api/accounts/deviceauth/token" if polls > 1 and not self.pending:
                return 200, {"authorization_code": "code-1", "code_verifier": "v"}
            case "/oauth/token" if self.valid:
                used = parse_qs(body).get("refresh_token", [self.good])
                if used != [self.good]:
                    return 401, {}  # each is good for one renewal
                if "refresh_token" in parse_qs(body):
                    self.renewed += 1
                    self.good = f"{REFRESH}-{self.renewed}"
                made = {"access_token": token(len(self.asked)), "refresh_token": self.good}
                return 200, made | {"expires_in": self.expires}
        return 403, {}


@contextmanager
def issuing(expires: int = 3600) -> Iterator[Issuer]:
    issuer = Issuer(expires)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            status, found = issuer.answer(self.path, body)
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def kept(agent_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of the tokens; settings and file are as before after it."""
    for name, value in surroundings(agent_home).items():
        monkeypatch.setenv(name, value)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    place, kept = agent_home / "agent_settings.json", agent_home / "auth" / "openai_oauth.json"
    before = place.read_text()
    yield kept
    place.write_text(before)
    kept.unlink(missing_ok=True)


async def chosen(agent: Agent, cwd: Path) -> str:
    session = await agent.new(str(cwd))
    for option, value in (("model", "chatgpt"), ("mode", "always-approve")):
        params = {"sessionId": session, "configId": option, "value": value}
        assert isinstance(await agent.call("session/set_config_option", **params), dict)
    return session


@pytest.mark.long
async def test_a_login_by_code_and_a_turn_with_its_token(
    agent: Agent, kept: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """Without a browser. The tokens are private and masked."""
    with issuing() as issuer:
        where = ("--base-url", model.url, "--issuer", issuer.url, "--yes")
        done = rookery("setup", "login", "--model", "gpt-5.5", *where)
        assert done.code == 0, done.err
        assert "There is no browser on this machine" in done.err
        assert f"Open {issuer.url}/codex/device and enter the code ABCD-1234" in done.err
        assert done.out == "You are logged in. Saved chatgpt (openai/gpt-5.5).\n"
        assert [each.stat().st_mode & 0o777 for each in (kept, kept.parent)] == [0o600, 0o700]
        first = json.loads(kept.read_text())["access_token"]
        assert first not in done.out + done.err
        assert "chatgpt  openai/gpt-5.5" in rookery("setup", "list").out
        session = await chosen(agent, tmp_path)
        assert stop_reason(await agent.turn(session, "hi")) == "end_turn"
        assert model.asked[-1].key == first
    gone = ("--issuer", "http://127.0.0.1:9", "--device-code", "--yes", "--name", "sub")
    failed = rookery("setup", "login", *gone)
    assert failed.code == 1
    assert "You are not logged in. http://127.0.0.1:9 cannot be reached" in failed.err
    assert "Traceback" not in failed.err


async def test_tokens_are_masked_renewed_and_forgotten(
    agent: Agent, agent_home: Path, kept: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    """And where they cannot be renewed, or there are none, the user hears what to do."""
    with issuing() as issuer:
        made = subscriptions.profile_of("chatgpt", "gpt-5.5", model.url, issuer.url, None)
        profiles.change(str(agent_home), lambda now: now.with_profile(made))
        stale = {"type": "oauth", "vendor": "openai", "expires_at": 0}
        stale |= {"access_token": token(0), "refresh_token": REFRESH}
        kept.parent.mkdir(mode=0o700, exist_ok=True)
        kept.write_text(json.dumps(stale))
        kept.chmod(0o600)
        session = await chosen(agent, tmp_path)
        allow_all(agent)
        other = await chosen(agent, tmp_path)
        ids = {agent.prompt(each, "hi") for each in (session, other)}
        while ids:
            answer = await agent.until(lambda line: line.get("id") in ids and "method" not in line)
            assert stop_reason(answer) == "end_turn"
            ids.remove(answer["id"])
        assert issuer.renewed == 1, "once for both"
        await agent.turn(session, json.dumps({"play": [run(f"cat {kept} #"), "On"]}))
        updates, asked = agent.news(session), model.asked[-1]
        renewed = json.loads(kept.read_text())["access_token"]
        assert renewed != stale["access_token"]
        assert (asked.path, asked.key) == ("/v1/responses", renewed)
        assert asked.body["store"] is False
        assert "[redacted]" in json.dumps(asked.body)
        for secret in (renewed, REFRESH):
            assert secret not in json.dumps(updates)
            assert secret not in json.dumps(asked.body), "masked for the model, too"
        assert kept.stat().st_mode & 0o777 == 0o600

        issuer.valid = False
        kept.write_text(json.dumps(stale))
        failed = (await agent.turn(session, "On"))["error"]
        assert "Log in again: rookery setup login" in failed["message"]
        assert failed["data"]["errorKind"] == "auth"
    assert subscriptions.log_out(str(agent_home))
    other = await agent.new(str(tmp_path))
    params = {"sessionId": other, "configId": "model", "value": "chatgpt"}
    refused = await agent.answer(agent.ask("session/set_config_option", **params))
    assert "rookery setup login" in json.dumps(refused)


BROWSER = """#!{python}
import sys, urllib.error, urllib.parse, urllib.request
asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(sys.argv[1]).query))
said = {{"state": asked["state"], **{said}}}
place = asked["redirect_uri"] + "?" + urllib.parse.urlencode(said)
try:
    page = urllib.request.urlopen(place)
except urllib.error.HTTPError as error:
    page = error
with open({page!r}, "w") as file:
    file.write(page.read().decode())
"""
PORT = ("127.0.0.1", 1455)


@pytest.mark.long
async def test_a_login_in_a_browser(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which waits until it is closed. Agreed to, declined, with its port taken, and given up."""
    program, page = tmp_path / "browser", tmp_path / "page"
    for name, value in (("DISPLAY", ":9"), ("BROWSER", f"{program} %s")):
        monkeypatch.setenv(name, value)

    def logged_in(issuer: Issuer, **said: str) -> Result:
        text = BROWSER.format(python=sys.executable, said=said, page=str(page))
        program.write_text(text)
        program.chmod(0o755)
        where = ("--base-url", "http://127.0.0.1:9", "--issuer", issuer.url, "--yes")
        return rookery("setup", "login", "--model", "gpt-5.5", *where)

    with issuing() as issuer:
        with socket.create_server(PORT):
            taken = logged_in(issuer, code="code-1")
        assert taken.code == 1
        assert "You are not logged in. Port 1455 is in use" in taken.err
        assert "rookery setup login --device-code" in taken.err
        denied = logged_in(issuer, error="access_denied", error_description="<b>No</b>")
        assert denied.code == 1
        assert "You are not logged in. <b>No</b>" in denied.err
        assert "You are not logged in</h1><p>&lt;b&gt;No" in page.read_text()
        strange = logged_in(issuer, code="code-1", state="of another")
        assert "belongs to another login" in strange.err
        assert not kept.exists()
        done = logged_in(issuer, code="code-1")
        assert (done.code, done.out) == (0, "You are logged in. Saved chatgpt (openai/gpt-5.5).\n")
        assert f"If it does not, open: {issuer.url}/oauth/authorize?" in done.err
        assert "go back to Rookery" in page.read_text()
        assert "Traceback" not in taken.err + denied.err + strange.err + done.err
        assert kept.stat().st_mode & 0o777 == 0o600
        assert rookery("setup", "logout").code == 0
        assert not kept.exists()


@pytest.mark.long
async def test_a_login_can_be_given_up(agent_home: Path, kept: Path) -> None:
    """With Ctrl-C: no traceback, nothing kept, and nobody waits for the code any longer."""
    with issuing() as issuer, pseudo_terminal() as (ours, theirs):
        issuer.pending = True
        argv = [sys.executable, "-P", "-m", "rookery", "setup", "login", "--issuer", issuer.url]
        child = subprocess.Popen(  # noqa: ASYNC220 (on a terminal)
            [*argv, "--yes"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        said = b""
        while b"ABCD-1234" not in said:
            said += os.read(ours, 4096)
        [waiting] = tree.descendants(child.pid)
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait(60) == 130
        assert not tree.wait_gone([waiting], 30.0)
        os.set_blocking(ours, False)
        with suppress(BlockingIOError):
            said += os.read(ours, 65536)
        assert b"Traceback" not in said
        assert not kept.exists()


@contextmanager
def pseudo_terminal() -> Iterator[tuple[int, int]]:
    ends = os.openpty()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


async def test_a_login_needs_consent_and_an_unused_name(kept: Path) -> None:
    asked = rookery("setup", "login")
    assert asked.code == 2
    assert "pass --yes to agree to the terms" in asked.err
    assert "https://openai.com/policies/terms-of-use/" in asked.err
    taken = rookery("setup", "login", "--yes", "--name", "first")
    assert "first is a saved model with a key: pass another --name." in taken.err
    assert rookery("setup", "logout").out == "You were not logged in.\n"
    assert not kept.exists()
