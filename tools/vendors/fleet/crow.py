"""Crow, whose tools all come from MCP servers that its client hands it."""

from pathlib import Path

from tools.vendors.vendor import NEVER_ASKS, Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    directory = home / ".agents" / "crow"
    directory.mkdir(parents=True, exist_ok=True)
    lines = [
        "providers:",
        "  scripted:",
        f"    base_url: {url}/v1",
        "    api_key: sk-scripted",
        "models:",
        "  scripted:",
        "    provider: scripted",
        "    model: scripted",
        'redis_url: ""',
    ]
    (directory / "config.yaml").write_text("\n".join(lines) + "\n")
    return {}


VENDOR = Vendor(
    "crow",
    _surroundings,
    # In a shell below: the one that it keeps would end with the command's own `exit`.
    run=lambda command: call("terminal", command=f"({command})"),
    edit=lambda path, before, after: [
        call("edit", file_path=path, old_string=before, new_string=after)
    ],
    pypi=("crow-cli==0.1.48",),
    python="3.13",
    programs=("crow-cli",),
    faults={
        "approve": NEVER_ASKS,
        "reject": NEVER_ASKS,
        "command": "it reports exit code 0 for every command.",
    },
)
