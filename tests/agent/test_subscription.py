"""I17.3: a model that is paid by a subscription, logged in against a stand-in for
OpenAI's server."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from joserfc import jwk, jwt

from rookery.agent.scripted.server import ScriptedModel
from rookery.models import profiles, subscriptions
from tests.acp.driving import Agent, Json
from tests.agent.conftest import surroundings
from tests.agent.driving import allow_all, run, stop_reason
from tests.cli.driving import rookery

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
        self.url = ""

    def answer(self, path: str, body: str) -> tuple[int, Json]:
        self.asked.append((path, body))
        polls = [each for each, _ in self.asked].count("/api/accounts/deviceauth/token")
        match path:
            case "/.well-known/jwks.json":
                return 200, jwk.KeySet([KEY]).as_dict(private=False)
            case "/api/accounts/deviceauth/usercode":
                return 200, {"user_code": "ABCD-1234", "device_auth_id": "d", "interval": "1"}
            case "/api/accounts/deviceauth/token" if polls > 1:
                return 200, {"authorization_code": "code-1", "code_verifier": "v"}
            case "/oauth/token" if self.valid:
                made = {"access_token": token(len(self.asked)), "refresh_token": REFRESH}
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
async def test_I17_3_a_log_in_with_a_code_and_a_turn_with_its_token(
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


async def test_I17_3_tokens_are_masked_renewed_and_forgotten(
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


async def test_I17_3_a_login_needs_consent_and_a_free_name(kept: Path) -> None:
    asked = rookery("setup", "login")
    assert asked.code == 2
    assert "pass --yes to agree to the terms" in asked.err
    assert "https://openai.com/policies/terms-of-use/" in asked.err
    taken = rookery("setup", "login", "--yes", "--name", "first")
    assert "first is a saved model with a key: pass another --name." in taken.err
    assert rookery("setup", "logout").out == "You were not logged in.\n"
    assert not kept.exists()
