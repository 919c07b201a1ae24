"""Playing one turn: its steps in order, and exactly one answer, whatever interrupts it. And an open
session, which plays one turn at a time; a prompt that comes meanwhile waits."""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, NamedTuple

from rookery.acp.player.choices import Choices
from rookery.acp.player.memory import OVER, Session
from rookery.acp.player.script import Script, ScriptError, Steps, brings_steps, check_steps, fill
from rookery.core.json import Json
from rookery.wire.failures import INTERNAL_ERROR, INVALID_PARAMS
from rookery.wire.jsonrpc import ConnectionClosed, Incoming, Peer, RpcError, TooLarge
from rookery.wire.params import offers

type Play = Callable[["Performance", Json], Awaitable[None]]


class Verb(NamedTuple):
    main: str
    """The argument for a value that is not an object: {"wait": 1} is {"seconds": 1}."""
    play: Play


type Verbs = Mapping[str, Verb]


class TurnOver(Exception):
    """Raised to end the turn: with a stop reason, or with an error."""

    def __init__(
        self, stop: str = "end_turn", error: RpcError | None = None, meta: object = None
    ) -> None:
        super().__init__(stop)
        self.stop = stop
        self.meta = meta
        self.error = error


class Stage(NamedTuple):
    """The objects that the performances of one session share."""

    peer: Peer
    session: Session
    client: Json
    """The client's capabilities."""
    choices: Choices
    verbs: Verbs


