"""One vendor's agent in a session of its own, under a real worker, with a scripted model."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from rookery.core.events import Event, kind_of
from tests.worker.aviary import Aviary, Bird, is_agent, is_idle, is_text
from tools.vendors.install import install
from tools.vendors.marks import Llm
from tools.vendors.roster import surroundings
from tools.vendors.vendor import Vendor

type Json = dict[str, Any]


class Perch:
    def __init__(self, vendor: Vendor, llm: Llm, aviary: Aviary, bird: Bird) -> None:
        self.vendor = vendor
        self.llm = llm
        self.aviary = aviary
        self.bird = bird

    @property
    def work(self) -> Path:
        return self.aviary.work

    def events(self) -> list[Event]:
        return self.bird.events()

    async def wake(self) -> Event:
        """Start the agent without a prompt, or start it anew; the event that says it is ready."""
        begun = await self.bird.send("restart")
        return await self.bird.until(lambda event: is_agent(event, "ready"), begun.seq)

    async def set_asking(self) -> None:
        """Some let a model decide, unless they are told otherwise."""
        if self.vendor.asking:
            await self.wake()
            await self.bird.send("set", option="mode", value=self.vendor.asking)

    async def say(self, text: str) -> list[Event]:
        return await self.bird.turn(f"[[say {text}]]")

    async def ramble(self) -> Event:
        """Begin an answer without end; once it is streaming, the event that began its turn."""
        begun = await self.bird.prompt("[[slow]]")
        await self.bird.until(lambda event: is_text(event, "slowly"), begun.seq)
        return begun

    async def run(self, command: str, kind: str) -> list[Event]:
        """A turn that asks for a command, which is answered by the first option of that kind."""
        begun = await self.bird.prompt(f"[[run {command}]]")
        ask = await self._ask(begun)
        options = [option for option in ask["options"] if option["kind"] == kind]
        assert options, f"no {kind} among {ask['options']}"
        await self.bird.answer(ask, options[0]["optionId"])
        ended = await self.bird.ended(begun)
        return self.bird.events(begun.seq - 1, ended.seq)

    async def _ask(self, begun: Event) -> Json:
        """Fails at once where the turn ends without one: the agent did not ask."""

        def asked_or_over(event: Event) -> bool:
            return is_idle(event) or kind_of(event.update) == "_ask"

        found = (await self.bird.until(asked_or_over, begun.seq)).update
        assert kind_of(found) == "_ask", f"{self.vendor.name} did not ask: {found}"
        return found


@asynccontextmanager
async def perched(vendor: Vendor, root: Path) -> AsyncIterator[Perch]:
    """ROOKERY_HOME must be `root/home`. Nothing of it runs any more afterwards."""
    programs = await asyncio.to_thread(install, vendor)
    async with Llm(vendor) as llm:
        aviary = Aviary(root)
        environment = surroundings(vendor, programs, root / "person", llm.address)
        environment["ROOKERY_HOME"] = aviary.home
        bird = aviary.hatch(argv=vendor.argv, environment=environment, agent=vendor.name)
        try:
            yield Perch(vendor, llm, aviary, bird)
        finally:
            await asyncio.to_thread(aviary.end)
