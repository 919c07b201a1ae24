"""Pi behind its adapter, which starts `pi --mode rpc`."""

import json
from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    directory = home / ".pi" / "agent"
    directory.mkdir(parents=True, exist_ok=True)
    sizes = {"contextWindow": 128000, "maxTokens": 4096, "reasoning": True}
    names = ("scripted", "another")
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "sk-scripted"}
    models = {
        "providers": {"scripted": provider | {"models": [{"id": name, **sizes} for name in names]}}
    }
    (directory / "models.json").write_text(json.dumps(models, indent=1))
    settings = {"defaultProvider": "scripted", "defaultModel": "scripted", "quietStartup": True}
    (directory / "settings.json").write_text(json.dumps(settings, indent=1))
    return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}


VENDOR = Vendor(
    "pi",
    _surroundings,
    run=lambda command: call("bash", command=command),
    edit=lambda path, before, after: [
        call("edit", path=path, edits=[{"oldText": before, "newText": after}])
    ],
    # Pi itself wants Node 22, the machine may have 20.
    npm=("pi-acp@0.0.34", "@earendil-works/pi-coding-agent@0.87.1", "node@24.21.0"),
    programs=("node", "pi"),
    faults={
        "approve": "it never asks for permission.",
        "reject": "it never asks for permission.",
        "command": "its adapter reports every non-zero exit code as 1.",
        "mcp": "its adapter accepts MCP servers but starts none.",
        "refuse": "if its model fails, the turn still ends as `end_turn`.",
    },
    limited="end_turn",
)
