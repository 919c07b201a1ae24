"""Rookery's own agent, for comparison."""

import json
from pathlib import Path

from tools.vendors.fleet.openhands import WANTED
from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    """Its model is saved in Rookery's own home, which lies beside that of the user."""
    profile = {"model": "openai/scripted", "api_key": "sk-scripted", "base_url": f"{url}/v1"}
    saved = {
        "version": 1,
        "default": "scripted",
        "profiles": {"scripted": profile | {"num_retries": 0}},
    }
    (home.parent / "home" / "agent_settings.json").write_text(json.dumps(saved))
    return {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # else it asks the network for prices first


VENDOR = Vendor(
    "rookery",
    _surroundings,
    # In a shell below: the one that it keeps would end with the command's own `exit`.
    run=lambda command: call("terminal", command=f"({command})", **WANTED),
    edit=lambda path, before, after: [
        call(
            "file_editor", command="str_replace", path=path, old_str=before, new_str=after, **WANTED
        )
    ],
    wanted=WANTED,
)
