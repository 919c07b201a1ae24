"""Parsing and validating the parameters of requests, the same for all our ACP agents on stdio."""

import os
from collections.abc import Mapping
from typing import Any

from rookery.wire.failures import INVALID_PARAMS, RpcError

type Json = dict[str, Any]

AUTH_REQUIRED = -32000
NOT_FOUND = -32002


def offers(capabilities: Json, *path: str) -> bool:
    """Return whether a capability is offered: not if it is absent, null or false; an empty object
    is."""
    value: Any = capabilities
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value is not None and value is not False


def invalid(message: str) -> RpcError:
    return RpcError(INVALID_PARAMS, message)


def no_session() -> RpcError:
    return RpcError(NOT_FOUND, "Session not found")


def session_id(params: Json) -> str:
    id = params.get("sessionId")
    if not isinstance(id, str):
        raise invalid("sessionId is missing")
    return id


def known[T](sessions: Mapping[str, T], params: Json) -> T:
    """Return the session that a request is about, if it is open. Raises RpcError."""
    if (id := session_id(params)) not in sessions:
        raise no_session()
    return sessions[id]


def place(params: Json, *, exists: bool = False) -> tuple[str, list[str]]:
    """Return the session's directory and its additional ones. Raises RpcError."""
    cwd = params.get("cwd")
    if not isinstance(cwd, str) or not os.path.isabs(cwd):
        raise invalid("cwd must be an absolute path")
    if exists and not os.path.isdir(cwd):
        raise invalid(f"cwd is not a directory: {cwd}")
    roots = params.get("additionalDirectories") or []
    if not isinstance(roots, list) or not all(
        isinstance(root, str) and os.path.isabs(root) for root in roots
    ):
        raise invalid("additionalDirectories must be absolute paths")
    return cwd, roots


def servers(params: Json, *, needed: bool = False) -> list[Json]:
    """Return the MCP servers that the client provides. Raises RpcError."""
    given = params.get("mcpServers")
    if given is None and not needed:
        return []
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise invalid("mcpServers must be a list of servers")
    return given


def blocks(params: Json) -> list[Any]:
    """Return the content blocks of a prompt, not validated yet. Raises RpcError."""
    prompt = params.get("prompt")
    if not isinstance(prompt, list) or not prompt:
        raise invalid("prompt must be a list of content blocks")
    return prompt


def version(params: Json) -> int:
    """Return the protocol version that a client asks for."""
    asked = params.get("protocolVersion")
    if type(asked) is not int:
        raise invalid("protocolVersion is not a number")
    return asked
