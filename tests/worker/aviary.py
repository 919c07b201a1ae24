"""A home of its own with real sessions, whose agents are players; what it started, it ends."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from rookery.client import fleet
from rookery.client.create import create_session
from rookery.core.header import Header
from rookery.core.json.events import Event, kind_of
from rookery.home import config, confirmed, paths
from rookery.log.errors import LogError
from rookery.log.reader import Reader
from rookery.operations.calling.local_session import LocalSession
from rookery.processes import tree
from rookery.processes.tree import Process
from tests.rigs.player import player

type Json = dict[str, Any]
type Steps = list[Json]

PATIENCE = 120.0
"""Seconds until a test that waits for something gives up."""
SOON = 4.0
"""Seconds in which a warden has ended what a killed worker left, unless it is hung itself."""


def blocks(play: str | Steps) -> list[Json]:
    """A prompt: words, or steps that the player is to play."""
    text = play if isinstance(play, str) else json.dumps({"play": play})
    return [{"type": "text", "text": text}]


def is_idle(event: Event, turn: int | None = None) -> bool:
    update = event.update
    return (
        kind_of(update) == "_turn" and update["state"] == "idle" and turn in (None, update["turn"])
    )


def is_text(event: Event, part: str = "") -> bool:
    update = event.update
    return kind_of(update) == "agent_message_chunk" and part in update["content"]["text"]


def is_ask(event: Event) -> bool:
    return kind_of(event.update) == "_ask" and event.update["state"] == "asked"


def is_agent(event: Event, state: str) -> bool:
    return kind_of(event.update) == "_agent" and event.update["state"] == state


def kinds(events: list[Event]) -> list[str]:
    return [kind_of(event.update) for event in events]


def text_of(events: list[Event]) -> str:
    return "".join(event.update["content"]["text"] for event in events if is_text(event))


def trust(home: str) -> None:
    """A person's own word for what the files of the home say now."""
    confirmed.write(home, confirmed.Record(confirmed.guarded_settings(home, config.load(home))))


def kill_workers(sessions: Iterable[Path]) -> None:
    """The quick end of a test: their wardens end the rest."""
    records = [paths.read_json(str(session / paths.WORKER)) or {} for session in sessions]
    found = [(record.get("pid"), record.get("start")) for record in records]
    tree.kill(Process(pid, start) for pid, start in found if isinstance(pid, int) and start)


class Bird:
    """One session, seen and driven as a client does."""

    patience = PATIENCE

    def __init__(self, home: str, id: str) -> None:
        self.home = home
        self.id = id
        self.directory = Path(paths.session_dir(home, id))

    @asynccontextmanager
    async def client(self) -> AsyncIterator[LocalSession]:
        client = LocalSession(self.home, self.id, "test")
        try:
            yield client
        finally:
            client.close()

    async def send(self, do: str, **fields: Any) -> Event:
        async with asyncio.timeout(self.patience), self.client() as client:
            return await client.send({"do": do, **fields})

    async def prompt(self, play: str | Steps, **fields: Any) -> Event:
        """The event that admits it: `_prompt`, or `_queue` while another is played."""
        return await self.send("prompt", prompt=blocks(play), **fields)

    async def until(self, wanted: Callable[[Event], bool], since: int = 0) -> Event:
        async with asyncio.timeout(self.patience), self.client() as client:
            following = client.follow(since)
            try:
                async for event in following:
                    if wanted(event):
                        return event
            finally:
                await following.aclose()  # type: ignore[attr-defined]
        raise AssertionError("following has no end")

    async def turn(self, play: str | Steps, **fields: Any) -> list[Event]:
        """The events of a turn, from its prompt to its end."""
        begun = await self.prompt(play, **fields)
        ended = await self.ended(begun)
        return self.events(begun.seq - 1, ended.seq)

    async def ended(self, begun: Event) -> Event:
        return await self.until(lambda event: is_idle(event, begun.update["turn"]), begun.seq)

    async def reason(self, play: str | Steps) -> str:
        return str((await self.turn(play))[-1].update["reason"])

    async def ask(self, begun: Event) -> Json:
        """The next ask after an event."""
        return (await self.until(is_ask, begun.seq)).update

    async def answer(self, ask: Json, option: str, **fields: Any) -> Event:
        return await self.send("answer", ask=ask["id"], nonce=ask["nonce"], option=option, **fields)

    def events(self, after: int = 0, upto: int | None = None) -> list[Event]:
        with Reader.open(str(self.directory)) as log:
            return log.read(after, 1_000_000, upto)

    def header(self) -> Header:
        with Reader.open(str(self.directory)) as log:
            return log.header_before(log.turns() + 1)

    @property
    def record(self) -> Json:
        """worker.json"""
        return json.loads((self.directory / paths.WORKER).read_text())

    @property
    def worker(self) -> Process:
        return Process(self.record["pid"], self.record["start"])

    @property
    def warden(self) -> Process:
        return Process(self.record["warden"], self.record["wardenStart"])

    @property
    def agent(self) -> Process:
        return Process(self.record["agentPid"], self.record["agentStart"])

    @property
    def socket(self) -> str:
        return paths.socket_path(str(self.directory))

    @property
    def control(self) -> str:
        """Where guarded commands go: an abstract socket, where the worker has one."""
        name = self.record.get("control")
        return f"\0{name}" if name else self.socket

    async def gone(self, *processes: Process) -> None:
        left = await asyncio.to_thread(tree.wait_gone, processes, self.patience)
        assert not left


