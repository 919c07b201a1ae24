"""Resolves stored kinds whose class is not loaded yet: of a conversation that had an MCP server, or
of another program's agent.

Made for openhands-sdk 1.58 (`DiscriminatedUnionMixin.resolve_kind`). Unnecessary once nothing that
defines a kind is imported later than the SDK."""

import importlib
from typing import Any

from openhands.sdk.tool import ToolDefinition
from openhands.sdk.utils.models import DiscriminatedUnionMixin

KINDS = {
    "ACPAgent": "openhands.sdk.agent.acp_agent",
    "MCPToolDefinition": "openhands.sdk.mcp.tool",
}


def _first_load(owner: Any) -> None:
    theirs = vars(owner)["resolve_kind"].__func__
    if hasattr(theirs, "theirs"):
        return

    def resolve(cls: Any, kind: str) -> Any:
        if kind in KINDS:
            importlib.import_module(KINDS[kind])
        return theirs(cls, kind)

    resolve.theirs = theirs  # type: ignore[attr-defined]
    owner.resolve_kind = classmethod(resolve)


def install() -> None:
    for owner in (DiscriminatedUnionMixin, ToolDefinition):
        _first_load(owner)
