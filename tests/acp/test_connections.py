"""Editors on other machines: many bridges in one process, connections that outlive sockets."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect as library_connect

from rookery.core.json.events import Json
from rookery.wire.jsonrpc import Incoming, Peer, RpcFailure
from rookery.wire.websocket import link as links
from rookery.wire.websocket.client import ConnectError, Target
from rookery.wire.websocket.link import AddressLink
from tests.rigs.player import player
from tests.rigs.sockets import Endpoint

CHUNKS = 150


class Editor:
    """A client of ours over an address."""

    def __init__(self, url: str, **headers: str) -> None:
        self.link = AddressLink(lambda: Target(url, headers))
        self.updates: list[Json] = []
        self.asks: asyncio.Queue[Incoming] = asyncio.Queue()
        self.breaks: list[str] = []
        self._moved = asyncio.Event()
        self.ended = asyncio.Event()
        self.peer = Peer(
            on_request=self.asks.put_nowait,
            on_notification=self._notified,
            on_closed=self.ended.set,
        ).carried_by(self.link)
        self.link.on_away = self.breaks.append

    def _notified(self, _: str, params: Json) -> None:
        self.updates.append(params["update"])
        self._moved.set()

    async def told(self, words: int) -> None:
        """So much of the agent's text: a busy worker merges its chunks into fewer updates."""
        while len(self.said().split()) < words:
            self._moved.clear()
            await self._moved.wait()

    async def begin(self, cwd: Path) -> str:
        await self.link.open()
        await self.peer.request("initialize", {"protocolVersion": 1})
        made = await self.peer.request("session/new", {"cwd": str(cwd), "mcpServers": []})
        return str(made["sessionId"])

    async def prompt(self, session: str, *steps: Json) -> Any:
        text = {"type": "text", "text": json.dumps({"play": steps})}
        return await self.peer.request("session/prompt", {"sessionId": session, "prompt": [text]})

    def said(self) -> str:
        kinds = [each for each in self.updates if each["sessionUpdate"] == "agent_message_chunk"]
        return "".join(each["content"]["text"] for each in kinds)


@pytest.fixture
async def endpoint(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Endpoint]:
    monkeypatch.setattr(links, "FIRST_DELAY", 0.01)
    words = json.dumps(player("demo", "--state", str(home / "player")))
    config = f'default_agent = "bird"\n[agents.bird]\ncommand = {words}\n'
    (home / "config.toml").write_text(config)
    async with Endpoint(str(home), "secret") as endpoint:
        yield endpoint


def editor(endpoint: Endpoint) -> Editor:
    return Editor(endpoint.url, Authorization="Bearer secret")


def numbered() -> tuple[Json, str]:
    text = " ".join(str(n) for n in range(CHUNKS))
    return {"text": text, "chunks": CHUNKS, "every": 0.01}, text


async def test_a_cut_link_loses_and_repeats_nothing(endpoint: Endpoint, tmp_path: Path) -> None:
    one = editor(endpoint)
    session = await one.begin(tmp_path)
    step, text = numbered()
    turn = asyncio.create_task(one.prompt(session, step))
    for n in (1, 3, 5):
        await one.told(n * 10)
        endpoint.cut()
    assert (await turn)["stopReason"] == "end_turn"
    assert one.said() == text
    assert len(one.breaks) == 3
    one.link.close()


async def test_an_ask_waits_while_the_network_is_gone(endpoint: Endpoint, tmp_path: Path) -> None:
    one = editor(endpoint)
    session = await one.begin(tmp_path)
    ask = {"ask": "May I?", "allowed": [{"text": "yes"}], "rejected": [{"text": "no"}]}
    turn = asyncio.create_task(one.prompt(session, ask))
    asked = await one.asks.get()
    await endpoint.deafen()
    options = [each["optionId"] for each in asked.params["options"] if "allow" in each["kind"]]
    asked.reply({"outcome": {"outcome": "selected", "optionId": options[0]}})
    assert one.link.is_away
    await asyncio.sleep(0.2)
    await endpoint.listen()
    assert (await turn)["stopReason"] == "end_turn"
    assert one.said() == "yes"
    one.link.close()


async def test_a_connection_that_the_server_forgot_ends(endpoint: Endpoint, tmp_path: Path) -> None:
    one = editor(endpoint)
    session = await one.begin(tmp_path)
    step, _ = numbered()
    turn = asyncio.create_task(one.prompt(session, step))
    await one.told(3)
    await endpoint.connections.close()
    endpoint.cut()
    with pytest.raises(RpcFailure):
        await turn
    await one.ended.wait()


async def test_the_end_of_a_connection_ends_nothing_else(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    one, two = editor(endpoint), editor(endpoint)
    await one.begin(tmp_path)
    session = await two.begin(tmp_path)
    assert len(endpoint.connections) == 2
    one.link.close()
    await endpoint.left(1)
    assert (await two.prompt(session, {"text": "still here"}))["stopReason"] == "end_turn"
    assert two.said() == "still here"
    two.link.close()


async def test_a_client_that_cannot_resume_is_gone_with_its_socket(endpoint: Endpoint) -> None:
    """Batches are refused, binary frames ignored, the id of the connection told."""
    headers = {"Authorization": "Bearer secret"}
    async with library_connect(endpoint.url, additional_headers=headers) as socket:
        assert socket.response is not None
        assert len(socket.response.headers["Acp-Connection-Id"]) == 32
        assert "Rookery-Received" not in socket.response.headers
        await socket.send(b"\x00binary")
        await socket.send("[]")
        assert json.loads(await socket.recv())["error"]["code"] == -32600
        await socket.send('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}')
        assert "initialize" in json.loads(await socket.recv())["error"]["message"]
        socket.transport.abort()
    await endpoint.left(0)


async def test_a_replaced_sockets_end_ends_nothing(endpoint: Endpoint) -> None:
    """The client is back before the server knows that it was gone."""
    headers = {"Authorization": "Bearer secret", "Rookery-Received": "0"}
    first = await library_connect(endpoint.url, additional_headers=headers)
    assert first.response is not None
    headers["Acp-Connection-Id"] = first.response.headers["Acp-Connection-Id"]
    async with library_connect(endpoint.url, additional_headers=headers) as second:
        await first.wait_closed()
        await second.send('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}')
        assert json.loads(await second.recv())["id"] == 1
    await endpoint.left(0)


async def test_a_wrong_token_and_a_wrong_path_are_refused(endpoint: Endpoint) -> None:
    with pytest.raises(ConnectError, match="401"):
        await Editor(endpoint.url, Authorization="Bearer no").link.open()
    with pytest.raises(ConnectError, match="no such endpoint"):
        await Editor(endpoint.url + "/else").link.open()
