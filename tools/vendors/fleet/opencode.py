"""OpenCode, which speaks ACP itself."""

import json
from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
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


EMPTY = "killed in an answer, it goes on with an empty message, which strict models refuse."

VENDOR = Vendor(
    "opencode",
    _surroundings,
    run=lambda command: call("bash", command=command, description="Scripted"),
    edit=lambda path, before, after: [
        call("read", filePath=path),
        call("edit", filePath=path, oldString=before, newString=after),
    ],
    npm=("opencode-ai@1.18.33",),
    programs=("opencode",),
    limited="end_turn",
    insists=True,
    faults={"kill_agent": EMPTY, "kill_worker": EMPTY},
)
