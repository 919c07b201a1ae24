"""Daemons, workers and clients' sockets are killed at random while turns run, and every client that
comes back ends with the document that the log folds to."""

import asyncio
import http.client
import json
import os
import random
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from rookery.client.daemon import local
from rookery.core.blocks.document import Document
from rookery.core.header import Header
from rookery.core.refusals import Refused
from rookery.core.view.reduce import fold
from rookery.daemon.process import lifecycle
from rookery.processes import tree
from tests.daemon.served import Served, serve
from tests.e2e.log_checks import check_document, check_order, check_prompts
from tests.worker.aviary import Aviary, Bird

TURN = [*({"text": f"piece {number}. "} for number in range(8)), {"wait": 0.1}, {"text": "end"}]
TAKEN = 600.0
"""Seconds until a prompt must be taken: more than all the kills take, each of which may undo it."""
AGAIN = 0.05
"""Seconds until a client whose connection broke tries again."""


class Client:
    """Follows one session for as long as it takes, and folds what it hears."""

    def __init__(self, ordeal: "Ordeal", bird: Bird, form: str) -> None:
        self.ordeal = ordeal
        self.bird = bird
        self.form = form
        self.seq = 0
        self.due = 0
        """What the log had when the kills were over and every turn had ended."""
        self.events: list[int] = []
        self.document = Document()
        self.link: ClientConnection | None = None
        self.connections = 0

    async def follow(self) -> None:
        while True:
            with suppress(OSError, WebSocketException, EOFError):
                await self._connected()
            await asyncio.sleep(AGAIN)

    async def _connected(self) -> None:
        daemon = self.ordeal.daemon
        headers = {"Authorization": f"Bearer {daemon.token}"}
        address = f"ws://{daemon.netloc}/api/stream"
        async with connect(address, additional_headers=headers, max_size=None) as link:
            self.link = link
            self.connections += 1
            wanted: dict[str, Any] = {"topic": self.bird.id, "form": self.form}
            if self.seq or self.form == "events":
                wanted["after"] = self.seq
            await link.send(json.dumps({"subscribe": wanted}))
            async for message in link:
                ((kind, body),) = json.loads(message).items()
                if kind in ("lagged", "ended"):
                    return
                self._take(kind, body)

    def _take(self, kind: str, body: Any) -> None:
        assert kind in ("snapshot", "ops", "events"), (kind, body)
        assert body["seq"] > self.seq or kind == "snapshot", "told twice"
        if kind == "events":
            self.events += [event["seq"] for event in body["events"]]
        elif kind == "ops":
            self.document.apply(body["ops"])
        else:
            self.document = Document(Header(body["header"]))
            self.document.blocks = {block["id"]: dict(block) for block in body["blocks"]}
        self.seq = body["seq"]


