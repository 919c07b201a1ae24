"""OpenAI's Codex behind its adapter."""

from pathlib import Path

from rookery.agent.scripted.script import Call
from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
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


def _shell(command: str) -> Call:
    """Only what wants to leave the sandbox is asked about."""
    outside = {"sandbox_permissions": "require_escalated", "justification": "Scripted"}
    return call("exec_command", cmd=command, **outside)


def _edit(path: str, before: str, after: str) -> list[Call]:
    lines = ["*** Begin Patch", f"*** Update File: {path}", "@@"]
    lines += [f"-{line}" for line in before.splitlines()]
    lines += [f"+{line}" for line in after.splitlines()]
    patch = "\n".join([*lines, "*** End Patch"])
    return [call("exec_command", cmd=f"apply_patch <<'EOF'\n{patch}\nEOF\n")]


VENDOR = Vendor(
    "codex",
    _surroundings,
    run=_shell,
    edit=_edit,
    npm=("@agentclientprotocol/codex-acp@2.6.0",),
    programs=("codex-acp", "codex"),
    rejected="cancelled",
    limited="end_turn",
)
