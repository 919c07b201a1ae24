"""`/acp` of a real daemon: an editor on another machine, and an agent by address."""

import asyncio
import json
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from rookery.core.json import Json
from rookery.wire.jsonrpc import Peer
from rookery.wire.websocket.client import ConnectError, Target
from rookery.wire.websocket.link import AddressLink
from tests.daemon.served import PATIENCE, Served


def url(daemon: Served) -> str:
    return f"ws://{daemon.netloc}/acp"


def link_to(daemon: Served, token: str) -> AddressLink:
    return AddressLink(lambda: Target(url(daemon), {"Authorization": f"Bearer {token}"}))


async def test_an_editor_over_the_network(daemon: Served, tmp_path: Path) -> None:
    token = await asyncio.to_thread(lambda: daemon.token)
    link, said, begins = link_to(daemon, token), list[str](), asyncio.Event()

    def told(_: str, params: Json) -> None:
        update = params["update"]
        if update["sessionUpdate"] == "agent_message_chunk":
            said.append(update["content"]["text"])
            begins.set()

    peer = Peer(on_notification=told).carried_by(link)
    await link.open()
    begun = await peer.request("initialize", {"protocolVersion": 1})
    assert begun["agentInfo"]["name"] == "rookery"
    made = await peer.request("session/new", {"cwd": str(tmp_path), "mcpServers": []})
    session = made["sessionId"]
    long = {"text": "x" * 100, "chunks": 100, "every": 0.01}
    prompt = [{"type": "text", "text": json.dumps({"play": [long]})}]
    turn = asyncio.create_task(
        peer.request("session/prompt", {"sessionId": session, "prompt": prompt})
    )
    await begins.wait()
    assert link._socket is not None
    link._socket.abort()  # the link breaks in mid-turn
    assert (await turn)["stopReason"] == "end_turn"
    assert "".join(said) == "x" * 100
    heads = await asyncio.to_thread(lambda: daemon.ask("GET", "/api/sessions").json())
    assert session in json.dumps(heads)
    last = link._socket
    peer.close()
    last.abort()  # the loop ends here, maybe before the daemon has said goodbye


async def test_clients_without_access_are_refused(daemon: Served) -> None:
    with pytest.raises(ConnectError, match="401"):
        await link_to(daemon, "wrong").open()
    token = await asyncio.to_thread(lambda: daemon.token)
    headers = {"Authorization": f"Bearer {token}", "Acp-Connection-Id": "0" * 32}
    with pytest.raises(InvalidStatus) as caught:
        await connect(url(daemon), additional_headers={**headers, "Rookery-Received": "0"})
    assert caught.value.response.status_code == 404
    with pytest.raises(InvalidStatus) as caught:
        await connect(url(daemon), origin="https://else.where", additional_headers=headers)
    assert caught.value.response.status_code == 403


async def test_a_revoked_device_loses_its_open_connections(daemon: Served) -> None:
    def device() -> tuple[str, str]:
        link = daemon.own("POST", "/api/devices/link", {}).json()["link"]
        before = {row["id"] for row in daemon.own("GET", "/api/devices").json()}
        token = daemon.log_in(code=link.rpartition("=")[2]).json()["token"]
        (new,) = {row["id"] for row in daemon.own("GET", "/api/devices").json()} - before
        return new, token

    (lost, token), (_, kept) = [await asyncio.to_thread(device) for _ in range(2)]
    headers = {"Authorization": f"Bearer {token}"}
    base, host = f"ws://{daemon.netloc}", daemon.netloc.rpartition(":")
    other = {"Authorization": f"Bearer {kept}"}
    resumable = {**headers, "Rookery-Received": "0"}
    async with (
        asyncio.timeout(PATIENCE),
        connect(f"{base}/api/stream", additional_headers=headers) as stream,
        connect(f"{base}/acp", additional_headers=resumable) as editor,
        connect(f"{base}/api/stream", additional_headers=other) as another,
    ):
        reader, writer = await asyncio.open_connection(host[0], int(host[2]))
        words = f"GET /api/events?topic=fleet HTTP/1.1\r\nHost: {daemon.netloc}\r\n"
        writer.write(f"{words}Authorization: Bearer {token}\r\n\r\n".encode())
        await reader.readuntil(b"event: snapshot")
        await asyncio.to_thread(daemon.own, "DELETE", f"/api/devices/{lost}")
        for socket in (stream, editor):
            with pytest.raises(ConnectionClosed) as caught:
                await socket.recv()
            assert caught.value.rcvd is not None
            assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (1008, "logged out")
        await reader.read()  # to its end
        writer.close()
        await another.send(json.dumps({"subscribe": {"topic": "fleet"}}))
        assert "snapshot" in json.loads(await another.recv())
    assert editor.response is not None
    again = {**resumable, "Acp-Connection-Id": editor.response.headers["Acp-Connection-Id"]}
    with pytest.raises(InvalidStatus) as refused:
        await connect(url(daemon), additional_headers=again)
    assert refused.value.response.status_code == 401
