"""Builds an SDK conversation from a session's choices, its directory and the settings."""

import json
import os
import platform
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from openhands.sdk import LLM, AgentContext, Tool
from openhands.sdk.context.condenser import CondenserBase, NoOpCondenser
from openhands.sdk.conversation.visualizer import ConversationVisualizerBase
from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
from openhands.sdk.mcp.config import MCPServer
from openhands.sdk.security import confirmation_policy as policies
from openhands.sdk.security.llm_analyzer import LLMSecurityAnalyzer
from openhands.sdk.skills import PathTrigger, Skill
from openhands.tools.preset.default import register_builtins_agents
from pydantic import SecretStr

import rookery
from rookery.agent import private
from rookery.agent.conversation import images, skills, subscription
from rookery.agent.conversation.choices import (
    ALWAYS_APPROVE,
    ALWAYS_ASK,
    PLAN,
    RISK_BASED,
    ChoiceValues,
)
from rookery.agent.conversation.condenser import UNLIMITED, RookeryCondenser
from rookery.agent.conversation.critic import PROXY
from rookery.agent.conversation.hooks import (
    HookTable,
    ProjectHooks,
    ToolHookManager,
    watch_project_hooks,
)
from rookery.agent.conversation.steps import Conversation, RookeryAgent, Seams, quiet_copy
from rookery.agent.mcp.connections import Connections
from rookery.agent.mcp.names import Names
from rookery.agent.provider import windows
from rookery.agent.provider.fallback import Fallbacks
from rookery.agent.sdk_patches import head, usage
from rookery.agent.sdk_patches.imports.mcp_provider import Provider
from rookery.agent.sdk_patches.llm import RookeryLLM
from rookery.agent.storage import store
from rookery.agent.tools import browser, families
from rookery.core.json import Json
from rookery.home import config, paths
from rookery.models import prices, subscriptions
from rookery.models.profiles import Condenser, Profile
from rookery.models.providers import PLACEHOLDER
from rookery.models.secrets import KNOWN, SHORTEST

USAGE = "agent"
TIMEOUT = "timeout"
"""An MCP server's seconds to connect, and for a call."""
SDK_HOOKS = ("user_prompt_submit", "session_start", "session_end")
"""The SDK runs these itself; the others it would run on the loop's thread."""
TOOL_HOOKS = ("pre_tool_use", "post_tool_use", "stop")

POLICIES: Mapping[str, Callable[[], policies.ConfirmationPolicyBase]] = {
    ALWAYS_ASK: policies.AlwaysConfirm,
    RISK_BASED: policies.ConfirmRisky,
    ALWAYS_APPROVE: policies.NeverConfirm,
    PLAN: policies.AlwaysConfirm,
}

type OnRetry = Callable[[int, int, BaseException | None], None]


class Wishes(NamedTuple):
    """Everything a conversation is built from."""

    record: store.Record
    directory: str
    """Where conversations are kept."""
    model: Profile
    summarizer: Profile | None
    """The model that condenses it, if another."""
    condenser: Condenser
    wanted: ChoiceValues
    servers: Mapping[str, Json]
    hooks: tuple[Json, ProjectHooks]
    """The user's own, and the project's."""
    browser: bool
    """A new conversation has one."""
    on_event: Callable[[Any], None]
    on_token: Callable[[Any], None]
    on_retry: OnRetry
    watcher: ConversationVisualizerBase
    """Hears its sub-agents."""
    names: Names
    """Of MCP tools."""
    seams: Seams
    fallbacks: Fallbacks | None = None


