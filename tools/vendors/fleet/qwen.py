"""Qwen Code, which speaks ACP itself."""

import json
from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    directory = home / ".qwen"
    directory.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "telemetry": {"enabled": False},
        "tools": {"toolSearch": {"enabled": False}},  # those of servers are offered at once
    }
    (directory / "settings.json").write_text(json.dumps(settings, indent=1))
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "sk-scripted",
        "OPENAI_MODEL": "scripted",
    }


VENDOR = Vendor(
    "qwen",
    _surroundings,
    run=lambda command: call(
        "run_shell_command", command=command, description="Scripted", is_background=False
    ),
    edit=lambda path, before, after: [
        call("read_file", file_path=path),
        call("edit", file_path=path, old_string=before, new_string=after),
    ],
    # It wants Node 22, the machine may have 20.
    npm=("@qwen-code/qwen-code@0.24.4", "node@24.21.0"),
    programs=("node", "qwen"),
    limited="cancelled",
    insists=True,
    faults={"stop": "after many turns, a reopened session gives the model only the latest ones."},
)
