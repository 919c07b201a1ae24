"""Tests whether a kind of sandbox can be made on this machine, by making the smallest one
there is."""

import os
import subprocess
from collections.abc import Callable, Mapping

from rookery.agents import image
from rookery.core.settings.sandbox import BWRAP, CONTAINER
from rookery.processes import LINUX
from rookery.sandbox import bwrap, engine
from rookery.sandbox.plan import SandboxError, Wish

SECONDS = 30.0


def _bwrap(_wish: Wish) -> str:
    if not LINUX:
        raise SandboxError(bwrap.ELSEWHERE)
    program = bwrap.find([])
    args = (*bwrap.SEALED, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--")
    code, output = _ran([program, *args, "true"])
    if code:
        raise SandboxError(bwrap.unmade(output))
    return f"{_ran([program, '--version'])[1]} works"


def _container(wish: Wish) -> str:
    program = engine.find(wish.engine, [])
    code, output = _ran([*program, "--version"])
    if code:
        raise SandboxError(f"{' '.join(program)} does not run: {output}")
    name = wish.image or image.NAME
    contents = engine.contents(program, name)
    if contents is None:
        return f"{output} found; no image {name} yet: {image.MAKE}"
    agents = f" has {', '.join(contents.agents)}" if contents.agents else ""
    return f"{output} found; image {name}{agents}"


TRIALS: Mapping[str, Callable[[Wish], str]] = {BWRAP: _bwrap, CONTAINER: _container}
"""The trial of each kind: it returns what is available, in a few words. Raises SandboxError."""


def _ran(command: list[str]) -> tuple[int, str]:
    """Run a command; return its exit status and the last line of its output."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return done.returncode, lines[-1] if lines else f"status {done.returncode}"
