"""One vendor's agent in a session of its own, under a real worker, with a scripted model."""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rookery.core.blocks.asks import block_of
from rookery.core.json.events import Event
from rookery.core.settings.sandbox import LISTED, NONE, ON
from tests.worker.aviary import Aviary, Bird, is_agent, is_ask, is_idle, is_text
from tools.vendors.front import Front
from tools.vendors.install import install
from tools.vendors.marks import Llm, conversation_of
from tools.vendors.recorder import recording
from tools.vendors.roster import surroundings
from tools.vendors.sight import Sight
from tools.vendors.vendor import Environment, Vendor

type Json = dict[str, Any]

FACT = "the-owl-is-grey and sits in the old oak"
"""Said before a death, and to be remembered after it."""

PATIENCE = 180.0
"""Seconds: some start for half a minute where others work as well."""

SERVER = Path(__file__).resolve().parents[2] / "fixtures" / "mcp_server.py"
SERVERS = [{"name": "rook", "command": sys.executable, "args": [str(SERVER), "links"], "env": []}]


class Cage(NamedTuple):
    """What the sessions run in."""

    kind: str = NONE
    network: str = ON
    """LISTED: the model alone is, under an address that no proxy is told to spare."""


OPEN = Cage()


class Perch:
    def __init__(
        self,
        vendor: Vendor,
        llm: Llm,
        aviary: Aviary,
        environment: Environment,
        recorded: Environment,
        cage: Cage = OPEN,
    ) -> None:
        self.vendor = vendor
        self.cage = cage
        self.llm = llm
        self.aviary = aviary
        self.environment = environment
        self.begun = 0
        """The last event before this conversation."""
        self.asked: dict[str, str] = {}
        """By an ask's id: what it showed while it was open."""
        self.bird = self.hatch(vendor.argv, vendor.name, recorded)

    def hatch(self, argv: list[str], agent: str, environment: Environment) -> Bird:
        given = {"agent": agent, "sandbox": self.cage.kind, "mcp_servers": SERVERS}
        bird = self.aviary.hatch(argv=argv, environment=environment, **given)
        bird.patience = PATIENCE
        return bird

    @property
    def work(self) -> Path:
        return self.aviary.work

    @property
    def person(self) -> Path:
        """The home of whoever uses the agent."""
        return Path(self.environment["HOME"])

    def events(self) -> list[Event]:
        return self.bird.events()

    def sight(self) -> Sight:
        return Sight(self.events())

    def option(self, id: str) -> Json:
        [found] = [each for each in self.bird.header().options if each["id"] == id]
        return found

    async def requests(self, count: int) -> None:
        """Until the model got so many of the conversation."""

        def is_main(asked: Any) -> bool:
            return bool(conversation_of(asked).tools)

        await asyncio.to_thread(self.llm.wait, count, is_main)

    async def wake(self) -> Event:
        """Start the agent without a prompt, or start it anew; the event that says it is ready."""
        begun = await self.bird.send("restart")
        return await self.bird.until(lambda event: is_agent(event, "ready"), begun.seq)

    async def say(self, text: str) -> list[Event]:
        turn, _ = await self.play(f"[[say {text}]]", "allow_once")
        return turn

    async def ramble(self) -> Event:
        """Begin an answer without end; once it is streaming, the event that began its turn."""
        known = len(self.llm.main())
        begun = await self.bird.prompt("[[slow]]")
        if self.vendor.whole:
            await self.requests(known + 1)
            return begun

        def streams_or_over(event: Event) -> bool:
            return is_text(event, "slowly") or is_idle(event, begun.update["turn"])

        found = await self.bird.until(streams_or_over, begun.seq)
        assert is_text(found), f"nothing streamed: {found.update}"
        return begun

    async def play(self, prompt: str, kind: str) -> tuple[list[Event], list[str]]:
        """A turn, all of whose asks are answered by the first option of that kind; the asks."""
        begun = await self.bird.prompt(prompt)
        seen, asks = begun.seq, []
        while True:
            found = await self.bird.until(
                lambda event: is_idle(event, begun.update["turn"]) or is_ask(event), seen
            )
            if not is_ask(found):
                return self.bird.events(begun.seq - 1, found.seq), asks
            seen, ask = found.seq, found.update
            asks.append(ask["id"])
            self.asked[ask["id"]] = json.dumps(block_of(ask, self.bird.header()))
            if ask["kind"] != "permission":
                await self.bird.answer(ask, "", action="accept", content={})
                continue
            options = [option for option in ask["options"] if option["kind"] == kind]
            assert options, f"no {kind} among {ask['options']}"
            await self.bird.answer(ask, options[0]["optionId"])

    async def recover(self) -> None:
        """After a fault of the agent's, which may last as long as its process (vibe forgets no key
        that was refused) or its conversation (opencode's, which no strict model takes any more)."""
        await self.wake()
        turn = await self.say("here again")
        if turn[-1].update["reason"] != "end_turn":
            self.begun = (await self.bird.send("clear")).seq
            await self.say(FACT)

    async def settle(self) -> None:
        """After a step that went wrong: the next one finds no turn running."""
        if not self.bird.directory.exists() or self.bird.header().state == "idle":
            return
        since = self.events()[-1].seq
        await self.bird.send("cancel")
        await self.bird.until(is_idle, since - 1)


@asynccontextmanager
async def perched(
    vendor: Vendor, root: Path, record: Path | None = None, cage: Cage = OPEN
) -> AsyncIterator[Perch]:
    """ROOKERY_HOME must be `root/home`. Nothing of it runs any more afterwards."""
    programs = await asyncio.to_thread(install, vendor)
    async with AsyncExitStack() as stack:
        llm = await stack.enter_async_context(Llm(vendor))
        address, trust = llm.address, {}
        aviary = Aviary(root)
        settings = {"network": cage.network}
        if cage.network == LISTED:
            front = await stack.enter_async_context(Front(root / "front", llm.port))
            address, trust = front.address, front.trusted()
            settings["allow"] = front.address.removeprefix("https://")
            settings["read"] = shlex.quote(str(front.folder))
        lines = ["[agent]", "warm = false", "[worker]", f"start_timeout = {PATIENCE}", "[sandbox]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        if vendor.command:  # the registry does not know it, and one can only switch to a name
            lines += [f"[agents.{vendor.name}]", f"command = {json.dumps(vendor.command)}"]
        Path(aviary.home, "config.toml").write_text("\n".join(lines) + "\n")
        environment = surroundings(vendor, programs, root / "person", address) | trust
        environment["ROOKERY_HOME"] = aviary.home
        with recording(vendor.argv, environment, root, record) as recorded:
            try:
                yield Perch(vendor, llm, aviary, environment, recorded, cage)
            finally:
                await asyncio.to_thread(aviary.end)
