"""The SDK's model class, adapted to our sessions: answers are corrected, how they ended is
recorded, and requests are retried only if that can help.

Made for openhands-sdk 1.58, which retries after errors that every attempt gets, ignores the pause
that the provider asks for, and streams thoughts as text. Unnecessary once a retry can be decided by
error, and thoughts and the end of an answer are told apart. (`answers.py` has the rest.)"""

import os
from collections.abc import Callable
from typing import Any, override

from litellm.types.llms.openai import ReasoningSummaryTextDeltaEvent
from openai import OpenAIError
from openhands.sdk import LLM
from openhands.sdk.llm import LLMResponse, Message, exceptions
from pydantic import PrivateAttr
from tenacity import RetryCallState, retry_if_exception

from rookery.agent.provider import fallback, quotas, retries, surrogates
from rookery.agent.provider.fallback import StandIn
from rookery.agent.provider.history import Answer, ids_in, repaired
from rookery.agent.provider.pressure import Pressure
from rookery.agent.provider.words import spoken
from rookery.agent.sdk_patches import answers
from rookery.agent.sdk_patches.answers import REFUSED, Ending
from rookery.agent.sdk_patches.lost_events import FULL, PAUSED, SILENT
from rookery.agent.sdk_patches.outgoing import Prompt, Prompts, Uncopied, copied, how_sent
from rookery.agent.sdk_patches.subscribed import SubscribedLLM

ENDS = ("user", "tool")
"""Whose last message is marked for the provider's cache."""
MAX_PAUSES = 10
"""Answers in a row after which the model wants to go on."""
EMPTY_ANSWERS = 3
"""Answers without a word or a call, after which the model is not asked again."""


class EmptyAnswer(Exception):
    """The model gave empty answers, again and again."""


class Refused(Exception):
    """The provider's filter refused the request; the message is its own."""


FAILURES = (exceptions.LLMError, OpenAIError, EmptyAnswer, Refused)
"""The errors that a request to a model may end with."""


