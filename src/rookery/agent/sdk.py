"""The OpenHands SDK costs seconds to import: it is imported once, in a thread, while the client's
first questions are answered already."""

import asyncio
import importlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rookery import paths

ENVIRONMENT = {
    # litellm otherwise fetches a price list at import, and can fail there without a network.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENHANDS_SUPPRESS_BANNER": "1",
}
PREFERENCES = {"LOG_LEVEL": "ERROR", "LOG_RICH_TRACEBACKS": "false", "LITELLM_LOG": "ERROR"}
"""Unless the person said otherwise: stderr is for what a person should read."""


@contextmanager
def surroundings() -> Iterator[None]:
    """What has to hold while it is imported; commands that the agent runs see none of it."""
    wanted = {**PREFERENCES, **os.environ, **ENVIRONMENT}
    before = {name: os.environ.get(name) for name in (*ENVIRONMENT, *PREFERENCES)}
    os.environ.update({name: wanted[name] for name in before})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def load() -> None:
    """Import all of it that a first turn needs. Takes seconds."""
    # Its own files belong into the home, too: else they would lie in ~/.openhands.
    os.environ.setdefault("OH_PERSISTENCE_DIR", os.path.join(paths.home(), "sdk"))
    # Of a model without a known price, at every answer.
    warnings.filterwarnings("ignore", message="Cost calculation failed")
    with surroundings():
        for part in ("session", "turn", "commands"):
            importlib.import_module(f"rookery.agent.{part}")


class Sdk:
    """The import, as something to wait for."""

    def __init__(self) -> None:
        self._loaded: asyncio.Future[None] | None = None

    def begin(self) -> None:
        if self._loaded is None:
            self._loaded = asyncio.get_running_loop().run_in_executor(None, load)

    async def ready(self) -> None:
        """Raises what the import raised."""
        self.begin()
        assert self._loaded is not None
        await asyncio.shield(self._loaded)