def make(wishes: Wishes) -> Conversation:
    """Build a new conversation, or load the stored one with that id. Reads and writes files."""
    llm = llm_of(wishes.model, wishes.wanted, wishes.on_retry, fallbacks=wishes.fallbacks)
    small = windows.is_small(llm.effective_max_input_tokens)
    folder = os.path.join(wishes.directory, wishes.record.id)
    settings = config.load_or_defaults(paths.home())
    usual = families.usual(
        wishes.model.model, small=small, browser=wishes.browser, web=settings.web
    )
    tools = _tools(folder, [_tool(name, folder) for name in usual])
    names = [tool.name for tool in tools["tools"]]
    families.load(names)
    register_builtins_agents(enable_browser=families.BROWSER in names)
    agent = RookeryAgent(
        llm=llm,
        mcp_config={name: _server(server) for name, server in wishes.servers.items()},
        agent_context=context_of(wishes, remembers=not small and settings.memory),
        condenser=condenser_of(wishes, llm),
        system_prompt_kwargs={"cli_mode": True},
        **tools,
    )
    own_hooks, of_project = wishes.hooks
    of_sdk = {kind: own_hooks[kind] for kind in SDK_HOOKS if kind in own_hooks}
    conversation = Conversation(
        agent=agent,
        workspace=wishes.record.cwd,
        persistence_dir=wishes.directory,
        conversation_id=uuid.UUID(wishes.record.id),
        callbacks=[wishes.on_event],
        token_callbacks=[wishes.on_token],
        hook_config=HookTable.made(of_sdk, of_project, SDK_HOOKS),
        visualizer=wishes.watcher,
        mcp_tool_provider=Provider(),
        delete_on_close=False,
        profile_store_dir=os.path.join(wishes.directory, wishes.record.id, "profiles"),
    )
    timeouts = {
        name: float(each[TIMEOUT]) for name, each in wishes.servers.items() if TIMEOUT in each
    }
    conversation.connections = Connections(conversation, wishes.names, timeouts, wishes.seams)
    conversation.seams = wishes.seams
    head.catch_up(conversation.state)
    conversation.condenser_follows = wishes.summarizer is None
    conversation.set_security_analyzer(LLMSecurityAnalyzer())
    conversation.set_confirmation_policy(policy_of(wishes.wanted.mode))
    _attach_hooks(conversation, wishes)
    hide_key(conversation, wishes.model)
    hide(conversation, "web.search_key", settings.web.search_key)
    return conversation


def _server(server: Mapping[str, Any]) -> MCPServer:
    """Make the SDK's server without its timeout, which we keep: the SDK has one for all servers."""
    return MCPServer(**{key: value for key, value in server.items() if key != TIMEOUT})


def hide_key(conversation: Conversation, model: Profile) -> None:
    """Hide the model's key from the model in the output of commands."""
    if (key := model.key.reveal()) != PLACEHOLDER:
        hide(conversation, model.name, key)


def hide(conversation: Conversation, name: str, secret: str) -> None:
    """Mask a secret, so that neither the model nor a client sees it, whatever prints it."""
    if len(secret) >= SHORTEST:
        KNOWN.learn([secret])
        conversation.state.secret_registry.track_exported_values({name: secret})


def _tool(name: str, folder: str) -> Tool:
    return Tool(name=name, params=browser.params(folder) if name == families.BROWSER else {})


def _tools(folder: str, usual: list[Tool]) -> Json:
    """Return the tools that a conversation was created with; the defaults for a new one. A
    conversation written by another SDK program is converted to our agent's."""
    path = os.path.join(folder, store.STATE)
    state = paths.read_json(path)
    agent = state.get("agent") if state else None
    if state is None or not isinstance(agent, dict):
        return {"tools": usual}
    if agent.get("kind") != RookeryAgent.__name__:
        agent["kind"] = RookeryAgent.__name__
        paths.write_atomic(path, json.dumps(state).encode())
    own: Json = {"tools": [Tool.model_validate(tool) for tool in agent.get("tools", [])]}
    if isinstance(agent.get("include_default_tools"), list):
        own["include_default_tools"] = agent["include_default_tools"]
    return own


# ---------------------------------------------------------------- the model


