"""On whose behalf a process writes to sessions: the daemon does so for its devices."""

import asyncio
import os
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any

SENDER: ContextVar[str] = ContextVar("sender", default="")
"""The device and the person whose request is being answered, as the `by` of events names them. No
request sets it, only who has recognised its sender."""


def client_name(face: str) -> str:
    """Return the name by which a client introduces itself to a worker."""
    sender = SENDER.get()
    if not sender:
        return f"{face}:{os.getpid()}"
    return f"{'web' if face == 'cli' else face}:{sender}"


def by() -> str | None:
    """Return the author of what is written without a worker; None: this process writes for
    itself."""
    return client_name("cli") if SENDER.get() else None


def run[Result](work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in an event loop of its own, since the caller may be in one, and on the same
    sender's behalf."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(copy_context().run, asyncio.run, work).result()
