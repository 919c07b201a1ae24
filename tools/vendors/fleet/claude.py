"""Anthropic's Claude Code behind its adapter."""

from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(_home: Path, url: str) -> Environment:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ENABLE_TOOL_SEARCH": "false",  # tools of servers are offered at once
    }


VENDOR = Vendor(
    "claude",
    _surroundings,
    run=lambda command: call("Bash", command=command, description="Scripted"),
    # It edits only what it has read.
    edit=lambda path, before, after: [
        call("Read", file_path=path),
        call("Edit", file_path=path, old_string=before, new_string=after),
    ],
    # The adapter wants Node 22, the machine may have 20.
    npm=("@agentclientprotocol/claude-agent-acp@0.100.0", "node@24.21.0"),
    programs=("node", "claude-agent-acp"),
)
