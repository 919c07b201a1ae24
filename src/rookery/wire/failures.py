"""The errors of JSON-RPC requests, and their codes."""

from typing import Any, NamedTuple

from rookery.core.json import dumps

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800


class RpcFailure(Exception):
    """A request failed: it was not answered with a result."""


class RpcError(RpcFailure):
    """The other side answered with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class ConnectionClosed(RpcFailure):
    def __init__(self, message: str = "the connection is closed") -> None:
        super().__init__(message)


class Answer(NamedTuple):
    """The outcome of a request of ours: a result, or an error."""

    result: Any
    error: RpcFailure | None


class TooLarge(ValueError):
    """The message was not sent because the other side could not take it."""


def error_to_json(code: int, message: str, data: Any = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return error


def error_from_json(error: Any) -> RpcError:
    """Parse an agent's error, however malformed: odd codes, no message, or only a string."""
    if not isinstance(error, dict):
        return RpcError(INTERNAL_ERROR, error if isinstance(error, str) else dumps(error))
    code, message = error.get("code"), error.get("message")
    return RpcError(
        code if type(code) is int else INTERNAL_ERROR,
        message if isinstance(message, str) else dumps(message),
        error.get("data"),
    )
