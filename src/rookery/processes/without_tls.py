"""asyncio without TLS, for processes that use only pipes and Unix sockets: the TLS library takes
1.3 MB of each, and every session has two of them."""

import sys


def load_asyncio() -> None:
    """Load asyncio without `ssl`, whose absence it copes with. To be called before anything else
    imports it."""
    if "asyncio" in sys.modules or "ssl" in sys.modules:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment] # as good as not installed
    try:
        import asyncio  # noqa: F401 # for the others
    finally:
        del sys.modules["ssl"]
