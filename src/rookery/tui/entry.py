"""Runs the screen, then prints which sessions are still running."""

import sys

from rookery.tui.app import Rookery
from rookery.tui.shell import Start


def run(start: Start) -> int:
    """Run the app; return the exit code."""
    app = Rookery(start)
    app.sweeping.begin()
    farewell = app.run()
    if farewell:
        sys.stdout.write(f"{farewell}\n")
    return app.return_code or 0