def llm_of(
    model: Profile,
    wanted: ChoiceValues,
    on_retry: OnRetry | None,
    usage_id: str = USAGE,
    fallbacks: Fallbacks | None = None,
) -> LLM:
    given: Json = {key: value for key, value in model.extras.items() if key != prices.KEY}
    if (price := prices.price_in(model.extras)) is not None:
        given |= usage.know(model.model, price)
    if model.timeout is not None:
        given["timeout"] = int(model.timeout)
    if wanted.effort != "default":
        given["reasoning_effort"] = wanted.effort
    if PROXY.match(model.base_url):
        tags = ["app:rookery-agent", f"model:{model.model}"]
        about = {"trace_version": rookery.__version__, "tags": tags}
        body = given.get("litellm_extra_body") or {}
        given["litellm_extra_body"] = {"metadata": about} | body
    fixed: Json = {
        "model": model.model,
        "api_key": SecretStr(model.key.reveal()) if model.key else None,
        "base_url": model.base_url or None,
        "usage_id": usage_id,
        "stream": wanted.streaming,
        "retry_listener": on_retry,
    }
    if subscribed := subscriptions.is_one(given):
        fixed |= subscription.fields_of(given)
    llm = RookeryLLM(**(given | fixed))
    if subscribed:
        subscription.log_in(llm, given)
    else:
        llm.wish_for_summaries()
    llm.fall_back_on(fallbacks)
    return images.trying(llm)


def condenser_of(wishes: Wishes, llm: LLM) -> CondenserBase:
    if not wishes.condenser.enabled:
        return NoOpCondenser()
    if wishes.summarizer is not None:
        quiet = wishes.wanted._replace(streaming=False, effort="default")
        own = llm_of(wishes.summarizer, quiet, wishes.on_retry, "condenser")
    else:
        own = quiet_copy(llm)
    wish = wishes.condenser
    size, share = wish.max_size or UNLIMITED, wish.share / 100
    return RookeryCondenser(llm=own, share=share, max_size=size, keep_first=wish.keep_first)


# ---------------------------------------------------------------- its surroundings


def context_of(wishes: Wishes, *, remembers: bool) -> AgentContext:
    """Build the agent's context. `remembers`: include MEMORY.md, and how to maintain it."""
    return AgentContext(
        skills=list(skills.found_in(wishes.record.cwd).values()),
        load_memory=remembers,
        system_message_suffix=surroundings(wishes.record.cwd, wishes.record.roots),
    )


def surroundings(cwd: str, roots: Sequence[str]) -> str:
    lines = [
        f"Your current working directory is: {cwd}",
        f"User operating system: {platform.platform()}",
    ]
    if roots:
        lines.append("Other directories of this task: " + ", ".join(roots))
    return "\n".join(lines)


def skills_of(conversation: Conversation) -> list[Skill]:
    """Return the skills that the user can call by name: not the ones that are always in the prompt,
    nor those of a directory, which are loaded with its files."""
    context = conversation.agent.agent_context
    known = context.skills if context is not None else []
    called = [each for each in known if each.is_agentskills_format or each.trigger is not None]
    return [each for each in called if not isinstance(each.trigger, PathTrigger)]


def instructions_of(conversation: Conversation) -> list[Skill]:
    """Return the skills that are always in the prompt."""
    context = conversation.agent.agent_context
    known = context.skills if context is not None else []
    return [each for each in known if not each.is_agentskills_format and each.trigger is None]


def policy_of(mode: str) -> policies.ConfirmationPolicyBase:
    return POLICIES[mode]()


def _attach_hooks(conversation: Conversation, wishes: Wishes) -> None:
    """Attach the hooks around tools and at the end of a turn; the SDK runs the others."""
    own_hooks, of_project = wishes.hooks
    own = {kind: each for kind, each in own_hooks.items() if kind not in SDK_HOOKS}
    conversation.project_hooks = of_project
    watch_project_hooks()

    def emit(event: Any) -> None:
        with conversation.state:
            private.add_event_without_hooks(conversation, event)

    manager = ToolHookManager(
        config=HookTable.made(own, of_project, TOOL_HOOKS, wishes.names.meaning),
        working_dir=str(conversation.workspace.working_dir),
        session_id=str(conversation.id),
        llm_getter=lambda: conversation.agent.llm,
        llm_call_context=conversation.get_llm_call_context(),
        conversation_stats=conversation.state.stats,
    )
    conversation.tool_hooks = HookEventProcessor(manager, original_callback=emit)
    conversation.tool_hooks.set_conversation_state(conversation.state)
