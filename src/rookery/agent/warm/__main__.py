"""`python -m rookery.agent.warm [--spare] [SECONDS]`: detached at once."""

import os
import sys
import time

SPARE = "--spare"
"""Serve one door itself, as where fork without exec is not safe."""


def main(arguments: list[str]) -> int:
    if os.fork():
        return 0
    os.setsid()
    if os.fork():
        os._exit(0)
    from rookery.agent.warm.process import FORKS, keep

    seconds = [float(word) for word in arguments if word != SPARE]
    return keep(lambda: time.sleep(sum(seconds)), forks=FORKS and SPARE not in arguments)


sys.exit(main(sys.argv[1:]))
