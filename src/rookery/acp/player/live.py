"""An open session: it plays one turn at a time; a prompt that comes meanwhile waits."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from rookery.acp.player.choices import Choices
from rookery.acp.player.memory import Session
from rookery.acp.player.performance import Performance, Stage
from rookery.acp.player.script import Script, Steps
from rookery.core.json.events import Json
from rookery.wire.jsonrpc import Incoming, TooLarge

type Job = Callable[[], Coroutine[Any, Any, object]]

TOO_LARGE = {"type": "text", "text": "(too large to send again)"}


class Live:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._waiting: deque[tuple[Performance, Job]] = deque()
        self.running: Performance | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def session(self) -> Session:
        return self.stage.session

    @property
    def choices(self) -> Choices:
        return self.stage.choices

    def prompt(self, request: Incoming, script: Script, prompt: list[Json]) -> None:
        turn = Performance(self.stage, request)
        self.queue(turn, lambda: turn.answer_prompt(script, prompt, text_of(prompt)))

    def perform(self, steps: Steps, name: str) -> None:
        """Steps that belong to no prompt."""
        turn = Performance(self.stage)
        self.queue(turn, lambda: turn.perform(steps, name))

    def replay(self) -> None:
        """Send everything again."""
        for update in self.session.updates():
            try:
                self.tell(update)
            except TooLarge:  # a prompt's block: we take longer lines than clients do
                self.tell({**update, "content": TOO_LARGE})

    def tell(self, update: Json) -> None:
        Performance(self.stage).tell(update)

    def set_mode(self, mode: str) -> None:
        Performance(self.stage).chose(self.choices.set_mode(mode))

    def set_option(self, id: str, value: Any) -> None:
        Performance(self.stage).chose(self.choices.set_option(id, value))

    def cancel(self, request: Incoming | None = None) -> None:
        """End the prompt of one request, or all that is played or waits; each is still answered."""
        turns = [*filter(None, [self.running]), *(turn for turn, _ in self._waiting)]
        for turn in turns:
            if request is None or turn.request is request:
                turn.cancel()

    def end(self, then: Callable[[], None]) -> None:
        """Cancel everything, and close the session's file once every prompt is answered."""
        self.cancel()

        def ended(_task: object) -> None:
            self.session.close()
            then()

        if self._task is None or self._task.done():
            ended(None)
        else:
            self._task.add_done_callback(ended)

    async def wind_down(self, seconds: float) -> None:
        self.cancel()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)
            self._task.cancel()

    def queue(self, turn: Performance, job: Job) -> None:
        self._waiting.append((turn, job))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._play(), name=self.session.id)

    async def _play(self) -> None:
        while self._waiting:
            self.running, job = self._waiting.popleft()
            await job()
            self.running = None


def text_of(prompt: list[Json]) -> str:
    return "\n".join(block["text"] for block in prompt if block["type"] == "text")
