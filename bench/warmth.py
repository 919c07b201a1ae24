"""A warm process for the time of a measurement: awaited before it, ended after it."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bench.agents import Stage
from rookery.client import warm_agent

PATIENCE = 120.0


@contextmanager
def warm(made: Stage) -> Iterator[int]:
    """Its pid. Started as a door would, in the environment of the doors to come."""
    environment = made.environment()
    code = (
        "from rookery.home import paths; from rookery.client import warm_agent as warmth;"
        "warmth.start(paths.home(), 0); print(warmth.socket_path(paths.home()))"
    )
    argv = (warm_agent.argv()[0], "-P", "-c", code)
    ran = subprocess.run(argv, env=environment, check=True, capture_output=True, text=True)
    path = ran.stdout.strip()
    deadline = time.monotonic() + PATIENCE
    while not os.path.exists(path):
        if time.monotonic() > deadline:
            with open(f"{path}.log", encoding="utf-8") as log:
                raise TimeoutError(f"no warm process came up: {log.read()[-2000:]}")
        time.sleep(0.05)
    pid = _holder(f"{path}.lock")
    try:
        yield pid
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def _holder(lock: str) -> int:
    """Who wrote its pid into the lock that it holds."""
    with open(lock, encoding="ascii") as file:
        return int(file.read())
