"""The player with what only tests and the bench need of it: README.md beside this file lists it.

python -P tests/rigs/player.py rookery.acp.player FILE|demo [--state DIR]
"""

import gc
import os
import sys


def player(*words: str) -> list[str]:
    """Its command, which names the player: so it is known as one of ours."""
    return [sys.executable, "-P", os.path.abspath(__file__), "rookery.acp.player", *words]


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    gc.disable()  # as the player does: a thousand of these are started in a run of the tests
    from rookery.processes import without_tls

    without_tls.load_asyncio()
    from rookery.acp.player.entry import main
    from tests.rigs.rigged import RiggedAgent

    gc.freeze()
    gc.enable()
    sys.exit(main(sys.argv[2:], RiggedAgent))
