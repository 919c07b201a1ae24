"""The call that tests a model: to each kind of server, and what is made of its answer."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from rookery.agent.scripted.server import serving
from rookery.models.probe import is_direct, models_at, of_status, probe
from rookery.models.profiles import Profile
from rookery.models.secrets import Secret

KEY = "sk-very-secret-1234"


class Provider(BaseHTTPRequestHandler):
    """Answers by path, and keeps what came."""

    answers: ClassVar[dict[str, tuple[int, Any]]] = {}
    heard: ClassVar[list[tuple[str, dict[str, str], dict[str, Any]]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.heard.append((self.path, headers, body))
        status, answer = self.answers.get(self.path, (404, {}))
        data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        if status in (301, 307):
            self.send_header("location", answer["to"])
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def provider(answers: dict[str, tuple[int, Any]]) -> Iterator[tuple[str, type[Provider]]]:
    kind = type("Kind", (Provider,), {"answers": answers, "heard": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", kind
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def model(name: str, url: str = "", key: str = KEY) -> Profile:
    return Profile("p", name, Secret(key), url, None, {})


@pytest.mark.parametrize("ending", ["", "/v1", "/"])
def test_anthropics_api(ending: str) -> None:
    with provider({"/v1/messages": (200, {"type": "message"})}) as (url, kind):
        assert probe(model("anthropic/claude-x", url + ending)).ok
    ((_, headers, body),) = kind.heard
    assert headers["x-api-key"] == KEY
    assert headers["anthropic-version"]
    assert (body["model"], body["max_tokens"]) == ("claude-x", 16)


def test_anthropics_refusal_tells_no_key() -> None:
    error = {"type": "error", "error": {"type": "authentication_error", "message": f"bad {KEY}"}}
    with provider({"/v1/messages": (401, error)}) as (url, _):
        verdict = probe(model("anthropic/claude-x", url))
    assert verdict.kind == "auth"
    assert KEY not in verdict.message
    assert "[redacted]" in verdict.message


def test_a_model_of_the_newer_api_alone() -> None:
    words = "This model is only supported in v1/responses and not in v1/chat/completions."
    answers = {
        "/v1/chat/completions": (404, {"error": {"message": words}}),
        "/v1/responses": (200, {"object": "response"}),
    }
    with provider(answers) as (url, kind):
        assert probe(model("openai/gpt-x", f"{url}/v1")).ok
    assert [path for path, _, _ in kind.heard] == list(answers)


def test_who_moved_gets_no_key() -> None:
    with provider({}) as (other, elsewhere):
        moved = {"/v1/chat/completions": (307, {"to": f"{other}/v1/chat/completions"})}
        with provider(moved) as (url, _):
            assert not probe(model("openai/x", f"{url}/v1")).ok
    assert elsewhere.heard == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((200, "<html>Welcome</html>"), "provider"),
        ((200, [1]), "provider"),
        ((502, "<html>Bad gateway</html>"), "provider"),
        ((400, {"error": {"message": "Unknown model: x"}}), "model"),
        ((400, [{"error": {"message": "API key not valid", "code": 400}}]), "provider"),
        ((402, {"error": "Insufficient credits"}), "rate_limit"),
    ],
)
def test_odd_answers(answer: tuple[int, Any], kind: str) -> None:
    with provider({"/v1/chat/completions": answer}) as (url, _):
        verdict = probe(model("openai/x", f"{url}/v1"))
    assert verdict.kind == kind, verdict
    assert "<html>" not in verdict.message


def test_silence_is_the_networks() -> None:
    with serving({"aside": {"hang": True}}) as it:
        verdict = probe(model("openai/x", it.url), within=0.5)
    assert (verdict.kind, "in time" in verdict.message) == ("network", True)


def test_ollama_is_asked_in_openais_shape() -> None:
    with serving(["x"]) as it:
        assert probe(model("ollama_chat/bird", it.url.removesuffix("/v1"))).ok
        assert it.asked[0].body["model"] == "bird"


def test_models_that_a_server_lists() -> None:
    with serving({"models": ["a", "b"]}) as it:
        assert models_at(it.url, KEY) == ["a", "b"]
        url = it.url
    assert models_at(url, KEY) == []
    assert models_at("nonsense", KEY) == []


def test_who_needs_the_agents_library() -> None:
    direct = ["anthropic/x", "openai/x", "gemini/x", "mistral/x", "deepseek/x", "openhands/x"]
    assert all(is_direct(model(name)) for name in direct)
    assert not is_direct(model("bedrock/x"))


@pytest.mark.long
def test_the_agents_library_is_asked_in_its_own_process() -> None:
    with serving({"aside": {"error": "auth"}}) as it:
        asked = model("together_ai/x", it.url)
        verdict = probe(asked)
        assert [each.key for each in it.asked] == [KEY]
    assert verdict.kind == "auth", verdict
    assert KEY not in verdict.message


def test_long_words_are_cut() -> None:
    words = of_status(500, "x" * 5000, "", "m", "host").message
    assert len(words) < 400
