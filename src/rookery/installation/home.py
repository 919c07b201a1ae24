"""The location of Rookery's home."""

import os


def home() -> str:
    """Return the path of Rookery's home, $ROOKERY_HOME or ~/.rookery, absolute; nothing is
    created."""
    return os.path.abspath(os.path.expanduser(os.environ.get("ROOKERY_HOME") or "~/.rookery"))
