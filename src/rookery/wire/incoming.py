"""A request received from the other side."""

from collections.abc import Callable
from typing import Any, Protocol

from rookery.wire.failures import METHOD_NOT_FOUND, error_to_json

type Id = int | str | None


class Asker(Protocol):
    """The connection that a request came over."""

    def flush(self) -> None: ...

    def _send(self, message: dict[str, Any]) -> None: ...

    def _settle(self, incoming: "Incoming") -> None: ...


class Incoming:
    """A request to be answered; only the first of `reply`, `fail` and `unknown` counts."""

    def __init__(self, peer: Asker, id: Id, method: str, params: Any) -> None:
        self.id = id
        self.method = method
        self.params = params
        self.answered = False
        self.cancelled: Callable[[], None] | None = None
        """Called when the other side takes the request back; an answer is still due."""
        self._peer = peer

    def reply(self, result: Any, *, at_once: bool = False) -> None:
        """Answer with a result. TooLarge leaves the request open, so that it can be failed."""
        self._answer({"jsonrpc": "2.0", "id": self.id, "result": result})
        if at_once:  # not at the end of this round: the other side stands still for it
            self._peer.flush()

    def fail(self, code: int, message: str, data: Any = None) -> None:
        self._answer({"jsonrpc": "2.0", "id": self.id, "error": error_to_json(code, message, data)})

    def unknown(self) -> None:
        self.fail(METHOD_NOT_FOUND, f"Method not found: {self.method[:200]}")

    def _answer(self, message: dict[str, Any]) -> None:
        if not self.answered:
            self._peer._send(message)
            self.settle()

    def settle(self) -> None:  # it is answered: by us, or by another process
        self.answered = True
        self._peer._settle(self)
