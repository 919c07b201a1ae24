"""Our terminal in place of the SDK's: it ends at once, its output is observed while it runs, and it
is ready without waiting.

Importing this package imports the SDK."""

from collections.abc import Callable, Iterator
from typing import Any

from rookery.agent.terminal.executor import PtyExecutor, on_output

__all__ = ["PtyExecutor", "close", "directory", "executors", "interrupt", "on_output", "set_apart"]


def executors(conversation: Any) -> list[PtyExecutor]:
    """Return the terminals of a conversation whose tools exist; creates none."""
    return list(_executors(conversation))


def _executors(conversation: Any) -> Iterator[PtyExecutor]:
    tools = getattr(conversation.agent, "_tools", None) or {}
    for tool in tools.values():
        executor = getattr(tool, "executor", None)
        if isinstance(executor, PtyExecutor):
            yield executor


def interrupt(conversation: Any, tell: Callable[[str], object] = bool) -> None:
    """End the foreground commands of a conversation's terminals: INT, and KILL for what is left
    after 0.3 s. Called from any thread; returns at once. `tell` is called, in a thread, with a
    notice about what we may not end."""
    for executor in executors(conversation):
        executor.interrupt(tell)


def directory(conversation: Any) -> str:
    """Return the directory in which commands run now; "" if there is no terminal, or none yet."""
    return next((executor.directory for executor in _executors(conversation)), "")


def set_apart(conversation: Any, apart: bool) -> None:
    """Run commands in a new shell, which inherits nothing that earlier commands set; or in the
    usual one again. Blocks for less than a second."""
    for executor in executors(conversation):
        executor.set_apart(apart)


def close(conversation: Any) -> None:
    """End the shells and all that they started. Blocks for less than a second."""
    on_output(conversation, None)
    for executor in executors(conversation):
        executor.close()
