"""Errors that no model caused. Imports nothing of the SDK, since the user's commands raise them,
too."""

from rookery.wire.failures import INTERNAL_ERROR, RpcError


class ActionableError(Exception):
    """An error whose message tells the user what to do about it."""

    def __init__(self, message: str, kind: str = "network", code: int = INTERNAL_ERROR) -> None:
        super().__init__(message)
        self.failure = RpcError(code, message, {"errorKind": kind})
