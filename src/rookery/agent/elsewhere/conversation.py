"""The SDK's remote conversation, with the interface that turns and sessions expect of a local one.

The server stops before every step's actions (AlwaysConfirm, whatever the session's mode), so that
they are judged on this side first. Its links may break: every event is kept here, and none is
handled twice."""

import asyncio
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from openhands.sdk import Agent, Message
from openhands.sdk.conversation.conversation_stats import ConversationStats
from openhands.sdk.conversation.exceptions import ConversationRunError
from openhands.sdk.conversation.state import ConversationExecutionStatus as Status
from openhands.sdk.event import (
    ActionEvent,
    Event,
    MessageEvent,
    ObservationEvent,
    UserRejectObservation,
)
from openhands.sdk.event.conversation_state import ConversationStateUpdateEvent
from openhands.sdk.llm import LLMRegistry

from rookery.agent.elsewhere.kept_events import KeptEvents
from rookery.agent.elsewhere.link import Link, Linker
from rookery.agent.elsewhere.recap import text_of
from rookery.agent.elsewhere.refusals import CUT_OFF, RESTARTED, UNASKED, Rejections, error_of
from rookery.agent.elsewhere.requests import Unreachable
from rookery.agent.elsewhere.state import AwayState, Hearing
from rookery.agent.provider.told import ActionableError
from rookery.core.json import Json

if TYPE_CHECKING:
    from openhands.sdk import LLM

LOOK = 3.0
"""Seconds between two looks at a run that says nothing: its server may have died."""
STILL = 3
"""Looks at a run that has ended, after which its last word is no longer waited for."""
AWAY = 120.0
"""Seconds that a turn waits for a server that was lost."""
AGAIN = 1.0
LOST = "The agent server does not respond. The turn waits for it for up to 2 minutes.\n"
BACK = "The agent server is back. The turn goes on.\n"
DROPPED = "The agent server was restarted: what it was doing, or waiting to do, was dropped.\n"


