"""Whether a kind of sandbox can be made on this machine, by making the smallest one there is."""

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
    words = (*bwrap.SEALED, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--")
    code, said = _ran([program, *words, "true"])
    if code:
        raise SandboxError(bwrap.unmade(said))
    return f"{_ran([program, '--version'])[1]} works"


def _container(wish: Wish) -> str:
    program = engine.find(wish.engine, [])
    code, said = _ran([*program, "--version"])
    if code:
        raise SandboxError(f"{' '.join(program)} does not run: {said}")
    name = wish.image or image.NAME
    found = engine.contents(program, name)
    if found is None:
        return f"{said} found; no image {name} yet: {image.MAKE}"
    agents = f" has {', '.join(found.agents)}" if found.agents else ""
    return f"{said} found; image {name}{agents}"


TRIALS: Mapping[str, Callable[[Wish], str]] = {BWRAP: _bwrap, CONTAINER: _container}
"""By the kind: what there is, in a few words. Raises SandboxError."""


def _ran(command: list[str]) -> tuple[int, str]:
    """How it ended, and the last line that it said."""
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
