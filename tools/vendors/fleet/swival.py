"""Swival, a small agent for open models; its ACP has neither permissions nor stored sessions."""

from pathlib import Path

from tools.vendors.vendor import NEVER_ASKS, WHOLE, Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    directory = home / ".config" / "swival"
    directory.mkdir(parents=True, exist_ok=True)
    lines = [
        'provider = "generic"',
        'model = "scripted"',
        'api_key = "sk-scripted"',
        f'base_url = "{url}/v1"',
        "max_context_tokens = 128000",
        "retries = 1",
    ]
    (directory / "config.toml").write_text("\n".join(lines) + "\n")
    return {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # else it asks the network for prices first


VENDOR = Vendor(
    "swival",
    _surroundings,
    run=lambda command: call("run_shell_command", command=command),
    edit=lambda path, before, after: [
        call("read_file", file_path=path),
        call("edit_file", file_path=path, old_string=before, new_string=after),
    ],
    pypi=("swival==1.0.48",),
    python="3.13",
    programs=("swival",),
    whole=True,
    forgets=True,
    faults={
        "stream": WHOLE,
        "approve": NEVER_ASKS,
        "reject": NEVER_ASKS,
        "cancel": "it ignores a cancel while waiting for its model, so Rookery ends it.",
        "mcp": "it creates no session when given an MCP server.",
    },
)
