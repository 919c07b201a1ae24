"""What a session's client hears: the SDK's events, tokens and output, in order and on the loop,
whichever thread they come from; and words of our own beside them."""

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from openhands.sdk.event import ActionEvent, MessageEvent
from openhands.sdk.event.conversation_error import ConversationErrorEvent

from rookery.agent.conversation.auto_answer import UNJUDGED
from rookery.agent.conversation.steps import Conversation, waiting_in
from rookery.agent.mcp.names import Names
from rookery.agent.process.client import Client
from rookery.agent.provider.failures import short
from rookery.agent.storage import delegations
from rookery.agent.storage.store import Record
from rookery.agent.translate import Translator
from rookery.agent.translate.calls import SPOKEN, SUB_AGENTS
from rookery.agent.translate.children import Refusal, Watcher
from rookery.agent.translate.pace import Pace
from rookery.core.units import duration
from rookery.wire.params import offers

if TYPE_CHECKING:
    from openhands.sdk.event import Event
    from openhands.sdk.llm.utils.metrics import Metrics

type Json = dict[str, Any]

CALLS_KEPT = 10
"""Calls of the model of which the numbers are kept one by one."""


class Running(Protocol):
    """A turn, as the session that it belongs to sees it."""

    over: asyncio.Event
    answered: asyncio.Event
    stop_reason: str

    @property
    def cancelled(self) -> bool: ...
    def cancel(self, *, person: bool = True) -> None: ...
    def leave(self) -> None: ...
    def steer(self, parts: list[tuple[str, str]]) -> bool: ...
    def command(self, said: Any) -> None: ...
    async def take_steering(self) -> bool: ...
    async def ask_for_child(self, child: str, action: ActionEvent) -> str: ...


class Child(NamedTuple):
    """An agent below, as it is told."""

    call: str
    translator: Translator
    pace: Pace
    words: Pace


