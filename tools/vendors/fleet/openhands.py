"""OpenHands' own program."""

import json
from pathlib import Path

from rookery.agent.scripted.script import Call
from tools.vendors.vendor import WHOLE, Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    directory = home / ".openhands"
    directory.mkdir(exist_ok=True)
    model = {
        "model": "openai/scripted",
        "api_key": "sk-scripted",
        "base_url": f"{url}/v1",
        "usage_id": "agent",
        "num_retries": 0,
    }
    settings = {"kind": "Agent", "llm": model}
    (directory / "agent_settings.json").write_text(json.dumps(settings, indent=1))
    return {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # else it asks the network for prices first


WANTED = {"security_risk": "LOW", "summary": "Scripted"}


def _edit(path: str, before: str, after: str) -> list[Call]:
    change = {"command": "str_replace", "path": path, "old_str": before, "new_str": after}
    return [call("file_editor", **change, **WANTED)]


VENDOR = Vendor(
    "openhands",
    _surroundings,
    # In a shell below: the one that it keeps would end with the command's own `exit`.
    run=lambda command: call("terminal", command=f"({command})", **WANTED),
    edit=_edit,
    wanted=WANTED,
    pypi=("openhands==1.16.0",),
    programs=("openhands",),
    whole=True,
    faults={
        "stream": WHOLE,
        "mcp": "a reopened session has no tools from MCP servers.",
        "cancel": "it ignores a cancel while waiting for its model, so Rookery ends it.",
    },
)
