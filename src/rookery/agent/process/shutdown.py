"""Whether this process is about to end. Then nothing more is written to a conversation: what ends
with us (a command, an open permission) would look as if the user had wanted it. The next process
continues from what was written before."""

from threading import Event

_leaving = Event()


def begin() -> None:
    """Before anything is ended. From any thread."""
    _leaving.set()


def stay() -> None:
    """It was only a warm-up turn: the process lives on."""
    _leaving.clear()


def is_under_way() -> bool:
    return _leaving.is_set()
