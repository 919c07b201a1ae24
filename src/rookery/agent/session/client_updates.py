"""The updates that a session sends its client: the SDK's events, tokens and output, in order and on
the loop, whichever thread they come from, and text of our own."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, override

from openhands.sdk.event import ActionEvent, CondensationRequest, MessageEvent
from openhands.sdk.event.conversation_error import ConversationErrorEvent

from rookery.agent.conversation import subagents
from rookery.agent.conversation.choices import Choices
from rookery.agent.conversation.steps import Conversation, waiting_in
from rookery.agent.mcp.names import Names
from rookery.agent.process.client import Client
from rookery.agent.provider.failures import kind_of, short
from rookery.agent.sdk_patches import answers
from rookery.agent.sdk_patches import llm as llms
from rookery.agent.storage import delegations
from rookery.agent.storage.store import Record
from rookery.agent.translate import Translator
from rookery.agent.translate.children import CHILD_CANCELLED, Listener, Watcher
from rookery.agent.translate.pace import Pace
from rookery.core.json import Json
from rookery.core.units import duration
from rookery.wire.params import offers

if TYPE_CHECKING:
    from openhands.sdk.event import Event
    from openhands.sdk.llm.utils.metrics import Metrics

CALLS_KEPT = 10
"""Calls of the model whose numbers are kept one by one."""


class Running(Protocol):
    """A turn, as far as its session uses it."""

    over: asyncio.Event
    answered: asyncio.Event
    stop_reason: str

    @property
    def cancelled(self) -> bool: ...
    @property
    def ends(self) -> bool: ...
    @property
    def paused(self) -> bool: ...
    def cancel(self, *, person: bool = True) -> None: ...
    def pause(self) -> None: ...
    def leave(self) -> None: ...
    def steer(self, parts: list[tuple[str, str]]) -> bool: ...
    def command(self, command: Any) -> None: ...
    async def take_steering(self) -> bool: ...
    def mode_chosen(self) -> None: ...
    def withdraw(self, children: Collection[str]) -> None: ...
    async def ask_for_child(self, child: str, action: ActionEvent) -> str: ...


class Child(NamedTuple):
    """A sub-agent, as it is shown."""

    call: str
    translator: Translator
    pace: Pace
    text_pace: Pace


class ClientUpdates(Listener):
    turn: Running | None = None
    choices: Choices
    has_shell_in_plan_mode = True

    def __init__(self, client: Client, record: Record, folder: str) -> None:
        self.client = client
        self.record = record
        self.folder = folder
        """Where the conversation is kept."""
        self.conversation: Conversation | None = None
        self.tool_names = Names(folder)
        self.translator = self._new_translator()
        self.watcher = Watcher(self)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._pace = self._new_pace(self._output)
        self._children: dict[str, Child] = {}
        self._usage: Json | None = None
        self._counted: Counter[str] = Counter()
        """The conversation's tokens that an answer has reported, or that an earlier process did."""

    @property
    def running(self) -> Conversation:
        assert self.conversation is not None, "open() comes first"
        return self.conversation

    def _new_translator(self) -> Translator:
        """Return a translator for the session's life; a replay starts with a new one."""
        offered = self.client.capabilities
        return Translator(
            self.directory(),
            terminals=offers(offered, "_meta", "terminal_output"),
            notices=offers(offered, "session", "notices"),
            compaction=offers(offered, "session", "compaction"),
            transcripts=offers(offered, "_meta", "subagent-transcript"),
            session=self.record.id,
            names=self.tool_names.meaning,
        )

    def directory(self) -> str:
        """Return where the tools work: paths in titles are relative to it."""
        return self.record.cwd

    def _new_pace(self, updates: Callable[[str, str], list[Json]]) -> Pace:
        tell = partial(self._tell_live, updates)
        return Pace(self._loop, tell, lambda: self.client.is_behind)

    # --- to the client ---------------------------------------------------------------------------

    def tell(self, *updates: Json) -> None:
        for update in updates:
            self.client.tell(self.record.id, update)

    def _tell_live(self, updates: Callable[..., list[Json]], *arguments: Any) -> None:
        """Send updates, on the loop; drop them after a turn or its cancellation."""
        if self.turn is not None and not self.turn.cancelled:
            self.tell(*updates(*arguments))

    def end_calls(self, reason: str) -> None:
        """End every announced call, except those that wait for an answer."""
        waiting = [action.tool_call_id for action in waiting_in(self.running)]
        self.tell(*self.translator.settle(reason, waiting))

    def say(self, text: str) -> None:
        """Send text of our own, as the agent's."""
        content = {"type": "text", "text": text}
        self.tell({"sessionUpdate": "agent_message_chunk", "content": content})

    def say_cut_short(self) -> str:
        """Tell the user if the answer was cut short. Returns its stop reason; "" if it was not."""
        ending = llms.ending_of(self.running.agent)
        if notice := answers.words_of(ending):
            self.say(notice)
        return ending.reason

    def say_limit(self) -> str:
        """Tell the user which of our limits the run hit: the last error says it."""
        for event in reversed(self.running.state.active_branch(limit=5)):
            if isinstance(event, ConversationErrorEvent):
                self.say(f"\n\nI stopped: {event.detail}\n")
                break
        return "max_turn_requests"

    def notice(self, text: str, **meta: Any) -> None:
        """Send a notice beside the answer; as a thought for clients without notices."""
        for update in self.translator.notice(text, "warning"):
            self.tell(update | ({"_meta": {"rookery": meta}} if meta else {}))

    def on_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call the function now, or from a thread as soon as the loop is free, in order."""
        if threading.get_ident() == self._thread:
            function(*arguments)
        else:
            self._loop.call_soon_threadsafe(function, *arguments)

    async def replay(self) -> None:
        """Send the whole conversation again, with the user's messages and the sub-agents."""
        translator = self._new_translator()
        below: dict[tuple[str, str], Translator] = {}
        for entry in await asyncio.to_thread(self._past):
            if entry.call:
                place = entry.call, entry.conversation
                child = below.get(place) or below.setdefault(place, translator.child(*place))
                self.tell(*child.live(entry.event))
            else:
                self.tell(*translator.replay(entry.event))
            await self.client.peer.drain()
        if self.turn is None:
            self.translator = translator
            self.end_calls("interrupted")
        self._usage = None
        self.tell_usage()

    def _past(self) -> list[delegations.ReplayedEvent]:
        """Return the events of the session and its sub-agents, in order. Blocks: reads files."""
        return list(delegations.in_order(self.folder, self.running.state.active_branch()))

    # --- from the SDK ----------------------------------------------------------------------------

    def on_event(self, event: "Event") -> None:
        self.on_loop(self._take_event, event)

    def _take_event(self, event: "Event") -> None:
        if self.turn is None or isinstance(event, ConversationErrorEvent):
            return  # the turn reports errors
        _end_output(self._pace, event)
        if isinstance(event, CondensationRequest):
            self.take_back_half()  # the window was full in the middle of an answer
        self.tell(*self.translator.live(event))
        if isinstance(event, ActionEvent | MessageEvent) and event.source == "agent":
            self.tell_usage()

    def on_token(self, chunk: Any) -> None:
        self.on_loop(self._tell_live, lambda: self.translator.delta(chunk))

    def _output(self, call: str, text: str) -> list[Json]:
        return self.translator.output(call, text)

    def started(self, action: ActionEvent, child: str = "") -> None:
        """Show that a tool begins. Called in its thread."""
        self.on_loop(self._tell_live, lambda: self.translator_of(child).started(action))

    def on_retry(self, attempt: int, most: int, error: BaseException | None) -> None:
        self.on_loop(self._take_retry, attempt, most, error)

    def _take_retry(self, attempt: int, most: int, error: BaseException | None) -> None:
        if self.turn is None or self.turn.cancelled:
            return
        wait = float(getattr(error, "retry_in", 0.0))
        self.take_back_half()
        about = f"Trying again in {duration(wait)} (attempt {attempt + 1} of {most})."
        retry: Json = {"attempt": attempt + 1, "of": most, "in": wait}
        retry |= {"kind": kind_of(error)} if error is not None else {}
        self.notice(f"{short(error)}.\n{about}\n", retry=retry)

    def take_back_half(self) -> None:
        """Withdraw the part of an answer that the model does not finish."""
        self.tell(*self.translator.take_back())

    # --- cancelling ------------------------------------------------------------------------------

    def cancel(self, child: str, by: object) -> None:
        """Cancel the turn, or one sub-agent of it, given by the action that started it. `by`: who
        requests it, if not the user."""
        if self.turn is None:
            return
        if child:
            self._cancel_child(self.turn, child)
        elif by == "budget":
            self.turn.pause()
        else:
            self.turn.cancel(person=by != "watchdog")

    def _cancel_child(self, turn: Running, action: str) -> None:
        """Cancel a sub-agent. Its call fails, and the turn goes on: the model is told why."""
        call, stopped = self.watcher.stop_child(action, CHILD_CANCELLED)
        if call:
            subagents.interrupt(self.running, stopped)
            turn.withdraw(stopped)
            self.tell(*self.translator.ended(call, "failed", CHILD_CANCELLED))

    # --- from sub-agents -------------------------------------------------------------------------

    @override
    def child_began(self, action: str, folder: str, events: int, task: str) -> None:
        delegations.note(self.folder, action, folder, events, task)

    @override
    def child_event(self, call: str, child: str, event: "Event") -> None:
        """Show a sub-agent's event; its thread waits for a client that is behind."""
        self.on_loop(self._tell_live, self._child_event, call, child, event)
        if self.client.is_behind and threading.get_ident() != self._thread:
            asyncio.run_coroutine_threadsafe(self.client.keep_up(), self._loop).result()

    def _child_event(self, call: str, conversation: str, event: "Event") -> list[Json]:
        child = self._child(call, conversation)
        _end_output(child.pace, event)
        return child.translator.live(event)

    def _child(self, call: str, conversation: str) -> Child:
        child = self._children.get(conversation)
        if child is None or child.call != call:  # a resumed one belongs to another call
            made = self.translator.child(call, conversation)
            text_pace = self._new_pace(lambda *_: made.parent_updates())
            child = Child(call, made, self._new_pace(made.output), text_pace)
            self._children[conversation] = child
        return child

    @override
    def child_token(self, call: str, child: str, chunk: Any) -> None:
        self.on_loop(self._tell_live, self._child_token, call, child, chunk)

    def _child_token(self, call: str, conversation: str, chunk: Any) -> list[Json]:
        child = self._child(call, conversation)
        child.text_pace.feed(call, " ")  # all its words are sent each time: not at each token
        return child.translator.delta(chunk)

    @override
    def child_output(self, child: str, own_call: str, text: str) -> None:
        if sub_agent := self._children.get(child):
            sub_agent.pace.feed(own_call, text)

    def as_judged(self, call: Json) -> Json:
        """Return a call with its paths as rules and the session's directories use them."""
        return call

    def translator_of(self, child: str) -> Translator:
        """Return a sub-agent's translator once it has sent anything, else the session's."""
        return self._children[child].translator if child in self._children else self.translator

    # --- usage -----------------------------------------------------------------------------------

    def tell_usage(self) -> None:
        """Send the tokens in the model's context and the session's cost, if they changed."""
        llm = self.running.agent.llm
        answering = getattr(llm, "answering", llm)
        known = self.running.conversation_stats.usage_to_metrics
        # After a load the statistics have them before the model does.
        if not (usages := (known.get(llm.usage_id) or llm.metrics).token_usages):
            return
        for each in known.values():
            shorten(each)
        used = usages[-1].prompt_tokens + usages[-1].completion_tokens
        # 0 for a model that no list knows: no size is made up.
        size = answering.max_input_tokens or usages[-1].context_window or 0
        cost = self.running.conversation_stats.get_combined_metrics().accumulated_cost
        grown = _tokens(self.running) - self._counted
        spent = grown.total() - grown["thoughtTokens"]
        limits = getattr(answering, "limits", None)
        [update] = self.translator.usage(used, size, cost or None, spent, self.stand_in(), limits)
        if update != self._usage:
            self._usage = update
            self.tell(update)

    def stand_in(self) -> str:
        """Return the model that answered last; "" if it is the session's own."""
        return ""

    def count_from_here(self) -> None:
        """Exclude what the conversation has used so far from the next reply's tokens."""
        self._counted = _tokens(self.running)

    def tokens(self) -> Json:
        """Return the tokens since the last reply to a prompt, for the next one. They include those
        of turns that failed: an error cannot carry them."""
        used = _tokens(self.running)
        grown = used - self._counted
        self._counted = used
        if not grown:
            return {}
        total = grown.total() - grown["thoughtTokens"]
        return {"usage": {key: grown[key] for key in used} | {"totalTokens": total}}


