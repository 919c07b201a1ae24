"""Imports the OpenHands SDK, which takes seconds: once, in a thread, while the client's first
requests are answered."""

import asyncio
import gc
import importlib
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rookery.home import paths

ENVIRONMENT = {
    # litellm otherwise fetches a price list at import, and can fail there without a network.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENHANDS_SUPPRESS_BANNER": "1",
    # It otherwise loads the first .env above its own package.
    "LITELLM_MODE": "PRODUCTION",
    "PYTHON_DOTENV_DISABLED": "1",
    # The MCP client otherwise reads the .env of the working directory.
    "FASTMCP_ENV_FILE": os.devnull,
    # litellm otherwise searches every prompt for pictures, to shorten them in logs of no one's.
    "MAX_BASE64_LENGTH_FOR_LOGGING": "0",
}
PREFERENCES = {"LOG_LEVEL": "ERROR", "LOG_RICH_TRACEBACKS": "false", "LITELLM_LOG": "ERROR"}
"""Unless set otherwise: stderr is for the user."""


@contextmanager
def surroundings() -> Iterator[None]:
    """Set the environment for the import, which the agent's commands do not see."""
    variables = {**PREFERENCES, **os.environ, **ENVIRONMENT}
    before = {name: os.environ.get(name) for name in (*ENVIRONMENT, *PREFERENCES)}
    os.environ.update({name: variables[name] for name in before})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


FIRST_ANSWER = (
    *("openai.resources.chat.completions", "openai.resources.responses"),
    *("openai.lib.streaming.chat", "openai.types.chat", "jiter", "anyio._backends._asyncio"),
    *("litellm._service_logger", "litellm.litellm_core_utils.streaming_chunk_builder_utils"),
    *("litellm.llms.openai.chat.gpt_audio_transformation",),
    *("litellm.proxy.openai_files_endpoints.common_utils",),
    *("litellm.responses.mcp.chat_completions_handler",),
)
"""Modules that the libraries import at a model's first answer, on the loop's thread, for seconds.
Found by comparing sys.modules before and after a first turn; a missing one does no harm."""


_rest = threading.Lock()
_rest_loaded = threading.Event()


def load_rest() -> None:
    """Import the modules of a first answer. Blocks; safe to call twice."""
    with _rest:
        if not _rest_loaded.is_set():
            with _out_of_the_collectors_way():
                for name in FIRST_ANSWER:
                    with suppress(ImportError):
                        importlib.import_module(name)
            _rest_loaded.set()


@contextmanager
def _out_of_the_collectors_way() -> Iterator[None]:
    """Exempt what is imported from garbage collection: modules stay, and scanning them at every
    full collection held the loop for half a second."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()


def load() -> None:
    """Import what a first turn needs. Takes seconds."""
    # Its files belong in the home, not in ~/.openhands.
    os.environ.setdefault("OH_PERSISTENCE_DIR", os.path.join(paths.home(), "sdk"))
    # At every answer of a model without a known price.
    warnings.filterwarnings("ignore", message="Cost calculation failed")
    importlib.import_module("rookery.agent.sdk_patches.imports").install()
    with surroundings(), _out_of_the_collectors_way():
        for part in ("session.session", "session.turn", "session.slash_commands"):
            importlib.import_module(f"rookery.agent.{part}")


class Sdk:
    """The import of the SDK, as something to wait for."""

    def __init__(self) -> None:
        self._loaded: asyncio.Future[None] | None = None

    def begin(self) -> None:
        if self._loaded is None:
            self._loaded = asyncio.get_running_loop().run_in_executor(None, load)

    async def ready(self) -> None:
        """Wait until the SDK is imported. Raises what the import raised."""
        self.begin()
        assert self._loaded is not None
        await asyncio.shield(self._loaded)
