"""What every agent of ours on stdio asks of a client's parameters, and how it refuses them."""

import os
from typing import Any

from rookery.wire.failures import INVALID_PARAMS, RpcError

type Json = dict[str, Any]

AUTH_REQUIRED = -32000
NOT_FOUND = -32002


def offers(capabilities: Json, *path: str) -> bool:
    """What is left out, null or false is not offered; an empty object is."""
    value: Any = capabilities
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value is not None and value is not False


def invalid(words: str) -> RpcError:
    return RpcError(INVALID_PARAMS, words)


def no_session() -> RpcError:
    return RpcError(NOT_FOUND, "Session not found")


def session_id(params: Json) -> str:
    id = params.get("sessionId")
    if not isinstance(id, str):
        raise invalid("sessionId is missing")
    return id


def place(params: Json) -> tuple[str, list[str]]:
    """The session's directory and its additional ones. Raises RpcError."""
    cwd = params.get("cwd")
    if not isinstance(cwd, str) or not os.path.isabs(cwd):
        raise invalid("cwd must be an absolute path")
    roots = params.get("additionalDirectories") or []
    if not isinstance(roots, list) or not all(
        isinstance(root, str) and os.path.isabs(root) for root in roots
    ):
        raise invalid("additionalDirectories must be absolute paths")
    return cwd, roots


def version(params: Json) -> int:
    """The protocol's version that a client asks for."""
    asked = params.get("protocolVersion")
    if type(asked) is not int:
        raise invalid("protocolVersion is not a number")
    return asked
