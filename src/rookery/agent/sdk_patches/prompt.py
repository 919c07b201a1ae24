"""Gives the model our texts (`agent/prompts`): who it is and how it works, the arguments of its
tools, and the outcome of an edit. Tools that only speak (`finish`, `think`) are not offered to a
model that calls tools: an answer ends its turn. A model that must write its calls as text is
offered `finish`, which its examples use. The error of a call to an unknown tool lists what is
offered.

Made for openhands-sdk 1.58, whose instructions and declarations are more than twice as long, speak
of another product, and cannot be replaced otherwise; a `SOUL.md` beside the SDK's files still comes
first. Unnecessary once an agent takes its sections, and a tool its texts."""

from typing import Any

from openhands.sdk import LLM, Agent
from openhands.sdk.agent import base
from openhands.sdk.context.prompts import presets
from openhands.sdk.context.prompts.section import CacheTier, PromptContext
from openhands.sdk.llm import TextContent
from openhands.sdk.tool import Observation, ToolDefinition
from openhands.tools.file_editor.definition import FileEditorObservation

from rookery.agent.prompts import results, system, tools
from rookery.agent.sdk_patches import Around, wrap
from rookery.home import paths

OF_THE_SDK = "openhands.tools."


class Instructions:
    """The part of the system prompt that is the same in every conversation."""

    name = "rookery"
    cache_tier = CacheTier.STATIC

    def guard(self, ctx: PromptContext) -> bool:  # noqa: ARG002 (as the SDK calls it)
        return True

    def render(self, ctx: PromptContext) -> str:
        return system.prompt(ctx.template_kwargs, ctx.tool_guidance, paths.home())


def _for_chat(declare: Around, self: ToolDefinition[Any, Any], *more: Any, **named: Any) -> Any:
    declared = declare(self, *more, **named)
    return {**declared, "function": _reworded(self, declared["function"])}


def _for_responses(
    declare: Around, self: ToolDefinition[Any, Any], *more: Any, **named: Any
) -> Any:
    return _reworded(self, declare(self, *more, **named))


def _reworded(tool: ToolDefinition[Any, Any], declared: Any) -> Any:
    """Return a declaration with our texts. A server's tool keeps its own, whatever its name."""
    ours = None
    if type(tool).__module__.startswith(OF_THE_SDK):
        ours = tools.DECLARED.get(tool.name)
    about = tools.describe(tool.name, tool.description) if ours else tool.description
    parameters = tools.shortened(declared["parameters"], ours)
    return {**declared, "description": about, "parameters": parameters}


def _content(self: FileEditorObservation) -> list[Any]:
    parts: Any = Observation.to_llm_content.fget(self)  # type: ignore[attr-defined]
    return [
        part.model_copy(update={"text": results.trimmed(part.text)})
        if isinstance(part, TextContent)
        else part
        for part in parts
    ]


def _chat(make: Around, self: LLM, messages: Any, offered: Any, *more: Any, **named: Any) -> Any:
    return make(self, messages, _offered(self, offered), *more, **named)


def _responses(
    make: Around, self: LLM, instructions: Any, items: Any, offered: Any, *more: Any, **named: Any
) -> Any:
    return make(self, instructions, items, _offered(self, offered), *more, **named)


def _offered(llm: LLM, given: Any) -> Any:
    hidden = tools.SPOKEN if llm.native_tool_calling else tools.SPOKEN - {"finish"}
    return [tool for tool in given if tool.name not in hidden] if given else given


def _tool_error(emit: Around, self: Agent, *, error: str, tool_name: str, **named: Any) -> None:
    if tool_name not in self.tools_map:
        names = [tool.name for tool in _offered(self.llm, list(self.tools_map.values()))]
        error = f"Tool '{tool_name}' not found. Available: {names}"
    emit(self, error=error, tool_name=tool_name, **named)


def install() -> None:
    base._DEFAULT_SOUL = system.SOUL
    presets._DEFAULT_STATIC_SECTIONS = (Instructions(),)  # type: ignore[misc]
    FileEditorObservation.to_llm_content = property(_content)  # type: ignore[assignment,method-assign]
    wrap(ToolDefinition, "to_openai_tool", _for_chat)
    wrap(ToolDefinition, "to_responses_tool", _for_responses)
    wrap(Agent, "_emit_tool_error", _tool_error)
    wrap(LLM, "_finalize_completion_params", _chat)
    wrap(LLM, "_finalize_responses_params", _responses)
