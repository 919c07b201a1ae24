"""Connects a conversation to MCP servers without loading their libraries before the first one.

Made for openhands-sdk 1.58, whose conversation makes its own provider at its start. Unnecessary
once that loads nothing."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openhands.sdk.mcp.client import MCPClient


class Provider:
    """The SDK's own provider, loaded with the first server."""

    def create_tools(self, *arguments: Any, **named: Any) -> "MCPClient":
        from openhands.sdk.mcp.utils import create_mcp_tools

        return create_mcp_tools(*arguments, **named)
