"""Our terminal in place of the SDK's: ended at once, heard while it runs, ready without waiting.

`on_output(conversation, callback)` hears each command;
`interrupt(conversation)` ends the foreground command; `close(conversation)` ends the shells.
Importing this package imports the SDK.
"""

from collections.abc import Callable
from typing import Any

from rookery.agent.terminal import live
from rookery.agent.terminal.executor import PtyExecutor
from rookery.agent.terminal.live import Listener

__all__ = [
    "PtyExecutor",
    "close",
    "close_all",
    "executors",
    "interrupt",
    "on_output",
    "prepare",
]

close_all = live.close_all


def executors(conversation: Any) -> list[PtyExecutor]:
    """The terminals of a conversation whose tools are made; asking makes none."""
    if isinstance(conversation, PtyExecutor):
        return [conversation]
    tools = getattr(conversation.agent, "_tools", None) or {}
    found = (getattr(tool, "executor", None) for tool in tools.values())
    return [executor for executor in found if isinstance(executor, PtyExecutor)]


def prepare(conversation: Any) -> None:
    """Start the shells that are not there yet, in a thread."""
    for executor in executors(conversation):
        executor.prepare()


def interrupt(conversation: Any, tell: Callable[[str], object] = bool) -> None:
    """End what runs in the foreground of a conversation's terminals (or of one executor): INT, and
    KILL for what is left of it after 0.3 s. From any thread; returns at once. `tell` hears of what
    may not be ended, in a thread."""
    for executor in executors(conversation):
        executor.interrupt(tell)


def on_output(conversation: Any, callback: Listener | None) -> None:
    """`callback(tool_call_id, text)` is called in the terminal's thread, as output comes and before
    the observation is made. None: nobody is told any more."""
    live.listen(conversation, callback)


def close(conversation: Any) -> None:
    """End the shells and all that they started. Blocks for less than a second."""
    live.listen(conversation, None)
    for executor in executors(conversation):
        executor.close()
