"""Mistral's Vibe, which speaks ACP itself."""

from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    directory = home / ".vibe"
    directory.mkdir(exist_ok=True)
    lines = [
        'active_model = "scripted"',
        "enable_telemetry = false",
        "enable_update_checks = false",
        "enable_auto_update = false",
        "[[providers]]",
        'name = "scripted"',
        f'api_base = "{url}/v1"',
        'api_key_env_var = "SCRIPTED_KEY"',
        'api_style = "openai"',
        'backend = "generic"',
        "[[models]]",
        'name = "scripted"',
        'provider = "scripted"',
        'alias = "scripted"',
    ]
    (directory / "config.toml").write_text("\n".join(lines) + "\n")
    return {"SCRIPTED_KEY": "sk-scripted"}


VENDOR = Vendor(
    "vibe",
    _surroundings,
    run=lambda command: call("bash", command=command),
    edit=lambda path, before, after: [
        call("read_file", path=path),
        call("edit", file_path=path, old_string=before, new_string=after),
    ],
    pypi=("mistral-vibe==3.0.2",),
    programs=("vibe-acp",),
    limited="cancelled",
    insists=True,
    faults={
        "command": "it reports no exit codes.",
        "mcp": "only its `run_typescript` tool can call a server's tools; its model cannot.",
        "refuse": "once its key is refused, every prompt fails until it is restarted.",
    },
)
