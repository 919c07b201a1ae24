"""Imports the SDK without what a first turn does not need: a schema is built when something is
validated by it, a package's re-exports are resolved when they are used, and the clients of ACP,
tmux, MCP and log-ins are loaded by their users.

Made for openhands-sdk 1.58, openhands-tools 1.58, litellm 1.105 and openai 2.54. Unnecessary once
`import openhands.sdk` loads none of these by itself."""

import sys

from rookery.agent.sdk_patches.imports.later import Finder

ACP = "openhands.sdk.agent.acp_agent"
MCP = ("openhands.sdk.mcp.client", "openhands.sdk.mcp.tool", "openhands.sdk.mcp.utils")
LOG_IN = "openhands.sdk.llm.auth.openai"

NAMES = {
    "openhands.sdk": ("openhands.sdk.mcp", "openhands.sdk.plugin"),
    "openhands.sdk.agent.agent": MCP,
    "openhands.sdk.agent.base": MCP,
    "openhands.sdk.conversation.impl.local_conversation": (ACP, LOG_IN, *MCP),
    "openhands.sdk.llm": ("openhands.sdk.llm.auth",),
    "openhands.sdk.llm.llm": (LOG_IN,),
    "openhands.sdk.mcp.config": ("fastmcp.mcp_config",),
    "openhands.sdk.mcp.definition": ("mcp.types",),
    "openhands.sdk.skills.utils": ("fastmcp.mcp_config",),
    "openhands.sdk.tool.builtins.classify_and_switch_llm": (LOG_IN,),
    "openhands.tools.terminal.impl": ("libtmux",),
    "openhands.tools.terminal.terminal.tmux_pane_pool": ("libtmux",),
    "openhands.tools.terminal.terminal.tmux_terminal": ("libtmux",),
    "litellm": ("litellm.router",),
    "litellm.litellm_core_utils.litellm_logging": ("litellm.integrations",),
    "openai": ("openai.lib.streaming",),
}
"""Maps a module to those whose names it needs only after it was imported."""

EXPORTS = (
    *("openhands.sdk", "openhands.sdk.llm", "openhands.sdk.llm.auth", "openhands.sdk.mcp"),
    *("openhands.sdk.plugin", "openhands.tools.terminal", "openhands.tools.terminal.terminal"),
)
"""Packages that are asked for a few of the names that they re-export."""
EXPORTS_BELOW = ("openai.types.", "openai.resources.")
"""And all packages here."""

UNNEEDED = (
    *("acp", "authlib", "fastmcp", "joserfc", "key_value", "libtmux", "mcp"),
    *("litellm.router", "litellm.litellm_core_utils.default_encoding"),
    *("openai.types.evals", "openai.resources.admin"),
)
"""Modules that a turn without an MCP server does not load."""


def _exports(name: str) -> bool:
    return name in EXPORTS or f"{name}.".startswith(EXPORTS_BELOW)


def install() -> None:
    """Install the import hook, before the SDK is imported. Safe to call twice."""
    if any(isinstance(each, Finder) for each in sys.meta_path):
        return
    sys.meta_path.insert(0, Finder(NAMES, _exports))
    from pydantic._internal import _config

    _config.config_defaults["defer_build"] = True
