"""Foreign packages that only tests need: fetched once into a cache outside the tree, never kept in
the repository and never among our requirements."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.npm import NoNpm, npm

CACHE = Path.home() / ".cache" / "rookery-schema"
SDK = "@agentclientprotocol/sdk@2.4.0"
ACPX = "acpx@0.19.1"
PYTHON_SDK = "agent-client-protocol==0.12.1"
NETWORK_SDK = "agent-client-protocol[http]==1.0.0rc3"
WS = "ws@8.18.0"
TOAD = "batrachian-toad==0.6.20"


def node_modules(*packages: str) -> Path:
    """The directory that npm installed these packages (name@version) into."""
    name = "+".join(packages).replace("/", "-").replace("@", "-").strip("-")
    place = CACHE / name
    with _alone(name):
        if not place.exists():
            fresh = tempfile.mkdtemp(prefix=".fresh-", dir=CACHE)
            quiet = ("--no-audit", "--no-fund", "--loglevel=error")
            try:
                program, environment = npm()
            except NoNpm as error:
                pytest.fail(str(error))
            command = (program, "install", *quiet, "--prefix", fresh, *packages)
            _run(*command, environment=environment)
            os.rename(fresh, place)
    return place / "node_modules"


def python_with(package: str, *options: str) -> Path:
    """The interpreter of an environment that has a package (name==version); `options` of pip."""
    place = CACHE / f"python-{package.replace('==', '-')}"
    python, ready = place / "bin" / "python", place / ".ready"
    with _alone(place.name):
        if not ready.exists():
            _run(sys.executable, "-m", "venv", "--clear", str(place))
            _run(str(python), "-m", "pip", "install", "--quiet", *options, package)
            ready.touch()
    return python


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Several test processes may want the same package at once."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f".{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(*argv: str, environment: dict[str, str] | None = None) -> None:
    ran = subprocess.run(argv, check=False, capture_output=True, text=True, env=environment)
    if ran.returncode:
        pytest.fail(f"{' '.join(argv)} failed: {ran.stderr[-2000:]}")
