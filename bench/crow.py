"""Crow as an ACP agent, measured beside ours: fetched once from PyPI into the peers' cache."""

import os
from pathlib import Path

from bench import peer
from bench.figures import progress

VERSION = "0.1.48"
PLACE = peer.CACHE / f"crow-{VERSION}"
CONFIG = """\
providers:
  scripted:
    base_url: {url}
    api_key: none
models:
  scripted:
    provider: scripted
    model: scripted
redis_url: ""
"""


def program() -> str:
    """Its command, installed where it is not."""
    with peer.locked():
        if not (PLACE / "bin" / "crow-cli").exists():
            progress(f"installing Crow {VERSION}")
            peer.install(PLACE, f"crow-cli=={VERSION}", "3.13")
    return str(PLACE / "bin" / "crow-cli")


def set_up(home: str, url: str) -> None:
    place = Path(home, ".agents", "crow")
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.yaml").write_text(CONFIG.format(url=url), encoding="utf-8")


def environment(home: str) -> dict[str, str]:
    return {**os.environ, "HOME": home}


def servers() -> list[dict[str, object]]:
    """All its tools come from a server of its own, which a client hands it."""
    return [{"name": "crow-mcp", "command": program(), "args": ["mcp"], "env": []}]
