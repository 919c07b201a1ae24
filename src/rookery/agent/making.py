"""A conversation of the SDK's, made from a session's choices, its directory and the settings."""

import os
import platform
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from openhands.sdk import LLM, AgentContext, Tool
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.hooks import HookConfig
from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
from openhands.sdk.hooks.manager import HookManager
from openhands.sdk.mcp.config import MCPServer
from openhands.sdk.security.confirmation_policy import (
    AlwaysConfirm,
    ConfirmationPolicyBase,
    ConfirmRisky,
    NeverConfirm,
)
from openhands.sdk.security.llm_analyzer import LLMSecurityAnalyzer
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.preset.default import register_builtins_agents
from openhands.tools.task import TaskToolSet
from openhands.tools.task_tracker import TaskTrackerTool
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr

from rookery.agent.choices import ALWAYS_APPROVE, ALWAYS_ASK, RISK_BASED, Wanted
from rookery.agent.models import Model
from rookery.agent.steps import Conversation, RookeryAgent

type Json = dict[str, Any]

TOOLS = (TerminalTool.name, FileEditorTool.name, TaskTrackerTool.name, TaskToolSet.name)
USAGE = "agent"
CONDENSE_AT = 120
"""Events: the client under the SDK walks every message of every request."""
KEEP_FIRST = 4

POLICIES: Mapping[str, Callable[[], ConfirmationPolicyBase]] = {
    ALWAYS_ASK: AlwaysConfirm,
    RISK_BASED: ConfirmRisky,
    ALWAYS_APPROVE: NeverConfirm,
}

type OnRetry = Callable[[int, int, BaseException | None], None]


class Wishes(NamedTuple):
    """What a conversation is made from."""

    id: str
    cwd: str
    roots: tuple[str, ...]
    directory: str
    """Where conversations are kept."""
    model: Model
    wanted: Wanted
    servers: Mapping[str, Json]
    on_event: Callable[[Any], None]
    on_token: Callable[[Any], None]
    on_retry: OnRetry


def make(wishes: Wishes, tools: Sequence[Tool] | None = None) -> Conversation:
    """A new conversation, or the one of that id as it was left. Reads and writes files.

    `tools`: those that it was created with; the defaults for a new one.
    """
    register_builtins_agents(enable_browser=False)
    llm = llm_of(wishes.model, wishes.wanted, wishes.on_retry)
    agent = RookeryAgent(
        llm=llm,
        tools=list(tools) if tools is not None else [Tool(name=name) for name in TOOLS],
        mcp_config={name: MCPServer(**server) for name, server in wishes.servers.items()},
        agent_context=context_of(wishes),
        condenser=condenser_of(llm),
        system_prompt_kwargs={"cli_mode": True},
    )
    conversation = Conversation(
        agent=agent,
        workspace=wishes.cwd,
        persistence_dir=wishes.directory,
        conversation_id=uuid.UUID(wishes.id),
        callbacks=[wishes.on_event],
        token_callbacks=[wishes.on_token],
        visualizer=None,
        delete_on_close=False,
        profile_store_dir=os.path.join(wishes.directory, wishes.id, "profiles"),
    )
    conversation.set_security_analyzer(LLMSecurityAnalyzer())
    conversation.set_confirmation_policy(POLICIES[wishes.wanted.mode]())
    return conversation


def llm_of(model: Model, wanted: Wanted, on_retry: OnRetry | None) -> LLM:
    given: Json = {**model.extras}
    if model.timeout is not None:
        given["timeout"] = model.timeout
    if wanted.effort != "default":
        given["reasoning_effort"] = wanted.effort
    return LLM(
        **given,
        model=model.model,
        api_key=SecretStr(model.key) if model.key else None,
        base_url=model.base_url or None,
        usage_id=USAGE,
        stream=wanted.streaming,
        retry_listener=on_retry,
    )


def condenser_of(llm: LLM) -> LLMSummarizingCondenser:
    own = llm.model_copy(update={"usage_id": "condenser", "stream": False})
    return LLMSummarizingCondenser(llm=own, max_size=CONDENSE_AT, keep_first=KEEP_FIRST)


def context_of(wishes: Wishes) -> AgentContext:
    """Skills and instructions of the session's directory, whatever the process's own is."""
    return AgentContext(
        load_user_skills=True,
        load_project_skills=True,
        load_public_skills=False,  # they would be fetched
        system_message_suffix=surroundings(wishes.cwd, wishes.roots),
    )


def surroundings(cwd: str, roots: Sequence[str]) -> str:
    lines = [
        f"Your current working directory is: {cwd}",
        f"User operating system: {platform.platform()}",
    ]
    if roots:
        lines.append("Other directories that belong to the task: " + ", ".join(roots))
    return "\n".join(lines)


def policy_of(mode: str) -> ConfirmationPolicyBase:
    return POLICIES[mode]()


def attach_hooks(conversation: Conversation, hooks: HookConfig) -> None:
    """Those around tools and at the end; the SDK has the others."""

    def emit(event: Any) -> None:
        with conversation.state:
            conversation._base_callback(event)

    manager = HookManager(
        config=hooks,
        working_dir=str(conversation.workspace.working_dir),
        session_id=str(conversation.id),
        llm_getter=lambda: conversation.agent.llm,
        llm_call_context=conversation.get_llm_call_context(),
        conversation_stats=conversation.state.stats,
    )
    conversation.tool_hooks = HookEventProcessor(manager, original_callback=emit)
    conversation.tool_hooks.set_conversation_state(conversation.state)
