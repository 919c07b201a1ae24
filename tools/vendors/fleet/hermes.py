"""Nous Research's Hermes, whose package brings an adapter."""

from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(home: Path, url: str) -> Environment:
    directory = home / ".hermes"
    directory.mkdir(exist_ok=True)
    lines = [
        "model:",
        "  default: scripted",
        "  provider: custom",
        f"  base_url: {url}/v1",
        "  api_key: sk-scripted",
        "  context_length: 128000",
        "approvals:",
        "  mode: manual",  # else a model decides
    ]
    (directory / "config.yaml").write_text("\n".join(lines) + "\n")
    return {}


VENDOR = Vendor(
    "hermes",
    _surroundings,
    # It asks about what looks dangerous to it alone.
    run=lambda command: call("terminal", command=f"{command} # rm -r"),
    edit=lambda path, before, after: [
        call("read_file", path=path),
        call("patch", mode="replace", path=path, old_string=before, new_string=after),
    ],
    pypi=("hermes-agent[acp,mcp]==0.19.0",),
    python="3.13",
    programs=("hermes-acp",),
    limited="end_turn",
    faults={"refuse": "it reports a refused key as an ordinary answer and ends the turn normally."},
)