class AwayConversation:
    tool_hooks = None
    connections = None

    def __init__(self, agent: Agent, linker: Linker, kept: KeptEvents, hearing: Hearing) -> None:
        self.agent = agent
        self.state = AwayState(kept)
        self.llm_registry = LLMRegistry()
        """Of models that are asked from here."""
        self._linker = linker
        self._kept = kept
        self._hearing = hearing
        self._link: Link | None = None
        self._lock = threading.Lock()
        self._connecting = threading.RLock()
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._running = False
        """A run was begun, and its end is not known yet."""
        self._ran = False
        """It was seen running: what is said of its state from then on is about its end."""
        self._spoke = self._over = False
        self._stopping = False
        self._fault = ""
        self.rejections = Rejections()
        self._upto = kept.anchor()
        """The event up to which the server's list was read; what its socket says may have gaps."""
        self._delta = ""
        """The last piece of an answer."""
        self._sent: set[str] = set()
        self._own_words: set[str] = set()
        """What the model was told by us, which the server takes for the user's."""

    # --- the link --------------------------------------------------------------------------------

    @property
    def id(self) -> uuid.UUID:
        return uuid.UUID(self._linker.conversation)

    @property
    def link(self) -> Link:
        """The connection to the server, made if there is none. Raises ActionableError."""
        if self._link is None:
            self.connect()
        assert self._link is not None
        return self._link

    def connect(self) -> bool:
        """Connect to the server and to the conversation on it; begin one if there is none. Returns
        whether a restart of the server cut something off. Blocks. Raises ActionableError."""
        with self._connecting, self._linker.waiting():
            return self._connect()

    def _connect(self) -> bool:
        if self._link is not None and self._link.is_well():
            self._link.confirm()
            self._refresh(self._link)
            return False
        self.disconnect()
        before = self._linker.conversation
        link = self._linker.reach(self.agent, self._heard, self._kept.events)
        if self._linker.conversation != before:
            self._end_calls()
        try:
            self._refresh(link)
            cut_off = self._linker.restarted(link) and self._mend(link)
        except ActionableError:
            link.close()
            raise
        self._link = link
        link.on_gap(partial(self._close_gap, link))
        return cut_off

    def _close_gap(self, link: Link) -> None:
        """Read the events missed while the connection was down. Called in the link's thread."""
        with suppress(ActionableError):  # the run looks at its server itself
            self._refresh(link)

    def _end_calls(self) -> None:
        """End the open calls of a conversation that is gone."""
        for action in self.state.get_unmatched_actions(self.state.events):
            self._take(error_of(action, CUT_OFF))

    def _mend(self, link: Link) -> bool:
        """Return whether a restart of the server cut something off. What was open is not run: it
        may have been before. The model cannot see it until it has a result and the history is read
        again."""
        pending = self.state.get_unmatched_actions(self.state.events)
        cut_off = bool(pending) or self.state.execution_status == Status.ERROR
        if pending:
            link.tell("events/respond_to_confirmation", {"accept": False, "reason": CUT_OFF})
            self._refresh(link)
        if cut_off and self._kept.events:
            link.tell("navigate", {"event_id": self._kept.events[-1].id})
            # Before its first message, a server does not count what the model uses.
            self._own_words.add(RESTARTED)
            parts = [{"type": "text", "text": RESTARTED}]
            link.tell("events", {"role": "user", "content": parts, "run": False})
        if pending:
            self._hearing.tell_user(DROPPED)
        return cut_off

    def _refresh(self, link: Link) -> None:
        for event in link.events(self._upto):
            self._take(event)
            self._upto = event.id
        self.state.execution_status = link.status()

    def disconnect(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def close(self) -> None:
        self.disconnect()

    # --- what it says ----------------------------------------------------------------------------

    def _heard(self, event: Event) -> None:
        """Handle an event from the server. Called in the link's thread."""
        kind = type(event).__name__
        if isinstance(event, ConversationStateUpdateEvent):
            self._note(event)
        elif kind == "StreamingDeltaEvent":
            delta: Any = event
            if delta.id != self._delta:  # a server may say things twice
                self._delta = delta.id
                self._hearing.on_delta(delta.content, delta.reasoning_content)
        else:
            self._take(event, live=True)

    def _take(self, event: Event, *, live: bool = False) -> None:
        if isinstance(event, ConversationStateUpdateEvent):
            return
        if isinstance(event, MessageEvent) and text_of(event.llm_message) in self._own_words:
            event = event.model_copy(update={"source": "environment"})
        elif isinstance(event, UserRejectObservation) and event.id not in self._kept.seen:
            event = self.rejections.shown(event)
        with self._lock:
            named = self._hearing.named(event)
            if not self._kept.add(named):
                return
        self._spoke = self._spoke or event.source != "user"
        self._hearing.on_event(named)
        if live and isinstance(event, ObservationEvent):
            self._check(event)

    def _check(self, event: ObservationEvent) -> None:
        """End the turn if the server ran an action unjudged: it is not trusted then."""
        if event.tool_name in ("finish", "think") or self._hearing.was_cleared(event.action_id):
            return
        notice = UNASKED.format(tool=event.tool_name)
        if self._running:
            self._fault = notice
            self._wake()
        elif self._hearing.is_asked(event.action_id):
            self._hearing.give_up(notice)

    def _note(self, event: ConversationStateUpdateEvent) -> None:
        value = event.value.get("execution_status") if event.key == "full_state" else None
        if event.key == "execution_status":
            value = event.value
        try:
            status = Status(value)
        except ValueError:
            return
        self.state.execution_status = status
        if status == Status.RUNNING:
            self._ran = True
        elif self._running:
            # The server tells the whole state when a run is over, after all its events.
            self._over = self._over or (self._ran and event.key == "full_state")
            self._wake()

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self._news.set)

    # --- a run -----------------------------------------------------------------------------------

    async def arun(self) -> None:
        """Run until finished, waiting or interrupted. Raises ConversationRunError."""
        self._stopping, self._fault = False, ""
        try:
            await asyncio.to_thread(self._begin)
            await self._until_over()
        except ActionableError as error:
            raise ConversationRunError(self.id, error) from error
        finally:
            self._running = False
        if not self._stopping and (failure := self.state.failure()) is not None:
            raise ConversationRunError(self.id, failure)

    def _begin(self) -> None:
        link = self.link
        self._running, self._ran, self._spoke, self._over = True, False, False, False
        link.tell("run")

    async def _until_over(self) -> None:
        still = 0
        while not self._stopping:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._news.wait()
            silent = not self._news.is_set()
            self._news.clear()
            if self._fault:
                await asyncio.to_thread(self.interrupt)
                raise ActionableError(self._fault, "provider")
            try:
                if silent:  # maybe its socket is
                    await asyncio.to_thread(self._refresh, self.link)
                status = await asyncio.to_thread(self.link.status)
                still = still + 1 if status != Status.RUNNING else 0
                if still and (self._over or (silent and self._spoke) or still >= STILL):
                    await asyncio.to_thread(self._refresh, self.link)
                    return
            except Unreachable:
                if await self._win_back():
                    return

    async def _win_back(self) -> bool:
        """Wait for a server that was lost, and go on with its run. Returns whether the run is over.
        Raises ActionableError."""
        if not self._stopping:
            self._hearing.tell_user(LOST)
        until = time.monotonic() + AWAY
        while not self._stopping:
            try:
                anew = self._linker.conversation
                cut_off = await asyncio.to_thread(self.connect)
                if cut_off:
                    await asyncio.to_thread(self._begin)
            except Unreachable:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(AGAIN)
                continue
            if self._linker.conversation != anew:
                raise ActionableError(
                    "The conversation had to start over on the agent server. Send the prompt again."
                )
            self._hearing.tell_user(BACK)
            return not cut_off and self.state.execution_status != Status.RUNNING
        return True

    def wait_until_idle(self, stopped: Callable[[], bool]) -> None:
        """Wait for a run that another process of ours began and that goes on over there. Blocks."""
        while self.state.execution_status == Status.RUNNING:
            if stopped():
                self.interrupt()
                return
            time.sleep(AGAIN / 2)
            self._refresh(self.link)

    def interrupt(self) -> None:
        """Interrupt the run. Blocks, for a moment."""
        self._stopping = True
        self._wake()
        try:
            if self._link is not None:
                self._link.tell("interrupt")
                self._refresh(self._link)
        except ActionableError:
            self.state.execution_status = Status.PAUSED  # nobody is there to be interrupted

    # --- changes ---------------------------------------------------------------------------------

    def is_foreign(self, event: Event) -> bool:
        """Tell whether another client of the server, or another process of ours, sent it."""
        if not isinstance(event, MessageEvent) or event.source != "user":
            return False
        return text_of(event.llm_message) not in self._sent

    def send_message(self, message: Message) -> None:
        self._sent.add(text_of(message))
        parts = [part.model_dump(mode="json") for part in message.content]
        self._tell("events", {"role": message.role, "content": parts, "run": False})

    def _on_event(self, event: Event) -> None:
        """Take an event from this side: a rejection, of which the server takes one for all actions
        of a step, or a message for the model that is not the user's."""
        if isinstance(event, UserRejectObservation):
            self.rejections.add(event.action_id, event.rejection_reason)
        elif isinstance(event, MessageEvent):
            self._own_words.add(text_of(event.llm_message))
            self.send_message(event.llm_message)

    def settle_answers(self, pending: Sequence[ActionEvent]) -> list[ActionEvent]:
        """Return the actions that may run, once all of a step's are answered for. Blocks."""
        if not (reason := self.rejections.settle(pending)):
            return list(pending)
        self.reject_pending_actions(reason)
        return []

    def reject_pending_actions(self, reason: str) -> None:
        self._tell("events/respond_to_confirmation", {"accept": False, "reason": reason})
        self._refresh(self.link)

    def switch_llm(self, llm: "LLM") -> None:
        self.agent = self.agent.model_copy(update={"llm": llm})
        self.link.give_model(llm)

    def condense(self) -> None:
        self._tell("condense")
        self._refresh(self.link)

    def navigate_to(self, event_id: str | None) -> None:
        self._tell("navigate", {"event_id": event_id})
        self._kept.back_to(event_id)

    def generate_title(self, max_length: int = 50) -> str:
        asked = f"Name this conversation in at most {max_length} characters. Answer with the name."
        answer = self._tell("ask_agent", {"question": asked})
        return str((answer or {}).get("response") or "")[:max_length].strip()

    def fork(self, id: str, from_event_id: str | None) -> None:
        body: Json = {"id": id}  # with the usage so far, the server would count no more
        self._tell("fork", body | ({"from_event_id": from_event_id} if from_event_id else {}))

    def copy_kept(self, folder: str, last: str | None) -> None:
        """Copy this side's events, for a fork."""
        self._kept.copy(folder, last)

    def last_before(self, moment: float) -> str | None:
        return self._kept.last_before(moment)

    def _tell(self, what: str, body: Json | None = None) -> Any:
        """Send a request to the conversation. Raises ConversationRunError."""
        try:
            return self.link.tell(what, body)
        except ActionableError as error:
            raise ConversationRunError(self.id, error) from error

    @property
    def conversation_stats(self) -> ConversationStats:
        """The usage, including that of models that were asked from here."""
        stats = self._link.stats() if self._link is not None else ConversationStats()
        for name in self.llm_registry.list_usage_ids():
            stats.usage_to_metrics[name] = self.llm_registry.get(name).metrics
        return stats
