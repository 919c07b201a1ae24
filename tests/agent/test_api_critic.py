"""The API's critic, asked for real: the SDK's own client, over HTTP, through a proxy of the
environment's that stands for the name of OpenHands' proxy and leads to loopback."""

import asyncio
import http.client
import json
import os
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from openhands.sdk.critic.impl.api import APIBasedCritic, chat_template

from rookery.agent.scripted.server import ScriptedModel
from rookery.log.reader import Reader
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, keep_cold, profiles_of, surroundings
from tests.agent.driving import stop_reason, words
from tests.agent.test_under_worker import ROOKERY

pytestmark = pytest.mark.asyncio(loop_scope="session")

BASE = "http://llm-proxy.nest.all-hands.dev"
KEY = "sk-of-the-proxy"
LIKELY = {"success": 0.42, "insufficient_testing": 0.9, "correction": 0.5}
LIKELY |= {"infrastructure_external_issue": 0.8, "scope_creep": 0.1}
TEMPLATE = "{% for each in messages %}[{{ each.role }}] {{ each.content }}\n{% endfor %}"
ISSUES = [
    ("agent_behavioral_issues", "Insufficient Testing", 0.9, "behavioural"),
    ("user_followup_patterns", "Correction", 0.5, "user"),
    ("infrastructure_issues", "Infrastructure External Issue", 0.8, "infrastructure"),
]


class Crossing(ThreadingHTTPServer):
    """An HTTP proxy: the critic's path is answered here, any other by the scripted model."""

    daemon_threads = True

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), Crosser)
        self.model = model
        self.asked: list[tuple[str, str, Json]] = []
        """What the critic was asked: where, with which key, what."""
        self.status = 200
        """Of its answer; 0: it hangs up."""
        self.waits: threading.Event | None = None
        self.called = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Crosser(BaseHTTPRequestHandler):
    server: Crossing

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        where = urlsplit(self.path)
        assert where.netloc == urlsplit(BASE).netloc, self.path
        if where.path == "/vllm/classify":
            key = self.headers["Authorization"]
            self.server.asked.append((self.path, key, json.loads(data)))
            self.server.called.set()
            if self.server.waits is not None:
                self.server.waits.wait(60)
            if not self.server.status:
                self.close_connection = True
                return
            self.tell(self.server.status, json.dumps(classified()).encode())
            return
        there = http.client.HTTPConnection("127.0.0.1", self.server.model.port)
        there.request("POST", where.path, data, {"Authorization": self.headers["Authorization"]})
        answer = there.getresponse()
        self.tell(answer.status, answer.read(), answer.headers["Content-Type"])

    def tell(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Tests are silent."""


def classified() -> Json:
    labels = APIBasedCritic(api_key="x").all_labels
    probs = [LIKELY.get(label, 0.0) for label in labels]
    return {"object": "list", "data": [{"index": 0, "probs": probs, "num_classes": len(probs)}]}


@contextmanager
def crossing(model: ScriptedModel) -> Iterator[Crossing]:
    server = Crossing(model)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def set_up(home: Path, model: ScriptedModel) -> Path:
    """A model at OpenHands' proxy, and what the SDK otherwise fetches to write for the critic."""
    profile = profiles_of(model)["first"] | {"api_key": KEY, "base_url": f"{BASE}/v1"}
    document = {"version": 1, "default": "nest", "profiles": {"nest": profile}}
    (home / "agent_settings.json").write_text(json.dumps(document))
    keep_cold(home)
    (home / "person").mkdir()
    folder = home / "sdk" / "chat_templates"
    folder.mkdir(parents=True)
    name = chat_template._get_cache_path(APIBasedCritic(api_key="x").tokenizer_name).name
    (folder / name).write_text(json.dumps({"chat_template": TEMPLATE}))
    return folder / name


def environment(home: Path, proxy: str) -> dict[str, str]:
    """Without what else this machine says of proxies."""
    found = surroundings(home, NO_COLOR="1")
    kept = {name: value for name, value in found.items() if not name.lower().endswith("_proxy")}
    return kept | {"HTTP_PROXY": proxy, "http_proxy": proxy}


@pytest.fixture
def proxy(model: ScriptedModel) -> Iterator[Crossing]:
    with crossing(model) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="session")
async def judged(home: Path, model: ScriptedModel, proxy: Crossing) -> AsyncIterator[Agent]:
    set_up(home, model)
    agent = await Agent.start(ARGV, environment=environment(home, proxy.url))
    await agent.call("initialize", protocolVersion=1, clientCapabilities={})
    yield agent
    await agent.kill()


