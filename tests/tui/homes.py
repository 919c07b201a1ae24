"""A home with something of everything set up, and programs that are there or not."""

import json
from pathlib import Path

import pytest

MODELS = {
    "version": 1,
    "default": "work",
    "profiles": {
        "work": {"model": "anthropic/claude-sonnet-5-5", "api_key": "sk-hidden", "timeout": 300},
        "local": {"model": "ollama_chat/qwen3"},
    },
    "condenser": {"enabled": True, "max_size": 80, "keep_first": 4},
}

SERVERS = {
    "mcpServers": {
        "files": {
            "command": "npx",
            "args": ["-y", "server-filesystem", "~/notes"],
            "env": {"TOKEN": "very-secret", "KEY": "${MY_KEY}"},
        },
        "docs": {"url": "https://example.com/mcp", "enabled": False},
        "odd": {"args": []},
    }
}

CONFIG = """\
# mine
[worker]
cancel_grace = 5  # short

[[policy.rules]]
do = "allow"
command = "git status*"

[[policy.rules]]
name = "no-net"
do = "deny"
kind = "fetch"
reason = "not from here"
"""


def furnish(place: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The home's path; on PATH there is one agent of a vendor's."""
    home, programs = place / "home", place / "bin"
    home.mkdir()
    programs.mkdir()
    (home / "agent_settings.json").write_text(json.dumps(MODELS))
    (home / "mcp.json").write_text(json.dumps(SERVERS))
    (home / "config.toml").write_text(CONFIG)
    agent = programs / "claude-agent-acp"
    agent.write_text("#!/bin/sh\n")
    agent.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("HOME", str(place))
    for name in ("ROOKERY_NODE", "LLM_MODEL", "ROOKERY_OVERRIDE_WITH_ENVS"):
        monkeypatch.delenv(name, raising=False)
    return str(home)