class RookeryLLM(quotas.QuotaLLM, SubscribedLLM):
    _ending: Ending = PrivateAttr(default=Ending())
    _pauses: int = PrivateAttr(default=0)
    _unstreamed: bool = PrivateAttr(default=False)
    """The provider answers as a whole, also where it is asked for a stream."""
    _heard: bool = PrivateAttr(default=False)
    """Something of the answer has come."""
    _pressure: Pressure = PrivateAttr(default_factory=Pressure)
    _attempt: str = PrivateAttr(default="")
    """The id of an answer's chunks, before its own is known."""
    _summary: tuple[str, int] = PrivateAttr(default=("", 0))
    _own_summaries: bool = PrivateAttr(default=False)
    """We asked for summaries of thoughts, not the user: given up where refused."""
    _fallbacks: fallback.Fallbacks | None = PrivateAttr(default=None)
    _stand_in: StandIn | None = PrivateAttr(default=None)
    """The model that answers for this one until the turn ends."""
    _prompts: Prompts = PrivateAttr(default_factory=Prompts)
    _answer: Answer = PrivateAttr(default_factory=lambda: Answer((), ()))

    def start_over(self) -> None:
        """Reset the state of a conversation, for use in another one."""
        self._ending, self._pressure, self._stand_in = Ending(), Pressure(), None
        self._prompts = Prompts()

    def fall_back_on(self, models: fallback.Fallbacks | None) -> None:
        self._fallbacks = models

    @property
    def answering(self) -> LLM:
        """This model, or the one that answers in its place."""
        return self._stand_in.llm if self._stand_in is not None else self

    def wish_for_summaries(self) -> None:
        if self.reasoning_summary is None and self.uses_responses_api():
            self.reasoning_summary = "auto"
            self._own_summaries = True

    @override
    def _validate_context_window_size(self) -> None:
        """Do nothing: `windows.check` looks at what is sent; the SDK has one number for all."""

    @property
    def prompts(self) -> Prompts:
        return self._prompts

    @property
    def pressure(self) -> Pressure:
        return self._pressure

    @override
    def _begin_chat_messages(self, messages: list[Message]) -> tuple[list[Message], bool]:
        """Copy only what is marked: the SDK deep-copies the whole history to mark two messages."""
        copies = list(messages) if isinstance(messages, Prompt) else repaired(messages)
        if self.is_caching_prompt_active():
            last = max((at for at, each in enumerate(copies) if each.role in ENDS), default=0)
            for at in {0, last} if copies else ():
                parts = [part.model_copy() for part in copies[at].content]
                copies[at] = copies[at].model_copy(update={"content": parts})
            self._apply_prompt_caching(copies)
        return copies, self.vision_is_active()

    @override
    def _to_chat_dicts(self, messages: list[Message]) -> list[dict[str, Any]]:
        """Serialise each message only once. Other providers' adapters change what they get."""
        serialize = super()._to_chat_dicts
        written = self._prompts.chat.of(messages, how_sent(self), lambda it: serialize([it])[0])
        is_sent_so = self.native_tool_calling and self._infer_litellm_provider() == "openai"
        return list(written) if is_sent_so else [copied(dict(each)) for each in written]

    @override
    def _prepare_responses_messages(self, messages: list[Message]) -> list[Message]:
        valid = list(messages) if isinstance(messages, Prompt) else repaired(messages)
        if not self.is_subscription:
            return valid
        thoughtless = {"responses_reasoning_item": None}
        return [
            each.model_copy(update=thoughtless) if each.role == "assistant" else each
            for each in valid
        ]

    @override
    def _finalize_completion_params(
        self, formatted_messages: list[dict[str, Any]], *more: Any, **named: Any
    ) -> Any:
        if not self.native_tool_calling:
            return super()._finalize_completion_params(formatted_messages, *more, **named)
        made = super()._finalize_completion_params(Uncopied(formatted_messages), *more, **named)
        return list(made[0]), *made[1:]

    @override
    async def agenerate(
        self, messages: Any, tools: Any = None, *more: Any, **named: Any
    ) -> LLMResponse:
        first: Exception | None = None
        while True:
            asked = self._stand_in
            try:
                if asked is None:
                    return await self._ask(messages, tools, *more, **named)
                response = await asked.llm.agenerate(messages, tools, *more, **named)
                return self._taken(asked, response)
            except Exception as error:  # noqa: BLE001 - raised there, unless another model answers
                first = self._first_of(first, error)

    async def _ask(self, messages: Any, tools: Any, *more: Any, **named: Any) -> LLMResponse:
        try:
            response = await self._generate(messages, tools, *more, **named)
        except exceptions.LLMContentPolicyViolationError as error:
            # The SDK would ask the model to rephrase it, again and again.
            raise Refused(str(error)) from error
        except (exceptions.LLMError, OpenAIError) as error:
            window = self.effective_max_input_tokens
            if not self._pressure.meet(error, messages, tools or (), window):
                raise
            raise exceptions.LLMContextWindowExceedError(str(error)) from error
        self._pressure.relieve()
        return response

    async def _generate(self, messages: Any, tools: Any, *more: Any, **named: Any) -> LLMResponse:
        for attempt in range(1, EMPTY_ANSWERS + 1):
            self._begin_answer(messages, tools)
            try:
                response = await super().agenerate(messages, tools, *more, **named)
            except exceptions.LLMBadRequestError as error:
                if not self._gives_up_summaries(error):
                    raise
                response = await super().agenerate(messages, tools, *more, **named)
            if not self._is_empty(response, attempt):
                break
        return response

    def _begin_answer(self, messages: Any, tools: Any) -> None:
        self._ending = Ending()
        names = frozenset(str(getattr(tool, "name", "")) for tool in tools or ())
        ids = messages.ids if isinstance(messages, Prompt) else ids_in(messages)
        self._answer = Answer(names, ids)

    def _is_empty(self, response: LLMResponse, attempt: int) -> bool:
        """Tell whether to ask once more. Raises EmptyAnswer after the last attempt."""
        if self._ending.reason or not answers.is_empty(response.message):
            return False
        empty = EmptyAnswer()
        if attempt == EMPTY_ANSWERS:
            raise empty
        self._retry_listener_fn(attempt, EMPTY_ANSWERS, empty)
        return True

    @override
    def generate(self, *arguments: Any, **named: Any) -> LLMResponse:
        """Generate an answer for summaries of a conversation, titles and sub-agents."""
        first: Exception | None = None
        while True:
            asked = self._stand_in
            try:
                if asked is None:
                    return self._generate_now(*arguments, **named)
                return self._taken(asked, asked.llm.generate(*arguments, **named))
            except Exception as error:  # noqa: BLE001 - raised there, unless another model answers
                first = self._first_of(first, error)

    def _generate_now(
        self, messages: Any, tools: Any = None, *more: Any, **named: Any
    ) -> LLMResponse:
        for attempt in range(1, EMPTY_ANSWERS + 1):
            self._begin_answer(messages, tools)
            try:
                response = super().generate(messages, tools, *more, **named)
            except exceptions.LLMBadRequestError as error:
                if not self._gives_up_summaries(error):
                    raise
                response = super().generate(messages, tools, *more, **named)
            if not self._is_empty(response, attempt):
                break
        return response

    # --- another model instead -------------------------------------------------------------------

    def _first_of(self, first: Exception | None, error: Exception) -> Exception:
        """Return the failure to report if the next model fails, too. Raises it if there is none."""
        if self.yields_to(error):
            return first or error
        if first is None or fallback.is_too_long(error):
            raise error  # the conversation is condensed for the model that answers now
        raise first

    def yields_to(self, error: BaseException) -> bool:
        """Tell, after a failure, whether another model answers from now on, until the turn ends."""
        asked = self._stand_in
        if self._fallbacks is None or not fallback.calls_for_another(error, own=asked is None):
            return False
        larger_than = None
        if fallback.is_too_long(error):
            larger_than = (
                fallback.window_in(error) or self.answering.effective_max_input_tokens or 0
            )
            if not larger_than and not fallback.is_final(error):
                return False  # it can be condensed, and which window is larger is not known
        stand_in = self._fallbacks.after(asked.name if asked else "", error, larger_than)
        self._stand_in = stand_in or asked
        return stand_in is not None

    def _taken(self, asked: StandIn, response: LLMResponse) -> LLMResponse:
        """Return the other model's answer, with its usage added to this model's."""
        assert self._fallbacks is not None
        self._ending = asked.llm._ending
        used, self_used = asked.llm.metrics, self.metrics
        asked.llm.reset_metrics()
        self_used.merge(used)
        self._fallbacks.used(asked.name, used)
        return response

    def _gives_up_summaries(self, error: exceptions.LLMBadRequestError) -> bool:
        """Turn off reasoning summaries, which OpenAI gives to verified organisations only, if the
        error is about them. Returns whether it did."""
        if not self._own_summaries or "summar" not in str(error).lower():
            return False
        self._own_summaries, self.reasoning_summary = False, None
        return True

    # --- chat completions ------------------------------------------------------------------------

    def _wanted(self, on_token: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if not self._unstreamed:
            return on_token, named
        return None, named | {"enable_streaming": False, "stream": False}

    @override
    def _transport_call(self, *, on_token: Any = None, **named: Any) -> Any:
        on_token, named = self._wanted(on_token, named)
        heard = self._quotas.heard(answers.corrected(on_token, self._answer))
        return self._quotas.note(super()._transport_call(on_token=heard, **named))

    @override
    async def _atransport_call(self, *, on_token: Any = None, **named: Any) -> Any:
        on_token, named = self._wanted(on_token, named)
        heard = self._quotas.heard(answers.corrected(on_token, self._answer))
        return self._quotas.note(await super()._atransport_call(on_token=heard, **named))

    @override
    def _build_completion_result(self, resp: Any) -> LLMResponse:
        choice = resp["choices"][0]
        refused = answers.correct_message(choice["message"], self._answer.again())
        result = super()._build_completion_result(resp)
        finish = str(choice.get("finish_reason") or "")
        if finish == FULL:
            raise exceptions.LLMContextWindowExceedError(finish)
        self._ending = answers.ending_of(finish, result.message, refused=refused)
        paused = finish == PAUSED and not result.message.tool_calls
        self._pauses = self._pauses + 1 if paused else 0
        return result

    # --- responses -------------------------------------------------------------------------------

    @override
    def _process_stream_event(self, event: Any, *, emit_deltas: bool = True) -> Any:
        """Give one answer one stream with one id: the SDK gives each chunk its item's id, and
        streams thoughts as text."""
        item, chunk = super()._process_stream_event(event, emit_deltas=emit_deltas)
        self._heard = True
        if chunk is not None:
            delta = chunk.choices[0].delta
            if isinstance(event, ReasoningSummaryTextDeltaEvent):
                place = (str(event.item_id), int(getattr(event, "summary_index", 0) or 0))
                parts = self._summary[0] == place[0] and self._summary != place
                self._summary = place
                text = ("\n\n" if parts else "") + (delta.content or "")
                delta.reasoning_content = surrogates.whole(text)
                delta.content = None
            elif delta.content:
                delta.content = surrogates.whole(delta.content)
            chunk.id = self._attempt
        return item, chunk

    @override
    def _build_responses_call_kwargs(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        self._attempt, self._heard = f"responses-{os.urandom(8).hex()}", False
        made = super()._build_responses_call_kwargs(*arguments, **named)
        return made | ({"stream": False} if self._unstreamed else {})

    @override
    def _build_responses_result(self, resp: Any) -> LLMResponse:
        refused = answers.correct_output(resp.output, self._answer.again())
        result = super()._build_responses_result(self._quotas.note(resp))
        answers.add_refusals(result.message, refused)
        details = getattr(resp, "incomplete_details", None)
        finish = answers.CUT_SHORT.get(str(getattr(details, "reason", "") or ""), "")
        self._ending = answers.ending_of(finish, result.message, refused=bool(refused))
        return result

    # --- again -----------------------------------------------------------------------------------

    @override
    def retry_decorator(self, *_: Any, **named: Any) -> Callable[[Callable[..., Any]], Any]:
        """Return the SDK's decorator, for other errors and with the provider's pause."""
        longest = float(max(self.retry_min_wait, self.retry_max_wait))
        broken_off = retry_if_exception(retries.is_broken_off)
        worth_it = retry_if_exception(lambda error: retries.is_worth_it(error, longest))
        named["retry_exceptions"] = (named["retry_exceptions"] | broken_off) & worth_it
        decorate: Any = super().retry_decorator(**named)

        def decorated(function: Callable[..., Any]) -> Any:
            retried = decorate(function)

            def wait(state: RetryCallState) -> float:
                error = state.outcome.exception() if state.outcome is not None else None
                if error is not None and not self._heard and retries.says(error, SILENT):
                    self._unstreamed = True
                usual = float(retried.retry.wait(state))
                return retries.wait_after(error, usual, first=state.attempt_number == 1)

            return retried.retry_with(wait=wait)

        return decorated


# ---------------------------------------------------------------- how an answer ended


def ending_of(agent: Any) -> Ending:
    """Return how the agent's last answer ended."""
    return agent.llm._ending if isinstance(agent.llm, RookeryLLM) else Ending()


def wants_to_go_on(agent: Any) -> bool:
    """Tell whether the last answer was a pause, and not one of too many."""
    return isinstance(agent.llm, RookeryLLM) and 0 < agent.llm._pauses <= MAX_PAUSES


def forget_ending(agent: Any) -> None:
    if isinstance(agent.llm, RookeryLLM):
        agent.llm._ending = Ending()


def begin_turn(agent: Any) -> None:
    """Return to the agent's own model, which each turn asks first."""
    for llm in (agent.llm, getattr(agent.condenser, "llm", None)):
        if isinstance(llm, RookeryLLM):
            llm._stand_in = None


def refused_in(error: BaseException) -> str | None:
    """Return a message if the provider's filter refused the request; None: another error."""
    for cause in retries.chain(error):
        if isinstance(cause, Refused):
            detail = spoken(str(cause))
            return f"{REFUSED}\n{detail}" if detail else REFUSED
    return None
