"""Where Rookery keeps its files."""

import os


def home() -> str:
    """$ROOKERY_HOME or ~/.rookery, absolute; nothing is created."""
    return os.path.abspath(os.path.expanduser(os.environ.get("ROOKERY_HOME") or "~/.rookery"))
