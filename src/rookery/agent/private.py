"""Private parts of the SDK that are used as they are, one function each.

Made for openhands-sdk 1.58 and openhands-tools 1.58, which have no public way to do these things.
Each function is unnecessary once the name that its test asks for is public. Importing this loads
nothing of the SDK: it waits for the patches of its imports."""

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from openhands.sdk import LLM, LocalConversation
    from openhands.sdk.event import ActionEvent, Event, ObservationEvent
    from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
    from openhands.sdk.llm.auth.credentials import CredentialStore
    from openhands.sdk.mcp.client import MCPClient
    from openhands.tools.task.impl import TaskExecutor
    from openhands.tools.task.manager import Task
    from openhands.tools.terminal.impl import TerminalExecutor


def add_event(conversation: "LocalConversation", event: "Event") -> None:
    """Add an event of ours as the SDK adds its own: to the state and to all who listen."""
    conversation._on_event(event)


def add_event_without_hooks(conversation: "LocalConversation", event: "Event") -> None:
    conversation._base_callback(event)


def unlocked(conversation: Any) -> AbstractAsyncContextManager[None]:
    """Release the state's lock while a step waits for somebody else."""
    lock: AbstractAsyncContextManager[None] = conversation._released_state_lock_during_io()
    return lock


def make_ready(conversation: "LocalConversation") -> None:
    """Make the agent's tools now: the SDK does it with the first prompt."""
    conversation._ensure_agent_ready()


@contextmanager
def unwatched(conversation: "LocalConversation") -> Iterator[None]:
    """Fork without the visualizer: the SDK would make one of its class, without arguments."""
    watcher, conversation._visualizer = conversation._visualizer, None
    try:
        yield
    finally:
        conversation._visualizer = watcher


def takes_a_step(conversation: "LocalConversation") -> bool:
    return conversation._arun_task is not None


def before_tool(hooks: "HookEventProcessor", action: "ActionEvent") -> None:
    """Run the hooks before a tool, without passing the event on."""
    hooks._handle_pre_tool_use(action)


def after_tool(hooks: "HookEventProcessor", result: "ObservationEvent") -> None:
    hooks._handle_post_tool_use(result)


def use_credentials(llm: "LLM", store: Any, credentials: Any) -> None:
    """Let a model use stored tokens: the SDK does so only after a login of its own."""
    llm._effective_max_output_tokens = None
    llm._subscription_credential_store = store
    llm._subscription_credentials = credentials


def tasks(executor: "TaskExecutor") -> "list[Task]":
    """Return the tasks of sub-agents that are known."""
    return list(executor._manager._tasks.values())


def remember(executor: "TaskExecutor", known: "list[Task]") -> None:
    """Add tasks from before the conversation was loaded."""
    manager = executor._manager
    with manager._tasks_lock:
        for task in known:
            manager._tasks.setdefault(task.id, task)


def create_tools(conversation: "LocalConversation", *given: Any, **more: Any) -> "MCPClient":
    """Connect to MCP servers as the conversation would."""
    return conversation._mcp_tool_provider.create_tools(*given, **more)


def set_tools(agent: Any, client: "MCPClient", tools: Any) -> None:
    """Set the tools of one MCP server, as the SDK does when the server says that they changed."""
    agent._on_mcp_tools_reconciled(client, tools)


def close_critic(critic: Any) -> None:
    critic._client.close()


def credentials_file(store: "CredentialStore", vendor: str) -> "Path":
    return store._get_credentials_file(vendor)


def export_environment(
    executor: "TerminalExecutor", action: Any, conversation: Any, to: Any
) -> None:
    """Export the conversation's secrets that a command names to a shell."""
    executor._export_envs(action, conversation, session=to)


def masked[Shown](executor: Any, observation: Shown, conversation: Any) -> Shown:
    """Return the output without the conversation's secrets."""
    hidden: Shown = executor._mask_observation(observation, conversation)
    return hidden
