"""The vendors' agents that are driven: what to install, and how each is brought to a scripted model
and made to ask. What a person does instead of the latter is in docs/vendors.md."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rookery import registry

type Environment = dict[str, str]


class Vendor(NamedTuple):
    name: str
    """As in Rookery's registry."""
    packages: tuple[str, ...]
    programs: tuple[str, ...]
    """That must run once it is installed."""
    rejected: str = "end_turn"
    """How a turn ends whose tool call was rejected."""
    limited: str = "rate_limited"
    """How a turn ends whose model is over its limit."""
    insists: bool = False
    """Then it does not end by itself: it tries again, silently, until it is cancelled."""
    asking: str = ""
    """The mode in which it asks, where that is not the one it begins in."""

    @property
    def version(self) -> str:
        return self.packages[0].rpartition("@")[2]

    @property
    def argv(self) -> list[str]:
        return registry.resolve(self.name, {}).argv


_ALL = (
    # The adapter wants Node 22, the machine may have 20.
    Vendor(
        "claude",
        ("@agentclientprotocol/claude-agent-acp@0.99.0", "node@24.21.0"),
        ("node", "claude-agent-acp"),
    ),
    Vendor(
        "codex",
        ("@agentclientprotocol/codex-acp@2.6.0",),
        ("codex-acp", "codex"),
        rejected="cancelled",
        limited="end_turn",
        asking="read-only",
    ),
    Vendor("opencode", ("opencode-ai@1.18.33",), ("opencode",), limited="end_turn", insists=True),
)

VENDORS = {vendor.name: vendor for vendor in _ALL}


class UnknownVendor(Exception):
    """A name that is none of ours."""


def chosen(names: Sequence[str] = ()) -> list[Vendor]:
    """Those named, else those that ROOKERY_VENDORS names, else all. Raises UnknownVendor."""
    wanted = names or os.environ.get("ROOKERY_VENDORS", "").replace(",", " ").split()
    unknown = [name for name in wanted if name not in VENDORS]
    if unknown:
        raise UnknownVendor(f"not known: {', '.join(unknown)}; there are {', '.join(VENDORS)}")
    return [VENDORS[name] for name in wanted or VENDORS]


def surroundings(vendor: Vendor, programs: Path, home: Path, url: str) -> Environment:
    """An environment in which the agent starts as on a fresh machine and finds the model at `url`.

    Nothing of the caller's gets in: no key, no proxy, no settings.
    """
    places = [str(programs), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    base = {
        "HOME": str(home),
        "PATH": os.pathsep.join(places),
        "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
        "TERM": "dumb",
        "USER": "tester",
    }
    home.mkdir(parents=True, exist_ok=True)
    return base | {"claude": _claude, "codex": _codex, "opencode": _opencode}[vendor.name](
        home, url
    )


def _claude(_home: Path, url: str) -> Environment:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def _codex(home: Path, url: str) -> Environment:
    directory = home / ".codex"
    directory.mkdir(exist_ok=True)
    lines = [
        'model = "scripted"',
        'model_provider = "scripted"',
        "[model_providers.scripted]",
        'name = "Scripted"',
        f'base_url = "{url}/v1"',
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        "request_max_retries = 0",
        "stream_max_retries = 0",
        "supports_websockets = false",
    ]
    (directory / "config.toml").write_text("\n".join(lines) + "\n")
    return {"SCRIPTED_KEY": "sk-scripted"}


def _opencode(home: Path, url: str) -> Environment:
    directory = home / ".config" / "opencode"
    directory.mkdir(parents=True, exist_ok=True)
    settings = {
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "share": "disabled",
        "autoupdate": False,
        "permission": {"edit": "ask", "bash": "ask"},
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted",
                "options": {"baseURL": f"{url}/v1", "apiKey": "sk-scripted"},
                "models": {
                    "scripted": {"name": "Scripted", "limit": {"context": 128000, "output": 4096}}
                },
            }
        },
    }
    (directory / "opencode.json").write_text(json.dumps(settings, indent=1))
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
