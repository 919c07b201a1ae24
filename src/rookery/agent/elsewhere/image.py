"""The image of containers that agent servers run in, and how it is made from the PyPI package."""

import importlib.metadata
import shlex
import subprocess

from rookery.agent.process.place import IMAGE

PACKAGE = "openhands-agent-server"
MAKE = "rookery agents image"
SECONDS = 30.0
MISSING = ("not known", "No such image", "no such image", "no such object", "No such object")
"""What podman and docker say about an image that they do not have."""

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


def fault(engine: list[str], name: str) -> str:
    """Why no container can be made of an image; "": one can. Blocks. Raises OSError."""
    line = [*engine, "image", "inspect", "--format={{.Id}}", name]
    try:
        done = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{engine[0]} does not respond. Try it yourself: {shlex.join(line)}"
    said = done.stderr.decode("utf-8", "replace").strip()
    if not done.returncode:
        return ""
    if not said or any(words in said for words in MISSING):
        return missing(name)
    return f"{engine[0]} does not work here: {said.splitlines()[-1][:300]}"


def missing(name: str) -> str:
    """What to say about an image that is not here."""
    how = f"Make it: {MAKE}" if name == usual() else "Make or fetch it, or leave --image out"
    return f"The image {name} is not on this machine. {how}"
