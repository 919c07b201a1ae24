"""Whether this process is about to end: from then on nothing more is written into a conversation.

What ends with us (a command, a permission that is open) would else be told to the model as if
somebody had wanted it. What is not written is found as it stood, and the next process goes on from
there.
"""

from threading import Event

_leaving = Event()


def begin() -> None:
    """Before anything is ended. From any thread."""
    _leaving.set()


def stay() -> None:
    """It was only a turn to warm up, after which the process lives on."""
    _leaving.clear()


def is_under_way() -> bool:
    return _leaving.is_set()