class Aviary:
    """Give it a ROOKERY_HOME that is in the environment: by that it knows its own processes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = paths.ensure_home(str(root / "home"))
        self.work = root / "work"
        self.work.mkdir()
        self.birds: list[Bird] = []

    def configure(self, **worker: object) -> None:
        """Small numbers of the policy."""
        lines = ["[worker]", *(f"{key} = {json.dumps(value)}" for key, value in worker.items())]
        Path(self.home, "config.toml").write_text("\n".join(lines) + "\n")

    def trust(self) -> None:
        trust(self.home)

    def player(self, script: Json | None = None) -> list[str]:
        number = len(self.birds)
        file = self.root / f"script-{number}.json"
        file.write_text(json.dumps(script or {}))
        state = str(self.root / f"state-{number}")
        return player(str(file), "--state", state)

    def hatch(
        self,
        script: Json | None = None,
        *,
        argv: list[str] | None = None,
        environment: Mapping[str, str] = os.environ,
        **fields: Any,
    ) -> Bird:
        """A new session; nothing of it is awake yet."""
        fields = {"agent": "player", "cwd": str(self.work), **fields}
        given = self.player(script) if argv is None else argv
        id = create_session(self.home, argv=given, environment=environment, **fields)
        self.birds.append(Bird(self.home, id))
        return self.birds[-1]

    def processes(self) -> list[Process]:
        """All that has this home in its environment: workers, wardens, agents and theirs."""
        rows = (tree.process(pid) for pid in self._pids() if pid != os.getpid())
        return [row for row in rows if row and not row.dead]

    def _pids(self) -> Iterator[int]:
        entry = f"\0ROOKERY_HOME={self.home}\0".encode()
        for name in os.listdir("/proc"):
            with suppress(OSError):
                if name.isdecimal():
                    found = Path(f"/proc/{name}/environ").read_bytes()
                    if entry in b"\0" + found + b"\0":
                        yield int(name)

    def wait_empty(self) -> list[Process]:
        """Who is still there when the patience is over."""
        until = time.monotonic() + PATIENCE
        while (left := self.processes()) and time.monotonic() < until:
            tree.wait_gone(left, until - time.monotonic())
        return left

    def end(self) -> None:
        """End every session, and see that nothing of them is left."""
        left: list[Process] | None = None
        try:
            kill_workers([bird.directory for bird in self.birds])
            if tree.wait_gone(self.processes(), SOON):
                for bird in self.birds:
                    with suppress(LogError):  # a test that deletes its session
                        fleet.kill(self.home, bird.id)
            for bird in self.birds:
                with suppress(FileNotFoundError):  # a killed worker's; it may lie in /tmp
                    os.unlink(bird.socket)
            left = self.wait_empty()
        finally:
            tree.kill(self.processes() if left is None else left)
        assert not left
