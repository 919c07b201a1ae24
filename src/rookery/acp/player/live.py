"""A session in this process: what is played in it goes one after the other, a prompt that comes
while another is played waits for its turn."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from rookery.acp.player.choices import Choices
from rookery.acp.player.memory import Session
from rookery.acp.player.performance import Performance, Stage
from rookery.acp.player.script import Script, Steps
from rookery.wire.jsonrpc import Incoming, TooLarge

type Json = dict[str, Any]
type Job = Callable[[], Coroutine[Any, Any, None]]

TOO_LARGE = {"type": "text", "text": "(too large to be told again)"}


class Live:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._waiting: deque[tuple[Performance, Job]] = deque()
        self._running: Performance | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def session(self) -> Session:
        return self._stage.session

    @property
    def choices(self) -> Choices:
        return self._stage.choices

    def prompt(self, request: Incoming, script: Script, prompt: list[Json]) -> None:
        text = "\n".join(block["text"] for block in prompt if block["type"] == "text")
        turn = Performance(self._stage, request)
        request.cancelled = turn.cancel
        self._queue(turn, lambda: turn.answer_prompt(script, prompt, text))

    def steer(self, prompt: list[Json]) -> bool:
        """A prompt that goes into the turn that is played; False: none is."""
        text = "\n".join(block["text"] for block in prompt if block["type"] == "text")
        return self._running is not None and self._running.steer(prompt, text)

    def introduce(self, request: Incoming, before: Steps, after: Steps) -> None:
        """Answer the request that made this session. Its updates come after the answer that names
        it, but for those that the script wants before."""
        turn = Performance(self._stage)

        def answer() -> None:
            request.reply({"sessionId": self.session.id, **self.choices.state()})

        async def play() -> None:
            if before:
                await turn.perform(before, "before the answer")
                answer()
            await turn.perform(after, "after session/new")

        if not before:
            answer()
        if before or after:
            self._queue(turn, play)

    def replay(self) -> None:
        """Tell everything again."""
        for update in self.session.updates():
            try:
                self.tell(update)
            except TooLarge:  # a prompt's block: we take longer lines than clients do
                self.tell({**update, "content": TOO_LARGE})

    def tell(self, update: Json) -> None:
        Performance(self._stage).tell(update)

    def set_mode(self, mode: str) -> None:
        self._changed(self.choices.set_mode(mode))

    def set_option(self, id: str, value: Any) -> None:
        self._changed(self.choices.set_option(id, value))

    def _changed(self, updates: list[Json]) -> None:
        for update in updates:
            self.tell(update)
        self.session.set(mode=self.choices.mode, values=self.choices.values())

    def cancel(self, *, force: bool = False) -> None:
        """End what is played and what waits; each prompt is still answered."""
        if self._running is not None:
            self._running.cancel(force=force)
        for waiting, _ in self._waiting:
            waiting.cancel(force=force)

    def end(self, then: Callable[[], None]) -> None:
        """Cancel all, and when every prompt has been answered, forget the session's file."""
        self.cancel(force=True)

        def ended(_task: object) -> None:
            self.session.close()
            then()

        if self._task is None or self._task.done():
            ended(None)
        else:
            self._task.add_done_callback(ended)

    async def wind_down(self, seconds: float) -> None:
        self.cancel(force=True)
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)
            self._task.cancel()

    def _queue(self, turn: Performance, job: Job) -> None:
        self._waiting.append((turn, job))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._play(), name=self.session.id)

    async def _play(self) -> None:
        while self._waiting:
            self._running, job = self._waiting.popleft()
            await job()
            self._running = None