class Performance:
    """Plays the steps of one prompt, or without a request steps of no prompt. A cancel interrupts
    the step, which cleans up; open tool calls fail before the prompt is answered."""

    def __init__(self, stage: Stage, request: Incoming | None = None) -> None:
        self.stage = stage
        self.session = stage.session
        self.speaker = stage.session.id
        """Under which session it speaks: its own, or a sub-agent's."""
        self.request = request
        self.late: Steps = []
        self.variables = {"session": stage.session.id, "cwd": stage.session.cwd}
        self.variables["servers"] = stage.session.servers
        self.cancelled = False
        self.children: dict[str, asyncio.Task[None]] = {}
        """What sub-agents play, by session."""
        self._ids: dict[str, str] = {}
        self._open: set[str] = set()
        self.answered = False
        self._task: asyncio.Task[None] | None = None

    # --- The turn

    async def answer_prompt(self, script: Script, prompt: list[Json], text: str) -> None:
        """Play the turn and answer its request, even if it was cancelled before it began."""
        turn = self.session.begin_turn()
        self.variables |= {"prompt": text, "turn": str(turn + 1)}
        self.remember(prompt)
        over = await self._over(script, turn, text)
        self.answered = True
        if self.cancelled or over.error is not None:
            self.fail_open_tools()
        if self.request is not None:
            if over.error is not None:
                self.request.fail(over.error.code, over.error.message, over.error.data)
            else:
                meta = {} if over.meta is None else {"_meta": over.meta}
                self.request.reply({"stopReason": over.stop, **meta})
        await self.perform(self.late, "late")

    def remember(self, prompt: list[Json]) -> None:
        message = self.session.new_message_id()
        for block in prompt:
            self.session.remember(
                {"sessionUpdate": "user_message_chunk", "content": block, "messageId": message}
            )

    async def _over(self, script: Script, turn: int, text: str) -> TurnOver:
        if self.cancelled:
            return TurnOver("cancelled")
        try:
            steps = script.steps_for(turn, text)
            check_steps(steps, self.stage.verbs, "play")
        except ScriptError as error:
            return TurnOver(error=RpcError(INVALID_PARAMS, str(error)))
        return await self.perform(steps, f"turn {turn}")

    async def perform(self, steps: Steps, name: str) -> TurnOver:
        self._task = asyncio.create_task(self.play(steps), name=name)
        try:
            await asyncio.wait({self._task})
        finally:
            self._task.cancel()
        if self._task.cancelled():
            return TurnOver("cancelled")
        match self._task.exception():
            case None:
                return TurnOver()
            case TurnOver() as over:
                return over
            case RpcError() as error:
                return TurnOver(error=error)
            case ConnectionClosed():
                return TurnOver("cancelled")
            case (TooLarge() | OSError() | ScriptError()) as error:
                return TurnOver(error=RpcError(INTERNAL_ERROR, f"cannot play: {error}"))
            case (KeyError() | TypeError() | ValueError() | AttributeError()) as error:
                # A step with wrong arguments ends only its turn.
                return TurnOver(error=RpcError(INTERNAL_ERROR, f"wrong arguments: {error!r}"))
            case bug:
                raise bug

    def cancel(self) -> None:
        if not self.cancelled:
            self.cancelled = True
            if self._task is not None:
                self._task.cancel()

    async def play(self, steps: Steps) -> None:
        for step in steps:
            name = next(iter(step))
            verb = self.stage.verbs[name]
            rest = fill(step, self.variables)
            value = rest.pop(name)
            arguments = value | rest if isinstance(value, dict) else {verb.main: value, **rest}
            await verb.play(self, arguments)
            if self.stage.peer.buffered:
                await self.stage.peer.drain()

    # --- Telling the client

    def send(self, update: Json) -> None:
        """Remember an update, then send it."""
        tool, status = update.get("toolCallId"), update.get("status")
        if self.speaker == self.session.id:
            self.session.remember(update)
        elif isinstance(tool, str):
            self.session.tool_ids.add(tool)
        if isinstance(tool, str):
            if status in OVER:
                self._open.discard(tool)
            elif status is not None or update.get("sessionUpdate") == "tool_call":
                self._open.add(tool)
        self.tell(update)

    def tell(self, update: Json) -> None:
        """Send an update of state, which a replay does not repeat."""
        params = {"sessionId": self.speaker, "update": update}
        self.stage.peer.notify("session/update", params)

    def chose(self, updates: list[Json]) -> None:
        """Report a change of mode or options to the client, and remember it."""
        for update in updates:
            self.tell(update)
        choices = self.stage.choices
        self.session.set(mode=choices.mode, values=choices.values())

    def tool(self, wish: str | None, fields: Json) -> str:
        """Announce a tool call, or update one that this turn announced. Returns its id."""
        known = self._ids.get(wish) if wish is not None else None
        id = known or self.session.new_tool_id(wish)
        if known is None:
            self._ids[wish or id] = self._ids[id] = id
            fields = {"title": wish or "tool", **fields}
        kind = "tool_call_update" if known else "tool_call"
        self.send({"sessionUpdate": kind, "toolCallId": id, **fields})
        return id

    def fail_open_tools(self) -> None:
        for tool in sorted(self._open):
            self.send({"sessionUpdate": "tool_call_update", "toolCallId": tool, "status": "failed"})

    # --- Asking the client

    def offered(self, *path: str) -> bool:
        """Tell whether the client has this capability."""
        return offers(self.stage.client, *path)

    async def call(self, method: str, **params: Any) -> Any:
        return await self.stage.peer.request(method, {"sessionId": self.speaker, **params})

    def absolute(self, path: str) -> str:
        return os.path.join(self.session.cwd, path)


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
        """Play steps that belong to no prompt."""
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
        """Cancel the prompt of one request, or everything that is played or waits; each is still
        answered."""
        turns = [*filter(None, [self.running]), *(turn for turn, _ in self._waiting)]
        for turn in turns:
            if request is None or turn.request is request:
                turn.cancel()

    def cancel_child(self, session: str) -> None:
        playing = self.running.children.get(session) if self.running is not None else None
        if playing is not None:
            playing.cancel()

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
    """Return the text of a prompt; if a block brings steps, only that block's, whatever a client
    puts before it."""
    texts = [block["text"] for block in prompt if block["type"] == "text"]
    return next(filter(brings_steps, texts), "\n".join(texts))