class Ordeal:
    def __init__(self, aviary: Aviary, sessions: int, turns: int, seed: int) -> None:
        self.aviary = aviary
        self.dice = random.Random(seed)
        self.daemon = serve(Path(aviary.home))
        self.port = int(self.daemon.netloc.rpartition(":")[2])
        assert self.daemon.token
        self.birds = [aviary.hatch() for _ in range(sessions)]
        self.clients = [
            Client(self, bird, form) for bird in self.birds for form in ("ops", "events")
        ]
        self.sent = {bird.id: [os.urandom(8).hex() for _ in range(turns)] for bird in self.birds}
        self.taken = asyncio.Event()
        """A prompt was."""
        self.killed = {"daemon": 0, "worker": 0, "socket": 0}

    async def undergo(self, kills: int) -> None:
        following = [asyncio.create_task(client.follow()) for client in self.clients]
        try:
            prompting = [asyncio.create_task(self._prompt(bird)) for bird in self.birds]
            await self._moved_on(prompting)
            for _ in range(kills):
                await asyncio.sleep(self.dice.uniform(0.02, 0.25))
                if await self._kill() == "daemon":
                    await self._moved_on(prompting)
            await asyncio.gather(*prompting)
            for bird in self.birds:
                await self._settled(bird)
            for client in self.clients:
                await self._caught_up(client, following)
        finally:
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)

    async def _moved_on(self, prompting: list[asyncio.Task[None]]) -> None:
        """Until another prompt was taken, or all were: of daemons that are killed sooner, however
        slow the machine, none ever starts a worker that could be killed."""
        self.taken.clear()
        taken = asyncio.create_task(self.taken.wait())
        left = [task for task in prompting if not task.done()]
        if left:
            await asyncio.wait([taken, *left], return_when=asyncio.FIRST_COMPLETED)
        taken.cancel()

    async def _prompt(self, bird: Bird) -> None:
        """The client owns the retry: sent with one id until it is taken. Each try has a thread for
        itself alone: one that waits for the daemon must not keep the next daemon from starting."""
        for id in self.sent[bird.id]:
            body = {"text": json.dumps({"play": TURN}), "id": id}
            async with asyncio.timeout(TAKEN):
                while True:
                    if await asyncio.to_thread(self._sends, bird.id, body):
                        break
                    await asyncio.sleep(AGAIN)
            self.taken.set()

    def _sends(self, session: str, body: dict[str, Any]) -> bool:
        try:
            answer = self.daemon.ask("POST", f"/api/sessions/{session}/prompt", body)
        except (OSError, http.client.HTTPException):
            return False
        if answer.status != 200:
            print(session, answer.body)  # what it was, if it never is taken
        return answer.status == 200

    async def _kill(self) -> str:
        """What it was."""
        what = self.dice.choice(["daemon", "worker", "worker", "socket"])
        self.killed[what] += 1
        if what == "daemon":
            self.daemon.kill()
            again = await asyncio.to_thread(serve, Path(self.aviary.home), port=self.port)
            again._token = self.daemon._token
            self.daemon = again
        elif what == "socket":
            client = self.dice.choice(self.clients)
            if client.link is not None:
                client.link.transport.abort()
        else:
            bird = self.dice.choice(self.birds)
            with suppress(OSError, ValueError, KeyError):
                if tree.alive(*bird.worker[:2]):
                    os.kill(bird.worker.pid, signal.SIGKILL)
        return what

    async def _settled(self, bird: Bird) -> None:
        """A kill in mid-turn holds the queue until a user sends it. So this one does: it wakes the
        session, and changes nothing while a turn runs."""
        async with asyncio.timeout(120):
            while True:
                header = bird.header()
                if header.state == "idle" and not header.queue:
                    return
                with suppress(Refused, OSError):
                    await bird.send("queue", op="send")
                await asyncio.sleep(0.1)

    async def _caught_up(self, client: Client, following: list[asyncio.Task[None]]) -> None:
        client.due = len(client.bird.events())
        async with asyncio.timeout(120):
            while client.seq < client.due:
                for task in following:
                    assert not task.done(), task.exception()
                await asyncio.sleep(0.02)

    def check(self) -> None:
        for bird in self.birds:
            events = bird.events()
            check_order(events)
            check_prompts(events, self.sent[bird.id])
            check_document(bird, events)
        for client in self.clients:
            # What came to the log since it was cut off is none of its business.
            events = client.bird.events(upto=client.seq)
            assert client.seq >= client.due
            if client.form == "events":
                assert client.events == [event.seq for event in events]
                continue
            whole = fold(None, events)
            for name, block in client.document.blocks.items():
                assert block["text"] == whole.blocks[name]["text"]
            assert client.document.blocks, "it heard nothing"
            assert client.document.header.state == whole.header.state


async def _undergo(aviary: Aviary, sessions: int, turns: int, kills: int, seed: int) -> Ordeal:
    ordeal = Ordeal(aviary, sessions, turns, seed)
    try:
        await ordeal.undergo(kills)
        ordeal.check()
    finally:
        if local.record(aviary.home) is not None:
            lifecycle.stop(aviary.home)
    return ordeal


async def test_a_few_kills_lose_nothing(aviary: Aviary) -> None:
    await _undergo(aviary, sessions=3, turns=3, kills=8, seed=14)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_a_hundred_kills_of_twenty_sessions_lose_nothing(aviary: Aviary) -> None:
    aviary.configure(max_workers=30, worker_crash_most=1000)
    aviary.trust()
    ordeal = await _undergo(aviary, sessions=20, turns=8, kills=100, seed=20)
    assert sum(ordeal.killed.values()) == 100
    assert min(ordeal.killed.values()) >= 10, ordeal.killed
    assert any(client.connections > 3 for client in ordeal.clients)


@pytest.mark.long
async def test_a_new_daemon_adopts_twenty_live_workers(aviary: Aviary) -> None:
    """The next daemon has them all, awake, as soon as it answers."""
    aviary.configure(max_workers=30)
    aviary.trust()
    daemon = serve(Path(aviary.home))
    birds = [aviary.hatch() for _ in range(20)]
    try:
        for bird in birds:
            await bird.turn("hello")
        daemon.kill()
        again: Served = await asyncio.to_thread(serve, Path(aviary.home))
        rows = again.own("GET", "/api/sessions").json()["sessions"]
        assert {row["id"] for row in rows if row["awake"]} == {bird.id for bird in birds}
    finally:
        lifecycle.stop(aviary.home)
