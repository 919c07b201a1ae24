"""Decides when a conversation is condensed, and what of it is kept word for word.

The measure is the size of the model's context window, not the number of events. Counting tokens
before each step would cost more the longer a conversation is: the characters of each event are
counted once, and the provider's own count for the last prompt gives the tokens per character."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, override

from openhands.sdk import LLM
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.context.condenser.base import (
    CondensationRequirement,
    NoCondensationAvailableException,
)
from openhands.sdk.context.condenser.llm_summarizing_condenser import Reason
from openhands.sdk.context.view import View
from openhands.sdk.event import SystemPromptEvent
from openhands.sdk.event.base import LLMConvertibleEvent
from openhands.sdk.event.condenser import Condensation, CondensationSummaryEvent
from openhands.sdk.llm import ImageContent, TextContent
from pydantic import PrivateAttr

from rookery.agent.conversation.summaries import excerpts, is_prompt, with_kept
from rookery.agent.provider import retries, windows
from rookery.agent.provider.pressure import WINDOW, Pressure
from rookery.agent.sdk_patches.outgoing import begins_with

IMAGE = 6_000
"""Letters that a picture counts as."""
PER_LETTER = (0.2, 1 / windows.PER_TOKEN, 1.2)
"""Tokens: at least, to begin with, at most."""
UNLIMITED = 100_000
"""Events."""

PROMPTS = 0.5
"""Share of the room after condensing that the user's prompts may take."""
FULL = 0.9
"""Share of the window that the newest prompt may take, with the system prompt: it stays whole."""
SHORTENED = 800
"""Letters that stay of any other that is too long."""
READ = 0.6
"""Share of its own window that the summary's writer reads."""
PROGRESS = 0.1
"""Share of the letters that must be forgotten, unless somebody asks for it."""


class _Prompts(NamedTuple):
    """The user's prompts in a view."""

    newest: str = ""
    whole: dict[str, int] = {}  # noqa: RUF012 - never changed
    """The letters of those that stay word for word, by their events' ids."""
    budget: int = 0

    def length_of(self, id: str) -> int:
        """Return how many characters are kept of a prompt that is shortened."""
        return self.budget if id == self.newest else SHORTENED


