"""The browser is a switch, off by default; a session without one says what it needs."""

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from rookery.agent.scripted.server import ScriptedModel
from rookery.agent.tools import browser, families
from rookery.core.settings.web import Web
from rookery.processes import strays, tree
from tests.acp.driving import Agent, Json
from tests.agent.conftest import ARGV, surroundings, write_settings
from tests.agent.driving import allow_all, calls, stop_reason
from tests.conftest import end_all
from tests.worker.aviary import trust

PAGE = b"<html><title>Nest</title><body><h1>Eggs: 4</h1></body></html>"


def test_the_browser_is_off_unless_switched_on() -> None:
    assert families.BROWSER not in families.usual("x", small=False, browser=False, web=Web())
    assert families.usual("x", small=False, browser=True, web=Web())[-1] == families.BROWSER
    assert families.BROWSER not in families.usual("x", small=True, browser=True, web=Web())


def test_a_session_without_a_browser_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "LIBRARY", "no_such_library")
    assert "browser-use is missing" in browser.problem()


class Nest(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None: ...


@contextlib.contextmanager
def served() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Nest) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("chromium"), reason="needs Chromium")
@pytest.mark.asyncio(loop_scope="session")
async def test_a_page_is_read_in_a_real_browser(
    model: ScriptedModel, agent_home: Path, tmp_path: Path
) -> None:
    """Asked about as any action; what it visits is kept with the conversation. It does not outlive
    the agent, whose keeper is killed."""
    home = Path(tempfile.mkdtemp(prefix="rkb-", dir="/tmp"))
    try:
        (home / "person").mkdir()
        write_settings(home, model)
        (home / "config.toml").write_text("[agent]\nwarm = false\nbrowser = true\n")
        trust(str(home))
        agent = await Agent.start(ARGV, environment=surroundings(home))
        try:
            await agent.call("initialize", protocolVersion=1, clientCapabilities={})
            asked = allow_all(agent)
            session = await agent.new(str(tmp_path))
            with served() as url:
                steps: list[Json] = [
                    {"call": {"name": "browser_navigate", "arguments": {"url": url}}},
                    {"call": {"name": "browser_get_content", "arguments": {}}},
                    {"text": "ok"},
                ]
                assert stop_reason(await agent.turn(session, steps)) == "end_turn"
            found = calls(agent.news(session))
            assert [each["kind"] for each in found] == ["fetch", "fetch"]
            assert asked[0]["toolCall"]["title"] == f"browser: navigate {url}"
            assert "Eggs: 4" in str(found[1]["rawOutput"])
            assert list((home / "person").rglob("browseruse")) == []
            assert list(home.glob("conversations/*/browser"))
            browsing = tree.descendants(agent.process.pid)
            assert any("chrom" in strays.command_of(each.pid) for each in browsing)
            os.kill(agent.process.pid, signal.SIGKILL)
            assert not await asyncio.to_thread(tree.wait_gone, browsing, 60.0)
        finally:
            await agent.kill()
    finally:
        try:
            end_all(home)
        finally:
            shutil.rmtree(home, ignore_errors=True)
