"""MCP servers that are not there at the first prompt: it goes on without them, says so once, and
their tools come with them."""

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rookery.agent.scripted.server import ScriptedModel
from tests.acp.driving import Agent
from tests.agent.driving import allow_all, calls, connected, shown, stop_reason
from tests.agent.test_mcp_servers import offered, opened, server, use

type Json = dict[str, Any]


class Songs(BaseHTTPRequestHandler):
    """An MCP server over HTTP, with one tool, once it is well: before, it answers with 500.
    `run`: counts its starts, and names its sessions."""

    well = threading.Event()
    run = 1

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.well.is_set():
            return self._answer(500)
        known = asked["method"] == "initialize" or self.headers["Mcp-Session-Id"] == str(self.run)
        if not known:
            return self._answer(404)
        if "id" not in asked:
            return self._answer(202)
        about = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "s", "version": "1"}}
        tool = {"name": "sing", "inputSchema": {"type": "object", "properties": {"word": {}}}}
        results: Json = {
            "initialize": about | {"capabilities": {"tools": {}}},
            "tools/list": {"tools": [tool]},
            "tools/call": {"content": [{"type": "text", "text": "la la"}]},
        }
        result = results.get(asked["method"], {})
        return self._answer(200, {"jsonrpc": "2.0", "id": asked["id"], "result": result})

    def do_GET(self) -> None:
        self._answer(405)

    def _answer(self, status: int, body: Json | None = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Mcp-Session-Id", str(self.run))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def songs(port: int = 0) -> Iterator[str]:
    Songs.well.clear()
    with ThreadingHTTPServer(("127.0.0.1", port), Songs) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{site.server_port}/mcp"
        finally:
            site.shutdown()
            thread.join()


def at(name: str, url: str) -> Json:
    return {"type": "http", "name": name, "url": url, "headers": []}


def program(name: str, code: str) -> Json:
    return {"name": name, "command": sys.executable, "args": ["-S", "-c", code], "env": []}


def notices(agent: Agent, about: str) -> list[str]:
    updates = [line.get("params", {}).get("update", {}) for line in agent.lines]
    chunks = [update for update in updates if update.get("sessionUpdate") == "agent_thought_chunk"]
    texts = [str(chunk["content"].get("text", "")) for chunk in chunks]
    return [text for text in texts if about in text]


@pytest.mark.asyncio(loop_scope="session")
async def test_all_that_are_down_are_named_in_one_notice(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Whatever is wrong with them; those that do nothing at all are waited for together."""
    allow_all(agent)
    with socket.create_server(("127.0.0.1", 0)) as mute, songs() as ill:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            closed = f"127.0.0.1:{gone.getsockname()[1]}"
        session = await opened(
            agent,
            tmp_path,
            {"name": "nowhere", "command": str(tmp_path / "nosuch"), "args": [], "env": []},
            {"name": "lost", "command": "nosuch-program", "args": [], "env": []},
            program("dies", "import sys; print('starting'); sys.exit('SHOP_TOKEN is not set')"),
            program("hangs", "import time; time.sleep(600)"),
            at("mute", f"http://127.0.0.1:{mute.getsockname()[1]}/mcp"),
            at("closed", f"http://{closed}/mcp"),
            at("unknown", "http://nosuch.invalid/mcp"),
            at("ill", ill),
            server(tmp_path, "there", "hum"),
        )
        assert stop_reason(await agent.turn(session, "hello")) == "end_turn"
        heading, *lines = notices(agent, "Continuing without")[0].splitlines()
        reasons = dict(line.split(": ", 1) for line in lines if ": " in line)
        silent = "no answer within 3 seconds"
        # On a busy machine, any may be too slow to say what it has to say.
        down = "nowhere, lost, dies, hangs, mute, closed, unknown and ill"
        if reasons.pop("there", "") == silent:
            down = down.replace(" and ill", ", ill and there")
        assert heading == f"Continuing without MCP servers {down}."
        expected = {
            "nowhere": f"`{tmp_path}/nosuch` does not exist",
            "lost": "`nosuch-program` is not on PATH",
            "dies": "SHOP_TOKEN is not set; Connection closed",
            "hangs": silent,
            "mute": silent,
            "closed": f"cannot connect to {closed}: All connection attempts failed",
            "unknown": "cannot connect to nosuch.invalid: ",
            "ill": "HTTP 500 Internal Server Error",
        }
        for name, why in reasons.items():
            assert why.startswith(expected[name]) or why == silent
        assert reasons.keys() == expected.keys()
        assert (reasons["hangs"], reasons["mute"]) == (silent, silent)
        await connected(agent, session, "there")
        assert offered(model)[-1] == "mcp__there__hum"
        await agent.call("session/close", sessionId=session)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_server_that_comes_up_later_joins_the_next_turn(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    """Also one that answered with an error before. Each prompt leads to another try."""
    allow_all(agent)
    with songs() as url:
        session = await opened(agent, tmp_path, at("songs", url))
        await agent.turn(session, "hello")
        why = "songs: HTTP 500 Internal Server Error"
        while not any(why in each for each in notices(agent, "Continuing without MCP server")):
            await agent.turn(session, "on a busy machine, it failed late")
        Songs.well.set()
        await connected(agent, session, "songs")
        steps = [use("mcp__songs__sing", ""), {"text": "ok"}]
        assert stop_reason(await agent.turn(session, steps)) == "end_turn"
        [call] = calls(agent.news(session))
        assert "la la" in shown(call)
        [_] = notices(agent, "MCP server songs is connected.")
        Songs.run += 1
        assert stop_reason(await agent.turn(session, steps)) == "end_turn"
        [call] = calls(agent.news(session))
        assert "la la" in shown(call), "it was started anew"
        await agent.call("session/close", sessionId=session)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_server_that_was_killed_is_back_with_the_next_call(
    agent: Agent, model: ScriptedModel, tmp_path: Path
) -> None:
    allow_all(agent)
    servers = [server(tmp_path, name, "hum") for name in ("left", "right")]
    session = await opened(agent, tmp_path, *servers)
    await connected(agent, session, "left", "right")
    before = sorted(offered(model))
    os.kill(int((tmp_path / "left.pid").read_text()), signal.SIGKILL)
    both = [use("mcp__left__hum", "1"), use("mcp__right__hum", "2"), {"text": "ok"}]
    assert stop_reason(await agent.turn(session, both)) == "end_turn"
    left, right = calls(agent.news(session))
    assert "right hum 2" in shown(right)
    if "left hum 1" not in shown(left):  # the end was not noticed yet
        assert stop_reason(await agent.turn(session, both)) == "end_turn"
        assert "left hum 1" in shown(calls(agent.news(session))[0])
    assert sorted(offered(model)) == before
