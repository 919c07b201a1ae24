"""Errors that are no model's. Loads nothing of the SDK: commands of the user's raise them, too."""

from rookery.wire.failures import INTERNAL_ERROR, RpcError


class Told(Exception):
    """One that says itself what to do."""

    def __init__(self, message: str, kind: str = "network", code: int = INTERNAL_ERROR) -> None:
        super().__init__(message)
        self.failure = RpcError(code, message, {"errorKind": kind})
