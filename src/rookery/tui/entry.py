"""Runs the screen, then prints what is still running."""

import sys

from rookery.tui.app import Rookery
from rookery.tui.shell import Start


def run(start: Start) -> int:
    """The exit code."""
    app = Rookery(start)
    app.sweeping.begin()
    words = app.run()
    if words:
        sys.stdout.write(f"{words}\n")
    return app.return_code or 0
