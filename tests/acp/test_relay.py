"""`rookery acp --url`: an editor's stdio carried to another machine's Rookery."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from rookery.core.json import Json
from tests.rigs.player import player
from tests.rigs.sockets import Endpoint, certificate

CHUNKS = 150
TEXT = " ".join(str(n) for n in range(CHUNKS))
LONG = {"text": TEXT, "chunks": CHUNKS, "every": 0.01}


class Editor:
    """Starts the command, as an editor does."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.updates: list[Json] = []
        self.calls: asyncio.Queue[Json] = asyncio.Queue()
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._moved = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, *words: str, **environment: str) -> "Editor":
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "rookery", "acp", *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", **environment},
        )
        return cls(process)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if "method" not in message:
                self._answers.pop(message["id"]).set_result(message)
            elif message["method"] == "session/update":
                self.updates.append(message["params"]["update"])
            else:
                self.calls.put_nowait(message)
            self._moved.set()

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def ask(self, id: int, method: str, **params: Any) -> Json:
        self._answers[id] = asyncio.get_running_loop().create_future()
        self.send(id=id, method=method, params=params)
        async with asyncio.timeout(120):
            return await self._answers[id]

    async def begin(self, cwd: Path) -> str:
        said = await self.ask(1, "initialize", protocolVersion=1)
        assert said["result"]["agentInfo"]["name"] == "rookery"
        made = await self.ask(2, "session/new", cwd=str(cwd), mcpServers=[])
        return str(made["result"]["sessionId"])

    async def prompt(self, id: int, session: str, *steps: Json) -> Json:
        text = {"type": "text", "text": json.dumps({"play": steps})}
        return await self.ask(id, "session/prompt", sessionId=session, prompt=[text])

    async def told(self, words: int) -> None:
        """So much of the agent's text: a busy worker merges its chunks into fewer updates."""
        while len(self.said().split()) < words:
            self._moved.clear()
            await self._moved.wait()

    def said(self) -> str:
        kinds = [each for each in self.updates if each["sessionUpdate"] == "agent_message_chunk"]
        return "".join(each["content"]["text"] for each in kinds)

    async def end(self) -> str:
        """What it wrote to stderr."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        complained = await self.process.stderr.read()
        assert await self.process.wait() == 0
        await self._reading
        return complained.decode()


@pytest.fixture
async def endpoint(home: Path) -> AsyncIterator[Endpoint]:
    words = json.dumps(player("demo", "--state", str(home / "player")))
    config = f'default_agent = "bird"\n[agents.bird]\ncommand = {words}\n'
    (home / "config.toml").write_text(config)
    async with Endpoint(str(home), "secret") as endpoint:
        yield endpoint


async def test_a_link_cut_in_mid_turn_goes_unnoticed(endpoint: Endpoint, tmp_path: Path) -> None:
    editor = await Editor.start("--url", endpoint.url, ROOKERY_TOKEN="secret")
    session = await editor.begin(tmp_path)
    turn = asyncio.create_task(editor.prompt(3, session, LONG))
    await editor.told(8)
    endpoint.cut()
    await editor.told(22)
    await endpoint.deafen()
    await asyncio.sleep(0.5)
    await endpoint.listen()
    assert (await turn)["result"]["stopReason"] == "end_turn"
    assert editor.said() == TEXT
    assert await editor.end() == ""


async def test_after_a_restart_of_the_server_the_session_goes_on(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """The connection is no longer known: what was in flight fails, what comes next works."""
    editor = await Editor.start("--url", endpoint.url, ROOKERY_TOKEN="secret")
    session = await editor.begin(tmp_path)
    turn = asyncio.create_task(editor.prompt(3, session, LONG))
    await editor.told(8)
    await endpoint.connections.close()
    endpoint.cut()
    error = (await turn)["error"]
    assert error["data"]["errorKind"] == "network"
    assert "load the session again" in error["message"]
    done = await editor.prompt(4, session, {"text": "and on"})
    assert done["result"]["stopReason"] == "end_turn"
    assert editor.said().endswith("and on")
    assert "trying again" in await editor.end()


async def test_an_ask_reaches_the_editor(endpoint: Endpoint, tmp_path: Path) -> None:
    editor = await Editor.start("--url", endpoint.url, ROOKERY_TOKEN="secret")
    session = await editor.begin(tmp_path)
    ask = {"ask": "May I?", "allowed": [{"text": "yes"}], "rejected": [{"text": "no"}]}
    turn = asyncio.create_task(editor.prompt(3, session, ask))
    call = await editor.calls.get()
    option = next(o["optionId"] for o in call["params"]["options"] if o["kind"] == "allow_once")
    editor.send(id=call["id"], result={"outcome": {"outcome": "selected", "optionId": option}})
    assert (await turn)["result"]["stopReason"] == "end_turn"
    assert editor.said() == "yes"
    await editor.end()


async def test_connection_errors_say_what_helps(endpoint: Endpoint, tmp_path: Path) -> None:
    async def why(*words: str, **environment: str) -> str:
        editor = await Editor.start("--url", *words, **environment)
        error = (await editor.ask(1, "initialize", protocolVersion=1))["error"]
        assert error["message"] in await editor.end()
        assert "mistaken" not in error["message"]
        return str(error["message"])

    assert "--token-file" in await why(endpoint.url, ROOKERY_TOKEN="mistaken")
    assert "no such endpoint" in await why(endpoint.url + "/x", ROOKERY_TOKEN="secret")
    token = tmp_path / "token"
    token.write_text("secret")
    token.chmod(0o640)
    assert "chmod 600" in await why(endpoint.url, "--token-file", str(token))
    unset = await why(endpoint.url, "--header-env", "X-Key=UNSET")
    assert "UNSET, and that is not set" in unset
    made = certificate(tmp_path)
    await endpoint.deafen()
    await endpoint.listen(made.context())
    assert made.fingerprint in await why(endpoint.url, ROOKERY_TOKEN="secret")
    trusted = ("--url", endpoint.url, "--fingerprint", made.fingerprint)
    token.chmod(0o600)
    editor = await Editor.start(*trusted, "--token-file", str(token))
    assert "result" in await editor.ask(1, "initialize", protocolVersion=1)
    await editor.end()


@pytest.mark.parametrize(
    "words", [("--url", "wss://x", "--agent", "y"), ("--token-file", "x"), ("--header-env", "x")]
)
async def test_options_that_exclude_each_other_are_refused(words: tuple[str, ...]) -> None:
    editor = await Editor.start(*words)
    assert editor.process.stderr is not None
    assert b"Usage" in await editor.process.stderr.read()
    assert await editor.process.wait() == 2