def issues_in(critic: Json) -> list[tuple[Any, ...]]:
    keys = ("category", "name", "probability", "kind")
    return [tuple(issue.get(key) for key in keys) for issue in critic["issues"]]


@pytest.mark.long
async def test_the_api_critic_from_its_request_to_the_answer(
    judged: Agent, proxy: Crossing, tmp_path: Path
) -> None:
    """Score and issues by category in `_meta`. Then it fails: the turn ends as ever, nothing is
    said of it, and it is left alone for a while. Then a cancel, and a prompt, that come while it
    is at work: nobody waits for it."""
    session = await judged.new(str(tmp_path))
    answer = await judged.turn(session, [{"text": "All done."}])
    assert stop_reason(answer) == "end_turn"
    critic = answer["result"]["_meta"]["rookery"]["critic"]
    assert (critic["score"], critic["source"]) == (0.42, "api")
    assert issues_in(critic) == ISSUES
    [(place, key, body)] = proxy.asked
    assert (place, key) == (f"{BASE}/vllm/classify", f"Bearer {KEY}")
    assert body["model"] == "critic"
    assert "[user]" in body["input"]
    assert "[assistant] All done." in body["input"]
    assert KEY not in str(judged.raw)

    proxy.waits = threading.Event()
    proxy.called.clear()
    id = judged.prompt(session, [{"text": "Again."}])
    await judged.until(lambda line: "Again." in str(line))
    assert await asyncio.to_thread(proxy.called.wait, 60)
    judged.notify("session/cancel", sessionId=session)
    assert (await judged.answer(id))["result"]["stopReason"] == "cancelled"

    proxy.called.clear()
    id = judged.prompt(session, [{"text": "Once more."}])
    assert await asyncio.to_thread(proxy.called.wait, 60)
    other = judged.prompt(session, [{"text": "The next."}])
    assert (await judged.answer(id))["result"]["stopReason"] == "end_turn"
    proxy.waits.set()
    assert (await judged.answer(other))["result"]["_meta"]["rookery"]["critic"]["score"] == 0.42

    proxy.status = 503
    asked = len(proxy.asked)
    for _ in range(2):
        answer = await judged.turn(session, [{"text": "Still done."}])
        assert answer["result"]["stopReason"] == "end_turn"
        assert words(judged.news(session)) == "Still done."
    assert len(proxy.asked) == asked + 1, "the second turn waited for nobody"


@pytest.mark.long
@pytest.mark.parametrize(
    "how",
    [
        "reached",
        pytest.param("unreachable", marks=pytest.mark.long),
        pytest.param("half a template", marks=pytest.mark.long),
        pytest.param("unwanted", marks=pytest.mark.long),
    ],
)
async def test_its_verdict_becomes_the_workers(
    home: Path, tmp_path: Path, model: ScriptedModel, proxy: Crossing, how: str
) -> None:
    """A `_critic` event, with score and issues; none where the critic cannot be reached, and not a
    word of that to the person."""
    template = set_up(home, model)
    proxy.status = 0 if how == "unreachable" else 200
    if how == "half a template":
        template.write_text(template.read_text()[:-3])
    prompt = json.dumps({"play": [{"text": "All done."}]})
    unwanted = ["--no-critic"] if how == "unwanted" else []
    line = [*ROOKERY, "run", "--stop", "--agent", "rookery", *unwanted, prompt]
    surrounded = environment(home, proxy.url)
    done = await asyncio.to_thread(
        subprocess.run, line, capture_output=True, text=True, cwd=tmp_path, env=surrounded
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All done." in done.stdout
    assert len(proxy.asked) == (how in ("reached", "unreachable"))
    assert template.exists() is (how != "half a template"), "it is fetched anew"
    [session] = os.listdir(home / "sessions")
    found = [update for update in updates(home, session) if update["sessionUpdate"] == "_critic"]
    if how != "reached":
        assert found == []
        assert "ritic" not in done.stdout + done.stderr
        return
    [verdict] = found
    assert (verdict["score"], verdict["source"]) == (0.42, "api")
    told = [issue[:3] for issue in issues_in(verdict)]
    assert sorted(told) == sorted(issue[:3] for issue in ISSUES)
    assert "0.42" in done.stderr
    assert "Insufficient Testing" in done.stderr


def updates(home: Path, session: str) -> list[Json]:
    with Reader.open(str(home / "sessions" / session)) as log:
        return [event.update for event in log.read(0, 10_000)]
