"""Who hears a conversation's terminal while it prints, and which terminals there are."""

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol

LIVE = 200_000
"""So much of one command is shown while it runs; the rest is in its result."""
CAPPED = "\n[more output follows; it is not shown while the command runs]\n"

type Listener = Callable[[str, str], None]


class Closable(Protocol):
    def close(self) -> None: ...


_executors: "weakref.WeakSet[Closable]" = weakref.WeakSet()
_listeners: dict[str, Listener] = {}
_lock = threading.Lock()


class Mask(Protocol):
    def feed(self, text: str) -> str: ...

    def flush(self) -> str: ...


class Stream:
    """One command's output on its way to a listener: masked, and not without end."""

    def __init__(self, tell: Callable[[str], None], mask: Mask) -> None:
        self._tell = tell
        self._mask = mask
        self._room = LIVE

    def feed(self, text: str) -> None:
        if self._room > 0:
            self._send(self._mask.feed(text))

    def flush(self) -> None:
        if self._room > 0:
            self._send(self._mask.flush())

    def _send(self, text: str) -> None:
        if not text:
            return
        shown, self._room = text[: self._room], self._room - len(text)
        self._tell(shown if self._room > 0 else shown + CAPPED)


def register(executor: Closable) -> None:
    with _lock:
        _executors.add(executor)


def listen(conversation: Any, listener: Listener | None) -> None:
    with _lock:
        if listener is None:
            _listeners.pop(_name(conversation), None)
        else:
            _listeners[_name(conversation)] = listener


def listener_of(conversation: Any) -> Listener | None:
    with _lock:
        return _listeners.get(_name(conversation))


def _name(conversation: Any) -> str:
    return str(conversation.state.id)


def close_all() -> None:
    """At the end of the process: no shell is left, whatever was forgotten."""
    with _lock:
        left = list(_executors)
    for executor in left:
        executor.close()


atexit.register(close_all)
