"""The OpenHands CLI, measured beside ours: fetched once from PyPI into a cache outside the tree.

It needs Python 3.12. Its settings are written by its own code, so that they are what it reads.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.figures import progress

VERSION = "1.16.0"
CACHE = Path.home() / ".cache" / "rookery-peers"
PLACE = CACHE / f"openhands-{VERSION}"
ROOT = Path(__file__).resolve().parents[1]

SETTINGS = """
import sys
from pydantic import SecretStr
from openhands.sdk import LLM
from openhands_cli.stores.agent_store import AgentStore
from openhands_cli.utils import get_default_cli_agent
llm = LLM(model=sys.argv[1], base_url=sys.argv[2], api_key=SecretStr("none"), usage_id="agent")
AgentStore().save(get_default_cli_agent(llm))
"""


def program() -> str:
    """The peer's command, installed where it is not."""
    with locked():
        if not (PLACE / "bin" / "openhands").exists():
            progress(f"installing the peer, openhands {VERSION}")
            install(PLACE, f"openhands=={VERSION}", "3.12")
    return str(PLACE / "bin" / "openhands")


@contextmanager
def locked() -> Iterator[None]:
    """One installs at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install(place: Path, package: str, version: str) -> None:
    """A package in a place of its own, for a version of Python."""
    uv = str(ROOT / "scripts" / "uv")
    python = _python(uv, version)
    shutil.rmtree(place, ignore_errors=True)
    # Bytecode as ours has: else its start would be measured with the compiler's work in it.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    _run(uv, "venv", "--quiet", "--python", python, str(place), environment=environment)
    wanted = ("--compile-bytecode", "--python", str(place / "bin" / "python"), package)
    _run(uv, "pip", "install", "--quiet", *wanted, environment=environment)


def _python(uv: str, version: str) -> str:
    """One that is there: uv's own search does not see every one that a version manager has."""
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = shutil.which(f"python{version}")
    if pyenv:
        return str(pyenv[-1])
    if found:
        return found
    ran = subprocess.run((uv, "python", "find", version), check=False, capture_output=True)
    return ran.stdout.decode().strip() if not ran.returncode else version


def _run(*argv: str, environment: dict[str, str]) -> None:
    ran = subprocess.run(argv, check=False, capture_output=True, text=True, env=environment)
    if ran.returncode:
        raise RuntimeError(f"{' '.join(argv)} failed: {ran.stderr[-2000:]}")


def environment(home: str) -> dict[str, str]:
    """An empty home of its own; it asks no network for prices, as ours does not."""
    return {
        **os.environ,
        "HOME": home,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENHANDS_SUPPRESS_BANNER": "1",
    }


def set_up(home: str, base_url: str) -> None:
    """Its settings, as its own code writes them."""
    program()
    python = str(PLACE / "bin" / "python")
    argv = (python, "-c", SETTINGS, "openai/scripted", base_url)
    _run(*argv, environment=environment(home))
    written = Path(home) / ".openhands" / "agent_settings.json"
    json.loads(written.read_text())


if __name__ == "__main__":
    sys.stdout.write(program() + "\n")
