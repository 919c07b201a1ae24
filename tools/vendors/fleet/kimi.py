"""Moonshot's Kimi Code, which speaks ACP itself."""

from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(_home: Path, url: str) -> Environment:
    return {
        "KIMI_MODEL_NAME": "scripted",
        "KIMI_MODEL_API_KEY": "sk-scripted",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_MODEL_BASE_URL": f"{url}/v1",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
    }


VENDOR = Vendor(
    "kimi",
    _surroundings,
    run=lambda command: call("Bash", command=command),
    edit=lambda path, before, after: [
        call("Read", path=path),
        call("Edit", path=path, old_string=before, new_string=after),
    ],
    # It wants Node 22, the machine may have 20.
    npm=("@moonshot-ai/kimi-code@2.1.0", "node@24.21.0"),
    programs=("node", "kimi"),
    limited="cancelled",
    insists=True,
)