class RookeryCondenser(LLMSummarizingCondenser):
    share: float = 0.75
    """Of the model's window."""
    minimum_progress: float = 1e-6
    """Of the events. PROGRESS measures it by letters."""

    _letters: dict[str, int] = PrivateAttr(default_factory=dict)
    """By event."""
    _counted_events: tuple[Sequence[LLMConvertibleEvent], int] = PrivateAttr(default=((), 0))
    """Those of the last prompt, and their letters."""
    _sent: int = PrivateAttr(default=0)
    """Letters when the model was last asked."""
    _counted: str = PrivateAttr(default="")
    """The answer by which it was last measured."""
    _per_letter: float = PrivateAttr(default=PER_LETTER[1])
    _failure: Exception | None = PrivateAttr(default=None)
    """Of the summary's writer."""
    _prompts: _Prompts = PrivateAttr(default=_Prompts())
    """Those of the view that is condensed."""

    # --- when ------------------------------------------------------------------------------------

    @override
    def get_condensation_reasons(self, view: View, agent_llm: LLM | None = None) -> set[Reason]:
        reasons = {Reason.REQUEST} if view.unhandled_condensation_request else set()
        if len(view) > self.max_size:
            reasons.add(Reason.EVENTS)
        if self._tokens(view, agent_llm) > self._window(agent_llm) * self.share:
            reasons.add(Reason.TOKENS)
        return reasons

    @override
    def condensation_requirement(
        self, view: View, agent_llm: LLM | None = None
    ) -> CondensationRequirement | None:
        """Return the requirement, soft while there is room: it can then be condensed later."""
        reasons = self.get_condensation_reasons(view, agent_llm)
        if not reasons:
            return None
        full = self._tokens(view, agent_llm) > _stated_window(agent_llm)
        if Reason.REQUEST in reasons or (Reason.TOKENS in reasons and full):
            return CondensationRequirement.HARD
        return CondensationRequirement.SOFT

    def _window(self, llm: LLM | None) -> int:
        """Return the window by which to condense. One implied by an earlier refusal never makes
        condensing mandatory: the provider may accept more now."""
        stated = _stated_window(llm)
        return min(stated, _pressure_of(llm).window or stated)

    def _tokens(self, view: View, llm: LLM | None) -> float:
        letters = self._letters_of_all(view.events)
        usages = llm.metrics.token_usages if llm else []
        if usages and usages[-1].response_id != self._counted:
            self._counted = usages[-1].response_id
            if self._sent and usages[-1].prompt_tokens:
                least, _, most = PER_LETTER
                ratio = usages[-1].prompt_tokens / self._sent
                self._per_letter = min(max(ratio, least), most)
        self._sent = letters
        return letters * self._per_letter

    def _letters_of_all(self, events: Sequence[LLMConvertibleEvent]) -> int:
        known, letters = self._counted_events
        if not begins_with(events, known):
            known, letters = (), 0
        letters += sum(map(self._letters_of, events[len(known) :]))
        self._counted_events = (list(events), letters)
        return letters

    def _letters_of(self, event: LLMConvertibleEvent) -> int:
        known = self._letters.get(event.id)
        if known is None:
            known = self._letters[event.id] = _length(event)
        return known

    @override
    def condense(self, view: View, agent_llm: LLM | None = None) -> View | Condensation:
        self._failure = None
        try:
            return super().condense(view, agent_llm=agent_llm)
        except NoCondensationAvailableException as error:
            why = self._why(agent_llm, error)
        raise why

    @override
    async def acondense(self, view: View, agent_llm: LLM | None = None) -> View | Condensation:
        self._failure = None
        try:
            return await super().acondense(view, agent_llm=agent_llm)
        except NoCondensationAvailableException as error:
            why = self._why(agent_llm, error)
        raise why

    def _why(self, llm: LLM | None, error: Exception) -> Exception:
        """Return why condensing failed: the call for the summary failed, or the provider refused in
        words that need not mean that the conversation is too long."""
        return self._failure or _pressure_of(llm).guess or error

    # --- what ------------------------------------------------------------------------------------

    @override
    def _get_forgotten_events(
        self, view: View, agent_llm: LLM | None = None
    ) -> tuple[Sequence[LLMConvertibleEvent], int]:
        """Return everything between the first events and as many of the last as half of the room
        holds. The prompts in between that stay are left out later. Raises ValueError if too little
        would be forgotten."""
        reasons = self.get_condensation_reasons(view, agent_llm)
        events, kept = view.events, [len(view)]
        letters = self._letters_of_all(events)
        window = self._window(agent_llm) / self._per_letter
        room = window * self.share / 2
        systems = (at for at, event in enumerate(events) if isinstance(event, SystemPromptEvent))
        head = next(systems, -1) + 1
        self._prompts = self._fitting_prompts(events, window * FULL, room * PROMPTS)
        first = max(self.keep_first, head)
        begin = view.manipulation_indices.find_next(first)
        if sum(map(self._letters_of, events[head:begin])) > self._prompts.budget:
            first, begin = head, view.manipulation_indices.find_next(head)
        if Reason.REQUEST in reasons:
            kept.append(len(view) // 2 - first - 1)
            kept.append(self._fitting(events, begin, min(room, letters / 2)))
        if Reason.EVENTS in reasons:
            kept.append(self.max_size // 2 - first - 1)
        if Reason.TOKENS in reasons:
            kept.append(self._fitting(events, begin, room))
        end = view.manipulation_indices.find_next(len(view) - max(0, min(kept)))
        least = 0 if Reason.REQUEST in reasons else letters * PROGRESS
        if sum(map(self._letters_of, self._forgotten(view[begin:end]))) < least:
            raise ValueError("too little would be forgotten")
        return view[begin:end], begin

    def _fitting_prompts(
        self, events: Sequence[LLMConvertibleEvent], most: float, budget: float
    ) -> "_Prompts":
        """Choose the prompts that stay whole: the newest if it has at most `most` characters
        including the system prompt; of the others as many as the budget holds, newest first."""
        prompts = [event for event in reversed(events) if is_prompt(event)]
        most -= sum(
            self._letters_of(each) for each in events if isinstance(each, SystemPromptEvent)
        )
        whole, left = dict[str, int](), budget
        for event in prompts:
            letters = self._letters_of(event)
            if letters <= (most if event is prompts[0] else left):
                whole[event.id] = letters
                left -= letters
            if event is prompts[0]:
                left = max(left, budget / 4)
        return _Prompts(prompts[0].id if prompts else "", whole, int(budget))

    def _fitting(self, events: Sequence[LLMConvertibleEvent], begin: int, room: float) -> int:
        """Return how many of the last events fit, beside the first and the prompts that stay."""
        whole = self._prompts.whole
        room -= sum(map(self._letters_of, events[:begin]))
        room -= sum(whole.get(event.id, 0) for event in events[begin:])
        for count, event in enumerate(reversed(events[begin:])):
            room -= 0 if event.id in whole else self._letters_of(event)
            if room < 0:
                return count
        return len(events) - begin

    def _forgotten(self, events: Sequence[LLMConvertibleEvent]) -> list[LLMConvertibleEvent]:
        """Return the events that do not stay. Raises NoCondensationAvailableException if nothing
        would be gained: a summary alone is not summarized again."""
        forgotten = [event for event in events if event.id not in self._prompts.whole]
        if all(isinstance(event, CondensationSummaryEvent) for event in forgotten):
            raise NoCondensationAvailableException("There is nothing left to forget.")
        return forgotten

    @override
    def _generate_condensation(
        self, forgotten_events: Sequence[LLMConvertibleEvent], *given: Any, **named: Any
    ) -> Condensation:
        forgotten = self._forgotten(forgotten_events)
        with self._writing():
            made = super()._generate_condensation(self._excerpts(forgotten_events), *given, **named)
        return self._kept_in(made, forgotten_events, forgotten)

    @override
    async def _agenerate_condensation(
        self, forgotten_events: Sequence[LLMConvertibleEvent], *given: Any, **named: Any
    ) -> Condensation:
        forgotten = self._forgotten(forgotten_events)
        with self._writing():
            made = await super()._agenerate_condensation(
                self._excerpts(forgotten_events), *given, **named
            )
        return self._kept_in(made, forgotten_events, forgotten)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Stop the SDK's retries after a failure of the call for the summary. It tries six times,
        with ever shorter texts: pointless if there is no credit or no connection."""
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except NoCondensationAvailableException as error:
            cause = error.__cause__
            if isinstance(cause, Exception) and not retries.is_too_long(cause):
                self._failure = cause
            raise

    def _excerpts(self, events: Sequence[LLMConvertibleEvent]) -> Any:
        """Return excerpts, posing as events for the SDK; also of the prompts that stay."""
        return excerpts(events, self._window(self.llm) * READ / self._per_letter)

    def _kept_in(
        self,
        made: Condensation,
        events: Sequence[LLMConvertibleEvent],
        forgotten: Sequence[LLMConvertibleEvent],
    ) -> Condensation:
        """Place the summary where the last forgotten event was: after the prompts whose outcome it
        tells, before those that are not answered yet."""
        ids = {event.id for event in forgotten}
        last = max(at for at, event in enumerate(events) if event.id in ids)
        before = last + 1 - len(forgotten)
        assert made.summary_offset is not None
        placed = {"forgotten_event_ids": ids, "summary_offset": made.summary_offset + before}
        return with_kept(
            made.model_copy(update=placed),
            forgotten,
            self._prompts.length_of,
            after_prompts=before > 0,
        )


def _stated_window(llm: LLM | None) -> int:
    answering = getattr(llm, "answering", llm)
    return (answering.effective_max_input_tokens if answering else None) or WINDOW


def _pressure_of(llm: LLM | None) -> Pressure:
    pressure = getattr(getattr(llm, "answering", llm), "pressure", None)
    return pressure if isinstance(pressure, Pressure) else Pressure()


def _length(event: LLMConvertibleEvent) -> int:
    """Return about how many characters the model is sent for an event."""
    if isinstance(event, SystemPromptEvent):
        declared = windows.needed_for((), event.tools) * windows.PER_TOKEN
        return _content(event.to_llm_message().content) + declared
    message = event.to_llm_message()
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls or ())
    return _content(message.content) + calls + len(message.reasoning_content or "")


def _content(parts: Iterable[Any]) -> int:
    return sum(
        len(part.text)
        if isinstance(part, TextContent)
        else IMAGE * len(part.image_urls)
        if isinstance(part, ImageContent)
        else 0
        for part in parts
    )
