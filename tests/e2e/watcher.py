"""A client that can be killed: follows a session into a file, sends what its stdin says.

    python watcher.py HOME SESSION FILE

Each event that it is shown becomes one line of FILE, written at once; it goes on after the last
line there. Each line of stdin is a command, the last one {"upto": seq}: where it ends. It says yes
to every ask that is open. That a change of the queue came too late is no reason to end.
"""

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import Any

from rookery.client.session import Rejected, SessionClient
from rookery.client.start import StartError
from rookery.core.json.events import kind_of

TRIES = 20


def last_seq(path: str) -> int:
    """Of the last whole line: a writer that was killed may have left a part of one."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return 0
    if lines[-1]:
        os.truncate(path, sum(len(line) + 1 for line in lines[:-1]))
    return int(json.loads(lines[-2])["seq"]) if len(lines) > 1 else 0


class Watcher:
    def __init__(self, home: str, session: str, path: str) -> None:
        self.client = SessionClient(home, session, "watcher")
        self.sender = SessionClient(home, session, "watcher")
        self.seen = last_seq(path)
        self.news = asyncio.Event()
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    async def follow(self, group: asyncio.TaskGroup) -> None:
        log = self.sender.log
        for ask in log.header_before(log.turns() + 1).asks.values():
            group.create_task(self.send(allowing(ask)))
        async for event in self.client.follow(self.seen):
            os.write(self.file, json.dumps(event._asdict()).encode() + b"\n")
            self.seen = event.seq
            self.news.set()
            if kind_of(event.update) == "_ask" and event.update["state"] == "asked":
                group.create_task(self.send(allowing(event.update)))

    async def send(self, command: dict[str, Any]) -> None:
        command = {"id": os.urandom(8).hex(), **command}
        for _ in range(TRIES):
            # A worker that is killed while it starts is a reason to start another.
            with suppress(StartError):
                await self.once(command)
                return
        await self.once(command)

    async def once(self, command: dict[str, Any]) -> None:
        try:
            await self.sender.send(command)
        except Rejected as rejected:
            if rejected.reason != "not_queued":
                raise

    async def run(self) -> None:
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        upto: int | None = None
        async with asyncio.TaskGroup() as group:
            following = group.create_task(self.follow(group))
            while upto is None and (line := await reader.readline()):
                command = json.loads(line)
                upto = command.get("upto")
                if upto is None:
                    group.create_task(self.send(command))
            while upto is not None and self.seen < upto:
                self.news.clear()
                await self.news.wait()
            following.cancel()


def allowing(ask: dict[str, Any]) -> dict[str, Any]:
    command = {"do": "answer", "ask": ask["id"], "nonce": ask["nonce"]}
    if ask["kind"] == "question":
        return command | {"action": "accept", "content": {}}
    option = next(o["optionId"] for o in ask["options"] if o["kind"] == "allow_once")
    return command | {"option": option, "confirm": True}


if __name__ == "__main__":
    asyncio.run(Watcher(*sys.argv[1:4]).run())
