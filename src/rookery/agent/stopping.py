"""Tracks work of a conversation's tools that a cancel ends: a search, a page that is fetched."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol
from weakref import WeakKeyDictionary


class Stoppable(Protocol):
    def stop(self) -> None:
        """Stop the work. Called from any thread; returns at once."""


_running: "WeakKeyDictionary[Any, set[Stoppable]]" = WeakKeyDictionary()


@contextmanager
def running(executor: object, work: Stoppable) -> Iterator[None]:
    """Register work of one of a conversation's tools while it runs."""
    known = _running.setdefault(executor, set())
    known.add(work)
    try:
        yield
    finally:
        known.discard(work)


def interrupt(conversation: Any) -> None:
    """Stop all work of a conversation's tools. Called from any thread; returns at once."""
    tools = getattr(conversation.agent, "_tools", None) or {}
    for tool in tools.values():
        for work in list(_running.get(getattr(tool, "executor", None), ())):
            work.stop()
