"""Whether this process is about to end. From then on nothing is written to a conversation: whatever
ends with the process (a command, an open permission) would look as if the user had ended it. The
next process continues from what was written before."""

from threading import Event

_leaving = Event()


def begin() -> None:
    """Note that the process is about to end, before anything is ended. Called from any thread."""
    _leaving.set()


def stay() -> None:
    """Note that the process lives on: it was only a warm-up turn."""
    _leaving.clear()


def is_under_way() -> bool:
    return _leaving.is_set()
