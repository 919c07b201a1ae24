"""The image of containers that agent servers run in, and how it is made from the PyPI package."""

import importlib.metadata
import subprocess

from rookery.agent.process.place import IMAGE

PACKAGE = "openhands-agent-server"
MAKE = "rookery agents image"
SECONDS = 30.0

CONTAINERFILE = """\
FROM docker.io/library/python:3.13-slim
RUN apt-get update \\
 && apt-get install --yes --no-install-recommends build-essential curl git procps ripgrep tmux \\
 && rm -rf /var/lib/apt/lists/*
RUN pip install --no-cache-dir {package}=={version}
"""
"""A line for each of an agent's needs: tmux is its terminal's, git the project's."""


def version() -> str:
    """The server's, which is that of the SDK on this side. Raises PackageNotFoundError."""
    return importlib.metadata.version("openhands-sdk")


def usual() -> str:
    return f"{IMAGE}:{version()}"


def containerfile() -> str:
    return CONTAINERFILE.format(package=PACKAGE, version=version())


def build_line(engine: list[str]) -> list[str]:
    """What makes the usual image of a Containerfile on stdin."""
    return [*engine, "build", "--tag", usual(), "-"]


def exists(engine: list[str], name: str) -> bool:
    """Blocks. Raises OSError and TimeoutExpired."""
    line = [*engine, "image", "inspect", "--format={{.Id}}", name]
    done = subprocess.run(
        line, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
    )
    return done.returncode == 0


def missing(name: str) -> str:
    """What to say about an image that is not here."""
    how = f"Make it: {MAKE}" if name == usual() else "Make or fetch it, or leave --image out"
    return f"The image {name} is not on this machine. {how}"