class Voice:
    turn: Running | None = None

    def __init__(self, client: Client, record: Record, folder: str) -> None:
        self.client = client
        self.record = record
        self.folder = folder
        """Where the conversation is kept."""
        self.conversation: Conversation | None = None
        self.tool_names = Names(folder, reserved={*SPOKEN, *SUB_AGENTS})
        self.translator = self._new_translator()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._pace = Pace(self._loop, self._take_output, lambda: client.is_behind)
        self._watcher = Watcher(
            self._on_child_event,
            self._on_child_output,
            self._on_child_begin,
            self._permit_child,
            self._on_child_token,
        )
        self._children: dict[str, Child] = {}
        self._usage: Json | None = None

    @property
    def running(self) -> Conversation:
        assert self.conversation is not None, "open() comes first"
        return self.conversation

    def _new_translator(self) -> Translator:
        """One for the session's life; a replay begins with a new one."""
        offered = self.client.capabilities
        return Translator(
            self.record.cwd,
            terminals=offers(offered, "_meta", "terminal_output"),
            notices=offers(offered, "session", "notices"),
            compaction=offers(offered, "session", "compaction"),
            names=self.tool_names.meaning,
        )

    # --- what the client is told -----------------------------------------------------------------

    def tell(self, *updates: Json) -> None:
        for update in updates:
            self.client.tell(self.record.id, update)

    def end_calls(self, words: str) -> None:
        """Every call that was announced comes to an end, but those that wait for an answer."""
        waiting = [action.tool_call_id for action in waiting_in(self.running)]
        self.tell(*self.translator.settle(words, waiting))

    def say(self, words: str) -> None:
        """Words of ours, in the place of the agent's."""
        content = {"type": "text", "text": words}
        self.tell({"sessionUpdate": "agent_message_chunk", "content": content})

    def notice(self, words: str, **meta: Any) -> None:
        """Something beside the answer; for clients that know no notices, as a thought."""
        for update in self.translator.notice(words, "warning"):
            self.tell(update | ({"_meta": {"rookery": meta}} if meta else {}))

    def on_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        """Now, or from a thread as soon as the loop comes to it, in order."""
        if threading.get_ident() == self._thread:
            function(*arguments)
        else:
            self._loop.call_soon_threadsafe(function, *arguments)

    async def replay(self) -> None:
        """Tell all of it again, the person's words too, and the agents below; nothing else
        happens."""
        translator = self._new_translator()
        below: dict[tuple[str, str], Translator] = {}
        for told in await asyncio.to_thread(self._past):
            if told.call:
                place = told.call, told.conversation
                child = below.get(place) or below.setdefault(place, translator.child(*place))
                self.tell(*child.live(told.event))
            else:
                self.tell(*translator.replay(told.event))
            await self.client.peer.drain()
        if self.turn is None:
            self.translator = translator
            waiting = [action.tool_call_id for action in waiting_in(self.running)]
            self.tell(*translator.settle("interrupted", waiting))
        self._usage = None
        self.tell_usage()

    def _past(self) -> list[delegations.Told]:
        """Blocks: reads files."""
        return list(delegations.in_order(self.folder, self.running.state.active_branch()))

    # --- what the SDK tells us -------------------------------------------------------------------

    def _on_event(self, event: "Event") -> None:
        self.on_loop(self._take_event, event)

    def _take_event(self, event: "Event") -> None:
        if self.turn is None or isinstance(event, ConversationErrorEvent):
            return  # an error is the turn's to tell
        if (call := getattr(event, "tool_call_id", None)) and not isinstance(event, ActionEvent):
            self._pace.ended(call)
        self.tell(*self.translator.live(event))
        if isinstance(event, ActionEvent | MessageEvent) and event.source == "agent":
            self.tell_usage()

    def _on_child_begin(self, action: str, folder: str, events: int, task: str) -> None:
        delegations.note(self.folder, action, folder, events, task)

    def _permit_child(
        self,
        conversation: str,  # noqa: ARG002
        action: ActionEvent,  # noqa: ARG002
    ) -> Refusal | None:
        """In the thread of a sub-agent's tool, which waits: why it may not run; None: it may."""
        return Refusal(UNJUDGED)

    def _on_child_event(self, call: str, conversation: str, event: "Event") -> None:
        """In the tool's thread, which waits for a client that is behind: an agent below takes many
        steps within one of ours."""
        self.on_loop(self._take_child_event, call, conversation, event)
        if self.client.is_behind and threading.get_ident() != self._thread:
            asyncio.run_coroutine_threadsafe(self.client.keep_up(), self._loop).result()

    def _take_child_event(self, call: str, conversation: str, event: "Event") -> None:
        if self.turn is None or self.turn.cancelled:
            return
        child = self._child(call, conversation)
        if (own := getattr(event, "tool_call_id", None)) and not isinstance(event, ActionEvent):
            child.pace.ended(own)
        self.tell(*child.translator.live(event))

    def _child(self, call: str, conversation: str) -> Child:
        child = self._children.get(conversation)
        if child is None or child.call != call:  # one that goes on stands below another call
            translator = self.translator.child(call, conversation)
            pace = Pace(
                self._loop,
                lambda id, text: self._tell_output(translator, id, text),
                lambda: self.client.is_behind,
            )
            words = Pace(
                self._loop, lambda *_: self._tell_words(translator), lambda: self.client.is_behind
            )
            child = self._children[conversation] = Child(call, translator, pace, words)
        return child

    def _on_child_token(self, call: str, conversation: str, chunk: Any) -> None:
        self.on_loop(self._take_child_token, call, conversation, chunk)

    def _take_child_token(self, call: str, conversation: str, chunk: Any) -> None:
        if self.turn is not None and not self.turn.cancelled:
            child = self._child(call, conversation)
            self.tell(*child.translator.delta(chunk))
            child.words.feed(call, " ")  # all that it said is told each time: not at each token

    def _tell_words(self, translator: Translator) -> None:
        if self.turn is not None and not self.turn.cancelled:
            self.tell(*translator.words())

    def _tell_start(self, conversation: str, action: ActionEvent) -> None:
        if self.turn is not None and not self.turn.cancelled:
            self.tell(*self.translator_of(conversation).started(action))

    def _on_child_output(self, conversation: str, call: str, text: str) -> None:
        child = self._children.get(conversation)
        if child is not None:
            child.pace.feed(call, text)

    def translator_of(self, conversation: str) -> Translator:
        """Of an agent below, where it has said something already."""
        child = self._children.get(conversation)
        return child.translator if child is not None else self.translator

    def _on_token(self, chunk: Any) -> None:
        self.on_loop(self._take_token, chunk)

    def _take_token(self, chunk: Any) -> None:
        if self.turn is not None and not self.turn.cancelled:
            self.tell(*self.translator.delta(chunk))

    def _take_output(self, call: str, text: str) -> None:
        self._tell_output(self.translator, call, text)

    def _tell_output(self, translator: Translator, call: str, text: str) -> None:
        if self.turn is not None and not self.turn.cancelled:
            self.tell(*translator.output(call, text))

    def _on_retry(self, attempt: int, most: int, error: BaseException | None) -> None:
        self.on_loop(self._take_retry, attempt, most, error)

    def _take_retry(self, attempt: int, most: int, error: BaseException | None) -> None:
        if self.turn is None or self.turn.cancelled:
            return
        wait = float(getattr(error, "retry_in", 0.0))
        self.tell(*self.translator.take_back())
        about = f"Trying again in {duration(wait)} (attempt {attempt + 1} of {most})."
        retry = {"attempt": attempt + 1, "of": most, "in": wait}
        self.notice(f"{short(error)}.\n{about}\n", retry=retry)

    def tell_usage(self) -> None:
        """Tokens in the model's context, and what the session cost so far: with each answer of the
        model's, at the end of a turn and of a replay, where it changed."""
        llm = self.running.agent.llm
        known = self.running.conversation_stats.usage_to_metrics
        # After a load it has them before the model has.
        if not (usages := (known.get(llm.usage_id) or llm.metrics).token_usages):
            return
        for each in known.values():
            shorten(each)
        used = usages[-1].prompt_tokens + usages[-1].completion_tokens
        # 0, of a model that no list knows: the tokens are told, and no size is made up.
        size = llm.max_input_tokens or usages[-1].context_window or 0
        cost = self.running.conversation_stats.get_combined_metrics().accumulated_cost
        for update in self.translator.usage(used, size, cost or None):
            if update != self._usage:
                self._usage = update
                self.tell(update)


def shorten(metrics: "Metrics") -> None:
    """Forget single calls of the model, and keep the sums: the SDK copies and writes the list of
    all calls at each one, which in a long session costs more than all else of an answer."""
    for calls in (metrics.costs, metrics.response_latencies, metrics.token_usages):
        del calls[:-CALLS_KEPT]