def _end_output(pace: Pace, event: "Event") -> None:
    """Flush a command's output before its result."""
    call = getattr(event, "tool_call_id", None)
    if call and not isinstance(event, ActionEvent):
        pace.ended(call)


def _tokens(conversation: Conversation) -> Counter[str]:
    """Return all tokens that a conversation used."""
    return tokens_in(conversation.conversation_stats.get_combined_metrics())


def tokens_in(metrics: "Metrics") -> Counter[str]:
    """Return the tokens by ACP's names. The SDK counts what came from a cache, or went into one, as
    input too; other agents do not. Thoughts are part of the output."""
    used = metrics.accumulated_token_usage
    if used is None:
        return Counter()
    cached, written = used.cache_read_tokens, used.cache_write_tokens
    return Counter(
        inputTokens=max(0, used.prompt_tokens - cached - written),
        outputTokens=used.completion_tokens,
        cachedReadTokens=cached,
        cachedWriteTokens=written,
        thoughtTokens=used.reasoning_tokens,
    )


def shorten(metrics: "Metrics") -> None:
    """Drop the records of single calls of the model, and keep the sums: at each call the SDK copies
    and writes the list of all, which in a long session costs more than the rest of an answer."""
    for calls in (metrics.costs, metrics.response_latencies, metrics.token_usages):
        del calls[:-CALLS_KEPT]
