"""Drives an ACP agent with raw bytes, and refuses every line that the protocol does not know.

Each line of its stdout is parsed and held to the official schema; its stderr is never read, as by
the worst of clients.
"""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tests.acp.schema import check_message
from tests.rigs import stdio

type Json = dict[str, Any]

PATIENCE = 120.0
"""Seconds after which a test that waits for something gives up."""


LONGEST = 1 << 27
"""Bytes of a line."""


class Agent:
    """A process that speaks ACP, and what it wrote. `answers` serves its requests, by method."""

    def __init__(
        self,
        process: asyncio.subprocess.Process | stdio.Process,
        stderr: int,
        *,
        strict: bool = True,
    ) -> None:
        self.process = process
        self.lines: list[Json] = []
        self.raw: list[bytes] = []
        self.version = 1
        """Of the protocol: its schema is the one that counts."""
        self.answers: dict[str, Callable[[Json], Any]] = {}
        self.asked: dict[Any, str] = {}
        """The methods of our requests, by id."""
        self._stderr = stderr
        self._strict = strict
        self._last_id = 0
        self._read = 0

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        strict: bool = True,
        environment: Mapping[str, str] = os.environ,
        forked: bool = False,
    ) -> Self:
        """`forked`: its start is not what is tested."""
        stderr, theirs = os.pipe()
        process: Any = None
        if forked:
            process = await stdio.start(list(argv), environment, theirs, LONGEST)
        if process is None:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=theirs,
                limit=LONGEST,
                cwd="/",
                env=environment,
                start_new_session=True,
            )
        os.close(theirs)
        return cls(process, stderr, strict=strict)

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, **message: Any) -> None:
        if "method" in message and "id" in message:
            self.asked[message["id"]] = message["method"]
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def notify(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, **params: Any) -> int:
        self._last_id += 1
        self.send(id=self._last_id, method=method, params=params)
        return self._last_id

    async def read(self) -> Json:
        """The next line; EOFError when there is none."""
        assert self.process.stdout is not None
        while True:
            line = await self.process.stdout.readline()
            if not line:
                raise EOFError
            self.raw.append(line)
            try:
                message = json.loads(line)
            except ValueError:
                assert not self._strict, line[:200]
                continue
            if self._strict:
                answers = "method" not in message and message["id"] is not None
                asked = self.asked.get(message["id"]) if answers else None
                check_message(message, asked, self.version)
            self.lines.append(message)
            self._serve(message)
            return message

    def _serve(self, message: Json) -> None:
        serve = self.answers.get(message.get("method", ""))
        if serve is not None and "id" in message:
            answer = serve(message["params"])
            if isinstance(answer, Exception):
                code, text = answer.args
                self.send(id=message["id"], error={"code": code, "message": text})
            elif answer is not None:
                self.send(id=message["id"], result=answer)

    async def until(self, wanted: Callable[[Json], bool]) -> Json:
        async with asyncio.timeout(PATIENCE):
            while not wanted(message := await self.read()):
                pass
        return message

    async def answer(self, id: Any) -> Json:
        """The whole answer to a request, result or error; it may have come before what else was
        waited for."""

        def is_it(line: Json) -> bool:
            return line.get("id") == id and "method" not in line

        return next(filter(is_it, self.lines), None) or await self.until(is_it)

    async def call(self, method: str, **params: Any) -> Any:
        """The result of a request, or the code of its error."""
        answer = await self.answer(self.ask(method, **params))
        return answer["result"] if "result" in answer else answer["error"]["code"]

    async def begin(self, cwd: str = "/tmp", **capabilities: Any) -> str:
        """Initialize and make a session."""
        await self.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
        return await self.new(cwd)

    async def new(self, cwd: str = "/tmp") -> str:
        made = await self.call("session/new", cwd=cwd, mcpServers=[])
        return str(made["sessionId"])

    def prompt(self, session: str, text: str | list[Json]) -> int:
        if not isinstance(text, str):
            text = json.dumps({"play": text})
        blocks = [{"type": "text", "text": text}]
        return self.ask("session/prompt", sessionId=session, prompt=blocks)

    async def turn(self, session: str, text: str | list[Json]) -> Json:
        """Play a turn: its answer. The updates are in `news()`."""
        self.news()
        return await self.answer(self.prompt(session, text))

    def news(self, session: str | None = None) -> list[Json]:
        """The updates since the last call."""
        fresh, self._read = self.lines[self._read :], len(self.lines)
        told = [line["params"] for line in fresh if line.get("method") == "session/update"]
        return [params["update"] for params in told if session in (None, params["sessionId"])]

    def requests(self) -> list[str]:
        """The methods that it called so far."""
        return [line["method"] for line in self.lines if "method" in line and "id" in line]

    async def rest(self) -> None:
        """Read to the end of its stdout."""
        async with asyncio.timeout(PATIENCE):
            try:
                while True:
                    await self.read()
            except EOFError:
                pass

    def hang_up(self) -> None:
        """End its stdin, as a client that goes."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def close(self) -> int:
        """Hang up: an agent then ends by itself."""
        self.hang_up()
        await self.rest()
        return await self.process.wait()

    async def kill(self) -> None:
        """For good: what it left on stderr is shown, should the test have failed."""
        if self.process.returncode is None:
            self.process.kill()
        self.hang_up()
        await self.process.wait()
        if isinstance(self.process, stdio.Process):
            self.process.close()
        if self._stderr >= 0:
            os.set_blocking(self._stderr, False)
            with suppress(BlockingIOError):
                print(os.read(self._stderr, 1 << 16).decode("utf-8", "replace")[-4000:])
            os.close(self._stderr)
            self._stderr = -1


def alive(pid: int) -> bool:
    """A zombie does not count."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def texts(updates: list[Json], kind: str = "agent_message_chunk") -> list[str]:
    return [u["content"]["text"] for u in updates if u["sessionUpdate"] == kind]


def statuses(updates: list[Json], tool: str | None = None) -> list[str]:
    """What a tool call went through; without one, what the first that was announced did."""
    calls = [u for u in updates if "toolCallId" in u]
    tool = tool or (calls[0]["toolCallId"] if calls else "")
    return [u["status"] for u in calls if u["toolCallId"] == tool and u.get("status")]


def kinds(updates: list[Json]) -> list[str]:
    return [update["sessionUpdate"] for update in updates]
