"""Every number that a worker lives by, in one frozen value that is passed in.

The configuration file is clamped where it is read; nothing in `core` clamps, so that a test can use
small numbers.
"""

from typing import NamedTuple


class Policy(NamedTuple):
    """Seconds, unless the name says otherwise."""

    chunk_window: float = 0.030
    start_timeout: float = 30.0
    cold_start_timeout: float = 120.0
    """For commands that may have to install first (npx, uvx)."""
    cancel_grace: float = 10.0
    stop_grace: float = 2.0
    queue_drain: str = "combined"
    """`combined` joins queued prompts by blank lines; `serial` sends one at a time."""
    queue_most: int = 100
    queue_bytes: int = 256 * 1024
    terminal_keep: int = 4 * 1024 * 1024
    """Bytes of a terminal's output that are kept: head and tail, the middle is counted."""
    confirm_destructive: bool = True
