"""Who hears a conversation's terminal while it prints, and which terminals there are."""

import atexit
import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from rookery.models.secrets import KNOWN

LIVE = 200_000
"""Characters of one command that are shown while it runs; the rest is in its result."""
CAPPED = "\n[more output follows; it is not shown while the command runs]\n"

type Listener = Callable[[str, str], None]


class Closable(Protocol):
    def close(self) -> None: ...


_executors: "weakref.WeakSet[Closable]" = weakref.WeakSet()
_listeners: dict[str, Listener] = {}
_lock = threading.Lock()


class Stream:
    """One command's output on its way to a listener: without secrets, and not without end."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._mask = KNOWN.in_pieces()
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


def on_output(conversation: Any, listener: Listener | None) -> None:
    """Call `listener(tool_call_id, text)` in the terminal's thread, as output comes and before the
    observation is made. None: no longer."""
    with _lock:
        if listener is None:
            _listeners.pop(str(conversation.state.id), None)
        else:
            _listeners[str(conversation.state.id)] = listener


def listener_of(conversation: Any) -> Listener | None:
    with _lock:
        return _listeners.get(str(conversation.state.id))


@atexit.register
def _close_all() -> None:
    with _lock:
        left = list(_executors)
    for executor in left:
        executor.close()
