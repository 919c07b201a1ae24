"""When a conversation is condensed, and what of it is kept word for word.

The measure is what the model's window holds, not how many events there are. Counting tokens anew
before each step would cost more the longer a conversation is: each event's letters are counted
once, and the provider's own count of the last prompt says how many make a token."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeGuard, override

from openhands.sdk import LLM
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.context.condenser.base import CondensationRequirement
from openhands.sdk.context.condenser.llm_summarizing_condenser import Reason
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, ObservationEvent, SystemPromptEvent
from openhands.sdk.event.base import LLMConvertibleEvent
from openhands.sdk.event.condenser import Condensation, CondensationSummaryEvent
from openhands.sdk.llm import ImageContent, TextContent
from openhands.tools.task_tracker import TaskTrackerAction
from pydantic import PrivateAttr

from rookery.agent.provider import windows
from rookery.agent.sdk_patches.outgoing import begins_with
from rookery.agent.translate import patches

WINDOW = 128_000
"""Tokens, of a model that is on no list."""
IMAGE = 6_000
"""Letters that a picture counts as."""
PER_LETTER = (0.2, 1 / windows.PER_TOKEN, 1.2)
"""Tokens: at least, to begin with, at most."""
UNLIMITED = 100_000
"""Events."""

PLAN = "The plan, word for word:"
FILES = "Files changed so far:"
MOST_FILES = 200
LOOKS = ("view", "read", "list", "grep", "glob")
"""In the names of file tools, or of their commands, that change nothing."""


class RookeryCondenser(LLMSummarizingCondenser):
    share: float = 0.75
    """Of the model's window."""

    _letters: dict[str, int] = PrivateAttr(default_factory=dict)
    """By event."""
    _counted_events: tuple[Sequence[LLMConvertibleEvent], int] = PrivateAttr(default=((), 0))
    """Those of the last prompt, and their letters."""
    _sent: int = PrivateAttr(default=0)
    """Letters when the model was last asked."""
    _counted: str = PrivateAttr(default="")
    """The answer by which it was last measured."""
    _per_letter: float = PrivateAttr(default=PER_LETTER[1])

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
        """There is room left above the share: what cannot be condensed now is condensed later."""
        reasons = self.get_condensation_reasons(view, agent_llm)
        if not reasons:
            return None
        full = self._tokens(view, agent_llm) > self._window(agent_llm)
        if Reason.REQUEST in reasons or (Reason.TOKENS in reasons and full):
            return CondensationRequirement.HARD
        return CondensationRequirement.SOFT

    def _window(self, llm: LLM | None) -> int:
        answering = getattr(llm, "answering", llm)
        return (answering.effective_max_input_tokens if answering else None) or WINDOW

    def _tokens(self, view: View, llm: LLM | None) -> float:
        letters = self._letters_of_all(view.events)
        usages = llm.metrics.token_usages if llm else []
        if usages and usages[-1].response_id != self._counted:
            self._counted = usages[-1].response_id
            if self._sent and usages[-1].prompt_tokens:
                least, _, most = PER_LETTER
                found = usages[-1].prompt_tokens / self._sent
                self._per_letter = min(max(found, least), most)
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

    # --- what ------------------------------------------------------------------------------------

    @override
    def _get_forgotten_events(
        self, view: View, agent_llm: LLM | None = None
    ) -> tuple[Sequence[LLMConvertibleEvent], int]:
        """All between the first events and as many of the last as half of the room holds."""
        reasons = self.get_condensation_reasons(view, agent_llm)
        events, kept = view.events, [len(view)]
        first = self.keep_first
        for at, event in enumerate(events):
            if isinstance(event, SystemPromptEvent):
                first = max(first, at + 1)
                break
        if Reason.REQUEST in reasons:
            kept.append(len(view) // 2 - first - 1)
        if Reason.EVENTS in reasons:
            kept.append(self.max_size // 2 - first - 1)
        if Reason.TOKENS in reasons:
            room = self._window(agent_llm) * self.share / 2 / self._per_letter
            kept.append(self._fitting(events, first, room))
        begin = view.manipulation_indices.find_next(first)
        end = view.manipulation_indices.find_next(len(view) - max(0, min(kept)))
        return view[begin:end], begin

    def _fitting(self, events: Sequence[LLMConvertibleEvent], first: int, room: float) -> int:
        """How many of the last fit, beside the first."""
        room -= sum(map(self._letters_of, events[:first]))
        for count, event in enumerate(reversed(events[first:])):
            room -= self._letters_of(event)
            if room < 0:
                return count
        return len(events) - first

    @override
    def _generate_condensation(
        self, forgotten_events: Sequence[LLMConvertibleEvent], *given: Any, **named: Any
    ) -> Condensation:
        made = super()._generate_condensation(forgotten_events, *given, **named)
        return with_kept(made, forgotten_events)

    @override
    async def _agenerate_condensation(
        self, forgotten_events: Sequence[LLMConvertibleEvent], *given: Any, **named: Any
    ) -> Condensation:
        made = await super()._agenerate_condensation(forgotten_events, *given, **named)
        return with_kept(made, forgotten_events)


def _length(event: LLMConvertibleEvent) -> int:
    """Letters that the model is sent, about."""
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


# --- what is kept word for word ------------------------------------------------------------------


def with_kept(made: Condensation, forgotten: Sequence[LLMConvertibleEvent]) -> Condensation:
    """The summary, with the last plan and the files that were changed behind it."""
    plan, files = "", dict[str, None]()
    done = {each.tool_call_id for each in forgotten if _worked(each)}
    for event in forgotten:
        if isinstance(event, CondensationSummaryEvent):
            earlier, paths = _kept_in(event.summary)
            plan = earlier or plan
            files |= dict.fromkeys(paths)
        elif isinstance(event, ActionEvent) and event.tool_call_id in done:
            action = event.action
            if isinstance(action, TaskTrackerAction) and action.command == "plan":
                plan = "\n".join(_task(task) for task in action.task_list)
            for path in _changed(action):
                files.pop(path, None)
                files[path] = None
    summary, _, _ = _parted(made.summary or "")
    parts = [summary.rstrip()]
    if plan:
        parts.append(f"{PLAN}\n{plan}")
    if files:
        parts.append("\n".join([FILES, *(f"- {path}" for path in list(files)[-MOST_FILES:])]))
    return made.model_copy(update={"summary": "\n\n".join(part for part in parts if part)})


def _worked(event: Any) -> TypeGuard[ObservationEvent]:
    """Not rejected, and not failed."""
    return isinstance(event, ObservationEvent) and not event.observation.is_error


def _task(task: Any) -> str:
    notes = f" ({task.notes})" if task.notes else ""
    return f"- [{task.status}] {task.title}{notes}".replace("\n", " ")


def _changed(action: Any) -> list[str]:
    """The files that an action changes."""
    if isinstance(patch := getattr(action, "patch", None), str):
        return patches.paths_in(patch)
    path = getattr(action, "path", None) or getattr(action, "file_path", None)
    command = str(getattr(action, "command", "") or type(action).__name__).lower()
    return [str(path)] if path and not any(look in command for look in LOOKS) else []


def _kept_in(summary: str) -> tuple[str, Iterator[str]]:
    _, plan, files = _parted(summary)
    return plan, (line.removeprefix("- ") for line in files.splitlines())


def _parted(summary: str) -> tuple[str, str, str]:
    """What the model wrote, the plan and the files. It may have copied what was kept before."""
    text, _, files = summary.partition(f"{FILES}\n")
    text, _, plan = text.partition(f"{PLAN}\n")
    return text, plan.strip(), files.strip()
