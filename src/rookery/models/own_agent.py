"""Whether Rookery's own agent can start from this installation: tested by importing what it
imports, in a process of its own."""

import functools
import os
import subprocess
import sys

from rookery.agents import registry
from rookery.core.json import lenient
from rookery.installation.commands import install_line, repair_line
from rookery.installation.distribution import running
from rookery.installation.requirements import misfits

WITHIN = 180.0
"""Seconds for the import, also on a busy machine; elsewhere it takes three."""


def is_missing() -> bool:
    """Tell whether the agent's extra was never installed."""
    return bool(registry.lacks_module(registry.resolve(registry.OWN, {})))


def misfit() -> str:
    """Return which of its requirements are not met, and the command that fixes it; "" if all
    are."""
    problems = misfits(registry.OWN_EXTRA)
    line = install_line(running(), [registry.OWN_EXTRA]) if problems else ""
    return f"{'; '.join(problems)}. To fix it: {line}" if problems else ""


@functools.cache  # of this process's own environment
def fault() -> str:
    """Return why it cannot start, and the command that fixes it; "" if it can."""
    if problem := misfit():
        return problem
    if error := _import_error():
        line = repair_line(running(), registry.OWN_EXTRA)
        return f"it cannot start: {error}. To fix it: {line}"
    return ""


def _import_error() -> str:
    """The last line of the import's traceback; "" if it worked."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    path = os.environ.get("PYTHONPATH")
    command = [sys.executable, "-P", "-m", "rookery.agent.trial"]
    try:
        run = subprocess.run(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WITHIN,
            check=False,
            env=environment | ({"PYTHONPATH": path} if path else {}),
        )
    except subprocess.TimeoutExpired:
        return f"its import takes more than {WITHIN:.0f} s"
    except OSError as error:
        return f"{sys.executable}: {error.strerror}"
    if run.returncode == 0:
        return ""
    lines = run.stderr.decode("utf-8", "replace").strip().splitlines()
    return lenient.first_line(lines[-1] if lines else f"status {run.returncode}", 300).rstrip(".")
