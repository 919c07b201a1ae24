"""Google's Gemini CLI, which speaks ACP itself."""

import json
from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    directory = home / ".gemini"
    directory.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    }
    (directory / "settings.json").write_text(json.dumps(settings, indent=1))
    return {
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "scripted",
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


VENDOR = Vendor(
    "gemini",
    _surroundings,
    run=lambda command: call("run_shell_command", command=command, description="Scripted"),
    edit=lambda path, before, after: [
        call("replace", file_path=path, instruction="x", old_string=before, new_string=after)
    ],
    npm=("@google/gemini-cli@0.61.0",),
    programs=("gemini",),
    limited="cancelled",
    insists=True,
    forgets=True,
    faults={"command": "it sends neither a command's output nor its exit code."},
)
